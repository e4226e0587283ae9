"""The counts that a store keeps are those of a full recount over its lines, whatever happened to it."""

import copy
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.memory.store_places import StorePlace, opened

from episodic_absa.memory.retrieval.experience_counts import MIN_DECIDED, Experience, ExperienceCounts
from episodic_absa.memory.retrieval.familiarity_counts import Familiarity, FamiliarityCounts
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
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
    refused: Sequence[str] = (),
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
    body["changes"] += [{"adopted": False, "kind": kind, "outcome": "confirmed"} for kind in refused]
    return EpisodeDraftV1_2.model_validate(body)


def tally(source: str, *terms: str, language: Language = "en") -> TallyV1_2:
    return TallyV1_2(language=language, source_id=source, terms=terms)


def recounted(
    lines: Sequence[dict[str, Any]], query: InputSignatureV1_1, kind: ChangeKind, exclude: str | None
) -> Experience | None:
    """Return the experience by a scan over the lines of a store."""
    verdicts = {(v["source_id"], v["aspect"]): v["verdict"] for v in lines if v.get("kind") == "verdict"}
    cases: list[tuple[dict[str, Any], str]] = []
    for line in lines:
        source = "kind" not in line and line["provenance"]["source_id"]
        if not source or source == exclude:
            continue
        terms = {term for stage in line["stage_snapshot"].values() for term in stage["aspects_norm"]}
        said = [said for (of, aspect), said in verdicts.items() if of == source and aspect in (None, *terms)]
        by_person = ("wrong" in said and "contradicted") or ("right" in said and "confirmed") or (said and "open")
        for change in line.get("changes", ()):
            outcome = by_person or change["outcome"]
            if not change["adopted"]:
                outcome = "contradicted" if by_person == "confirmed" else change["outcome"]
            if change["kind"] == kind:
                cases.append((line["input_signature"], outcome))
    own = query.model_dump(mode="json")
    for level, same in (
        ("exact", ("detected_structure", "num_aspects", "length_bucket")),
        ("no_length", ("detected_structure", "num_aspects")),
        ("no_aspects", ("detected_structure",)),
        ("any_structure", ()),
    ):
        alike = Counter(
            outcome
            for case, outcome in cases
            if case["language"] == own["language"]
            and all(case[key] == own[key] for key in same)
            and set(case["detected_structure"]) & set(own["detected_structure"])
        )
        if alike["confirmed"] + alike["contradicted"] >= MIN_DECIDED:
            counts = (alike.total(), alike["confirmed"], alike["contradicted"], alike["open"])
            return Experience(kind, level, *counts)  # type: ignore[arg-type]
    return None


def recounted_familiarity(lines: Sequence[dict[str, Any]], term: str, exclude: str | None) -> Familiarity:
    first = {line["source_id"]: line["terms"] for line in reversed(lines) if line.get("kind") == "tally"}
    first.pop(exclude, None)
    return Familiarity(sum(term in terms for terms in first.values()), len(first))


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
    st.tuples(st.just("reopen")),
)


def test_the_counts_are_those_of_a_full_recount_over_the_lines(place: StorePlace) -> None:
    @given(st.lists(steps, min_size=8, max_size=30))
    @settings(max_examples=place.examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def holds(sequence: list[tuple[Any, ...]]) -> None:
        counts_like_a_full_recount(place, sequence)

    holds()


def counts_like_a_full_recount(place: StorePlace, sequence: list[tuple[Any, ...]]) -> None:
    place.clear()
    store = opened(place, keep_last_n=3)
    for step in sequence:
        if step[0] == "episode":
            _, source, changes, terms, (structures, length, aspects), is_tallied = step
            shape = {"structures": structures, "length": length, "aspects": aspects}
            draft = episode(source, changes, refused=("add",), terms=terms, **shape)
            store.append(draft, tally=tally(source, *terms) if is_tallied else None)
        elif step[0] == "tally":
            store.append_tally(tally(step[1], *step[2]))
        elif step[0] == "verdict":
            store.append_verdict(VerdictV1_2(source_id=step[1], verdict=step[2], aspect=step[3]))
        elif step[0] == "compact" and store.exists():
            store.compact(step[1])
        else:
            store.close()
            store = opened(place, keep_last_n=3)
    index = store.load().episode_index
    lines = [json.loads(line) for line in place.lines()]
    for cell in (SIGNATURES[0], SIGNATURES[5], SIGNATURES[8]):
        query = InputSignatureV1_1.model_validate(signature(*cell))
        for exclude in (None, "s1"):
            for kind in KINDS[:3]:
                kept = index.experience.of(query, kind, exclude_source=exclude)
                assert kept == recounted(lines, query, kind, exclude)
    for term in TERMS:
        assert index.familiarity.of("en", term) == recounted_familiarity(lines, term, None)
        assert index.familiarity.of("en", term, exclude_source="s2") == recounted_familiarity(lines, term, "s2")
    assert not store.exists() or store.check().is_sound
    store.close()


@pytest.mark.parametrize(
    ("shape", "level"),
    [
        (("negation",), "exact"),
        (("negation", "long"), "no_length"),
        (("negation", "long", 4), "no_aspects"),
        (("negation", "contrast"), "any_structure"),
    ],
)
def test_a_cell_with_few_decided_cases_backs_off_step_by_step(shape: tuple[Any, ...], level: str) -> None:
    counts = ExperienceCounts()
    for number in range(MIN_DECIDED):
        outcome = "confirmed" if number < 2 else "contradicted"
        counts.add(episode(f"u{number}", [("flip", outcome), ("drop", "open")], structures=("negation",)))
    structures = shape if level == "any_structure" else shape[:1]
    rest = () if level == "any_structure" else shape[1:]
    query = InputSignatureV1_1.model_validate(signature(structures, *rest))
    assert counts.of(query, "flip") == Experience("flip", level, 5, 2, 3, 0)  # type: ignore[arg-type]
    assert counts.of(query, "drop") is None
    assert counts.of(query, "flip", exclude_source="u0") is None
    other = InputSignatureV1_1.model_validate(signature(("irony",)))
    assert counts.of(other, "flip") is None
    drawn = counts.of_random_cell("any", other, "flip")
    assert drawn is not None
    assert drawn[2:] == (5, 2, 3, 0)
    assert counts.of_random_cell("any", query, "add") is None


def test_refused_changes_count_and_episodes_of_1_1_count_nowhere(place: StorePlace) -> None:
    with opened(place) as store:
        for number in range(6):
            store.append({**copy.deepcopy(BASE), "provenance": {**BASE["provenance"], "source_id": f"old{number}"}})
            store.append(episode(f"u{number}", refused=("flip",)))
        query = InputSignatureV1_1.model_validate(signature())
        assert store.load().episode_index.experience.of(query, "flip") == Experience("flip", "exact", 6, 6, 0, 0)
        # A right result speaks against the change that was refused.
        store.append_verdict(VerdictV1_2(source_id="u0", verdict="right"))
        assert store.load().episode_index.experience.of(query, "flip") == Experience("flip", "exact", 6, 5, 1, 0)


def test_random_terms_are_stored_terms_that_uid_and_position_fix() -> None:
    counts = FamiliarityCounts()
    assert counts.random_term("u", 0, "en") is None
    for number in range(20):
        counts.add(tally(f"s{number}", f"term {number}"))
    drawn = {counts.random_term(uid, position, "en") for uid in "ab" for position in range(4)}
    assert len(drawn) > 2
    assert drawn <= {f"term {number}" for number in range(20)}
    assert counts.random_term("a", 1, "en") == counts.random_term("a", 1, "en")
    assert counts.random_term("a", 1, "ko") is None
