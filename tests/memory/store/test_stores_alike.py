"""A store in PostgreSQL gives every answer that the store file with the same lines gives."""

import copy
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.memory.store_places import FilePlace, PostgresPlace, opened

from episodic_absa.memory import EpisodeStore
from episodic_absa.schemas.memory_v1_2 import EpisodeDraftV1_2, TallyV1_2, VerdictV1_2
from episodic_absa.vocabulary import ChangeKind, Language, Outcome, Structure, Verdict

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
SOURCES = ("s1", "s2", "s3", "s4")
TERMS = ("room", "bed", "staff")
STRUCTURES: tuple[tuple[Structure, ...], ...] = (("none",), ("negation",), ("negation", "contrast"), ("contrast",))
SIGNATURES: list[tuple[tuple[Structure, ...], str, int]] = [
    (structures, length, aspects) for structures in STRUCTURES for length in ("short", "long") for aspects in (1, 2)
]


def signature(structures: tuple[Structure, ...] = ("none",), length: str = "short", aspects: int = 1) -> dict[str, Any]:
    block = {"detected_structure": list(structures), "length_bucket": length, "num_aspects": aspects}
    return {**BASE["input_signature"], "language": "en", "contrast_marker": None, **block}


def episode(
    source: str,
    changes: Sequence[tuple[str, str]] = (),
    *,
    terms: Sequence[str] = ("room",),
    **shape: Any,
) -> EpisodeDraftV1_2:
    body = copy.deepcopy(BASE)
    body["schema_version"] = "1.2"
    body["input_signature"] = signature(**shape)
    body["provenance"]["source_id"] = source
    for stage in ("stage1", "final"):
        body["stage_snapshot"][stage] |= {"aspects_norm": list(terms), "polarities": dict.fromkeys(terms, "positive")}
    body["changes"] = [{"adopted": True, "kind": kind, "outcome": outcome} for kind, outcome in changes]
    return EpisodeDraftV1_2.model_validate(body)


def tally(source: str, *terms: str, language: Language = "en") -> TallyV1_2:
    return TallyV1_2(language=language, source_id=source, terms=terms)


outcomes = st.sampled_from(get_args(Outcome))
some_terms = st.lists(st.sampled_from(TERMS), unique=True, max_size=2)
steps = st.one_of(
    st.tuples(
        st.just("episode"),
        st.sampled_from(SOURCES),
        st.lists(st.tuples(st.sampled_from(KINDS[:2]), outcomes), max_size=6),
        some_terms,
        st.sampled_from(SIGNATURES),
        st.booleans(),
    ),
    st.tuples(st.just("tally"), st.sampled_from(SOURCES), some_terms),
    st.tuples(
        st.just("verdict"),
        st.sampled_from(SOURCES),
        st.sampled_from(get_args(Verdict)),
        st.sampled_from((None, *TERMS)),
    ),
    st.tuples(st.just("compact"), st.integers(1, 12)),
)


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
        sorted(index.samples.tallied()),
        [index.samples.is_tallied(uid) for uid in (*SOURCES, "nobody")],
    ]
    given += (loaded.at_all(index.live_in(language)) for language in ("en", "ko"))
    for structures, length, aspects in SIGNATURES[::3]:
        given.append(index.is_novel(episode("new", structures=structures, length=length, aspects=aspects)))
    given += (sorted(index.samples.verdicts_on(uid).items(), key=str) for uid in SOURCES)
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
