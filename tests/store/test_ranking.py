"""A search gives what a full scan of the live episodes gives, whoever appended and whatever was forgotten."""

from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.places import Place, draft, opened

from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, EpisodicMemoryEntryV1_3
from episodic_absa.store.ranking import Query, Ranked, SignatureKey, tokens_of
from episodic_absa.vocabulary import RISK_IDS

_STRUCTURES = (("none",), ("negation",), ("contrast",), ("negation", "contrast"))
_EPISODES = st.builds(
    lambda language, structures, length, aspects, risks, principle, outcome, uid: draft(
        uid=f"review-{uid}",
        input_signature__language=language,
        input_signature__detected_structure=structures,
        input_signature__length_bucket=length,
        input_signature__num_aspects=aspects,
        case_summary__symptom=f"risks={','.join(sorted(risks)) or 'none'}; structure=none; max_severity=none",
        correction__principle_id=principle,
        outcome__value=outcome,
    ),
    st.sampled_from(("en", "ko")),
    st.sampled_from(_STRUCTURES),
    st.sampled_from(("short", "long")),
    st.integers(0, 2),
    st.sets(st.sampled_from(RISK_IDS[:3]), max_size=2),
    st.sampled_from(("P-STB-01", "P-NEG-01")),
    st.sampled_from(("success", "harm", "neutral")),
    st.integers(1, 6),
)
_QUERIES = st.builds(
    lambda episode, risks, excluded, topk, same_language, overlap: Query(
        SignatureKey.of(episode.input_signature),
        tokens_of(risks),
        excluded and episode.provenance.source_id,
        topk,
        same_language,
        overlap,
    ),
    _EPISODES,
    st.sets(st.sampled_from(RISK_IDS[:4]), max_size=2),
    st.sampled_from((None, "own")),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)


def scanned(episodes: Sequence[tuple[int, EpisodeDraftV1_3 | EpisodicMemoryEntryV1_3]], query: Query) -> list[int]:
    """Rank by the rules as docs/specification/memory_rules.md states them, looking at every episode."""
    ranked: dict[tuple[int, int], list[tuple[int, Ranked]]] = {}
    for number, episode in episodes:
        found = Ranked.of(episode)
        if query.require_same_language and found.signature.language != query.signature.language:
            continue
        if query.require_structure_overlap and not query.signature.admits(found.signature):
            continue
        if episode.provenance.source_id != query.exclude_source:
            rank = (query.signature.overlap(found.signature), len(query.tokens & set(found.tokens)))
            ranked.setdefault(rank, []).append((number, found))
    chosen: list[tuple[int, Ranked]] = []
    for rank in sorted(ranked, reverse=True):
        equals = ranked[rank][::-1]
        while equals and len(chosen) < query.topk:
            kinds = {episode.kind for _, episode in chosen}
            pick = next((pair for pair in equals if pair[1].kind not in kinds), equals[0])
            chosen.append(pick)
            equals.remove(pick)
    return [number for number, _ in chosen]


@settings(max_examples=25)
@given(
    st.lists(_EPISODES, min_size=1, max_size=25),
    st.lists(_QUERIES, min_size=1, max_size=6),
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
        for place_in_order, episode in enumerate(drafts):
            # Two writers in turns: each follows what the other has appended.
            (store if place_in_order % 3 else reader).append(episode)
            assert [number for number, _ in enumerate(drafts[: place_in_order + 1], start=1)] == store.numbers()
        uids = {f"review-{uid}" for uid in forgotten}
        for uid in uids:
            store.forget(uid)
        kept = [
            (number, episode)
            for number, episode in enumerate(drafts, start=1)
            if episode.provenance.source_id not in uids
        ]
        for query in queries:
            expected = [f"epi_{number:06d}" for number in scanned(kept[-keep_last_n:], query)]
            for searching in (store, reader):
                assert [episode.episode_id for episode in searching.search(query)] == expected
        with opened(place, keep_last_n=keep_last_n) as later:
            assert [later.search(query) for query in queries] == [store.search(query) for query in queries]
            assert len(later) == len(store) == min(len(kept), keep_last_n)
