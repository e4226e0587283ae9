"""A store in PostgreSQL gives every answer that the store file with the same lines gives."""

import tempfile
from pathlib import Path
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.memory.retrieval.test_counts import SIGNATURES, SOURCES, TERMS, episode, signature, steps, tally
from tests.memory.store_places import FilePlace, PostgresPlace, opened

from episodic_absa.memory import EpisodeStore
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import VerdictV1_2
from episodic_absa.vocabulary import ChangeKind


def write(store: EpisodeStore, step: tuple[Any, ...]) -> None:
    if step[0] == "episode":
        _, source, changes, terms, (structures, length, aspects), is_tallied = step
        draft = episode(source, changes, terms=terms, structures=structures, length=length, aspects=aspects)
        store.append(draft, tally=tally(source, *terms) if is_tallied else None)
    elif step[0] == "tally":
        store.append_tally(tally(step[1], *step[2]))
    elif step[0] == "verdict":
        store.append_verdict(VerdictV1_2(source_id=step[1], verdict=step[2], aspect=step[3]))
    elif step[0] == "compact" and store.exists():
        store.compact(step[1])


def answers(store: EpisodeStore) -> list[object]:
    """Return what advice may ask, each with what it gives."""
    loaded = store.load()
    index = loaded.episode_index
    given: list[object] = [
        list(loaded),
        loaded[-2:],
        # A file that is read from its end does not know the verdicts before an episode.
        [episode.episode_id for episode in store.newest_episodes()] if store.exists() else [],
        sorted(index.familiarity.sources),
    ]
    for language in ("en", "ko"):
        given.append(loaded.at_all(index.live_in(language)))
        given += (index.familiarity.random_term(uid, place, language) for uid in "ab" for place in (1, 2))
    for cell in SIGNATURES[::3]:
        query = InputSignatureV1_1.model_validate(signature(*cell))
        for kind in get_args(ChangeKind):
            given += (index.experience.of(query, kind, exclude_source=uid) for uid in (None, "s1"))
            given += (index.experience.of_random_cell(uid, query, kind, exclude_source=uid) for uid in ("s2", "x"))
        given.append(index.is_novel(episode("new", structures=cell[0], length=cell[1], aspects=cell[2])))
    given += (index.familiarity.of("en", term, exclude_source=uid) for term in TERMS for uid in (None, "s1"))
    given += (sorted(index.experience.verdicts_on(uid).items(), key=str) for uid in SOURCES)
    given += (store.verdicts_on(uid) for uid in SOURCES if store.exists())
    given += (list(store.lines_of(uid)) for uid in SOURCES)
    return given


@given(st.lists(steps, min_size=8, max_size=30), st.sampled_from((2, 5, 5000)))
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_both_stores_give_the_same_answers(
    postgres_place: PostgresPlace, sequence: list[tuple[Any, ...]], keep_last_n: int
) -> None:
    postgres_place.clear()
    with tempfile.TemporaryDirectory() as folder:
        file_place = FilePlace(Path(folder) / "store.jsonl")
        with (
            opened(file_place, keep_last_n=keep_last_n) as file,
            opened(postgres_place, keep_last_n=keep_last_n) as database,
        ):
            for step in sequence:
                write(file, step)
                write(database, step)
            assert answers(database) == answers(file)
            assert postgres_place.lines() == file_place.lines()
            assert database.check()[:3] == (file.check()[:3] if file.exists() else (0, 0, 0))
