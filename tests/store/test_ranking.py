"""A search gives what a full scan of the live episodes gives, whoever appended and whatever was forgotten."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.full_scan import EPISODES, QUERIES, full_scan
from tests.store.places import Place, opened

from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, EpisodicMemoryEntryV1_3
from episodic_absa.store.ranking import Query


@settings(max_examples=25)
@given(
    st.lists(EPISODES, min_size=1, max_size=25),
    st.lists(QUERIES, min_size=1, max_size=6),
    st.integers(1, 12),
    st.sets(st.integers(1, 6), max_size=1),
)
def test_a_search_gives_what_a_full_scan_gives(
    fresh_place: Callable[[], Place],
    drafts: list[EpisodeDraftV1_3],
    queries: list[Query],
    keep_last_n: int,
    forgotten: set[int],
) -> None:
    place = fresh_place()
    with opened(place, keep_last_n=keep_last_n) as store, opened(place, keep_last_n=keep_last_n) as reader:
        entries: list[EpisodicMemoryEntryV1_3] = []
        for place_in_order, episode in enumerate(drafts):
            # Two writers in turns: each follows what the other has appended.
            entries.append((store if place_in_order % 3 else reader).append(episode))
            assert store.numbers() == list(range(1, len(entries) + 1))
        uids = {f"review-{uid}" for uid in forgotten}
        for uid in uids:
            store.forget(uid)
        kept = [entry for entry in entries if entry.provenance.source_id not in uids]
        for query in queries:
            expected = full_scan(kept[-keep_last_n:], query)
            assert store.search(query) == reader.search(query) == expected
        with opened(place, keep_last_n=keep_last_n) as later:
            assert [later.search(query) for query in queries] == [store.search(query) for query in queries]
            assert len(later) == len(store) == min(len(kept), keep_last_n)
