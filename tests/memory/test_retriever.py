"""Retrieval: whatever the index does, the answer is that of a full scan over the entries."""

import copy
import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError
from episodic_absa.memory import EpisodicMemorySettings, EpisodicOrchestrator, MemoryStore, Retriever, load_catalogue
from episodic_absa.schemas.absa import Proposal, Stage1Ate, Stage1Atsa, StructuralRisk, ValidatorOutput
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3

HERE = Path(__file__).parent
BASE: dict[str, Any] = json.loads((HERE / "episode.json").read_text(encoding="utf-8"))
CATALOGUE = load_catalogue()

FAST = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


class Shape(NamedTuple):
    """Everything of an episode that retrieval may look at."""

    language: str = "en"
    structures: tuple[str, ...] = ("none",)
    length_bucket: str = "short"
    num_aspects: int = 1
    risks: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    principle_id: str = "P-GEN-01"
    action_taken: str = "abstain"
    episode_type: str = "neutral"


class Query(NamedTuple):
    """One question and the settings it is asked with."""

    signature: InputSignatureV1_1
    lexical: tuple[str, ...] | str | None
    sample_id: str | None
    topk: int
    require_same_language: bool
    require_structure_overlap: bool
    use_lexical: bool
    as_dict: bool


def draft(shape: Shape, source_id: str) -> dict[str, Any]:
    """Return an episode in closed vocabulary, without its id."""
    episode = copy.deepcopy(BASE)
    principle = CATALOGUE.get(shape.principle_id)
    assert principle is not None
    structures = ",".join(sorted(shape.structures))
    episode["action_taken"] = shape.action_taken
    episode["outcome"]["value"] = shape.episode_type
    episode["input_signature"] |= {
        "language": shape.language,
        "detected_structure": list(shape.structures),
        "has_negation": "negation" in shape.structures,
        "num_aspects": shape.num_aspects,
        "length_bucket": shape.length_bucket,
    }
    episode["case_summary"] |= {
        "symptom": f"risks={','.join(sorted(shape.risks)) or 'none'}; structure={structures}; "
        f"max_severity={'mid' if shape.risks else 'none'}",
        "rationale_summary": f"proposals={','.join(sorted(shape.proposals)) or 'none'}; "
        f"action={shape.action_taken}; adopt=low_signal",
    }
    episode["correction"] |= {
        "corrective_principle": principle.text_en,
        "applicable_conditions": [f"language={shape.language}", f"structure={structures}", "risk=none"],
        "principle_id": shape.principle_id,
        "anti_pattern": principle.anti_pattern_en,
    }
    episode["provenance"]["source_id"] = source_id
    return episode


def numbered(number: int, shape: Shape, source_id: str) -> EpisodicMemoryEntryV1_3:
    return EpisodicMemoryEntryV1_3.model_validate({**draft(shape, source_id), "episode_id": f"epi_{number:06d}"})


def tokens(strings: Sequence[str]) -> set[str]:
    return {word.lower() for text in strings for word in re.findall(r"\w+", text) if len(word) >= 2}


def full_scan(episodes: Sequence[EpisodicMemoryEntryV1_3], query: Query) -> list[EpisodicMemoryEntryV1_3]:
    """Apply the rules of retrieval, one after the other, to every entry, oldest first."""
    wanted, lexical = query.signature, (query.lexical,) if isinstance(query.lexical, str) else query.lexical or ()
    asked = tokens(lexical) if query.use_lexical else set()
    ranked: list[tuple[int, float, int, EpisodicMemoryEntryV1_3]] = []
    for position, episode in enumerate(episodes):
        seen = episode.input_signature
        shared = set(seen.detected_structure) & set(wanted.detected_structure)
        if query.require_same_language and seen.language != wanted.language:
            continue
        if query.require_structure_overlap and not shared and "none" not in seen.detected_structure:
            continue
        if query.sample_id is not None and episode.provenance.source_id == query.sample_id:
            continue
        overlap = len(shared) + (seen.length_bucket == wanted.length_bucket) + (seen.num_aspects == wanted.num_aspects)
        words = tokens([episode.case_summary.symptom, episode.case_summary.rationale_summary])
        ranked.append((overlap, len(asked & words) / len(asked) if asked else 0.0, position, episode))
    chosen: list[EpisodicMemoryEntryV1_3] = []
    while ranked and len(chosen) < query.topk:
        kinds = {kind(episode) for episode in chosen}
        best = max(ranked, key=lambda r: (r[0], r[1], kind(r[3]) not in kinds, r[2]))
        ranked.remove(best)
        chosen.append(best[3])
    return chosen


def kind(episode: EpisodicMemoryEntryV1_3) -> tuple[str, str, str]:
    return episode.correction.principle_id, episode.action_taken, episode.outcome.value


def asked_of(entries: Any, query: Query) -> list[EpisodicMemoryEntryV1_3]:
    retriever = Retriever(
        topk=query.topk,
        require_same_language=query.require_same_language,
        require_structure_overlap=query.require_structure_overlap,
        use_lexical=query.use_lexical,
    )
    signature: Any = query.signature.model_dump(mode="json") if query.as_dict else query.signature
    return retriever.retrieve(entries, signature, query.lexical, sample_id=query.sample_id)


LANGUAGES = ("en", "ko", "other")
STRUCTURES: tuple[tuple[str, ...], ...] = (
    ("none",),
    ("negation",),
    ("contrast",),
    ("negation", "contrast"),
    ("negation", "contrast", "irony"),
)
SHAPES = [
    Shape(*fields)
    for fields in product(
        LANGUAGES[:2],
        STRUCTURES,
        ("short", "long"),
        (0, 2),
        ((), ("NEGATION_SCOPE",), ("IRONY", "NEGATION_SCOPE")),
        ((), ("FLIP_POLARITY",)),
        ("P-GEN-01", "P-NEG-01"),
        ("abstain", "polarity_flip"),
        ("neutral", "success"),
    )
]
SOURCES = ("s-1", "s-2", "s-3")
# A palette of a few shapes makes equal keys, equal kinds and exact duplicates the rule.
palettes = st.lists(st.sampled_from(SHAPES), min_size=1, max_size=5, unique=True)


@st.composite
def alike_shapes(draw: st.DrawFn) -> list[Shape]:
    """One shape and neighbours of it that differ only in what breaks ties."""
    first = draw(st.sampled_from(SHAPES))
    kinds = st.tuples(
        st.sampled_from(("P-GEN-01", "P-NEG-01")),
        st.sampled_from(("abstain", "defer")),
        st.sampled_from(("neutral", "harm")),
    )
    others = draw(st.lists(kinds, min_size=1, max_size=4, unique=True))
    return [first._replace(principle_id=p, action_taken=a, episode_type=t) for p, a, t in others]


all_palettes = palettes | alike_shapes()
lexical_words = st.sampled_from(
    ("NEGATION_SCOPE", "IRONY", "OTHER", "FLIP_POLARITY", "DROP_ASPECT", "CHECK_SPAN", "irony", "x", "", "IRONY OTHER")
)
queries = st.builds(
    Query,
    signature=st.builds(
        lambda language, structures, length, num: InputSignatureV1_1.model_validate(
            {
                "language": language,
                "detected_structure": structures,
                "num_aspects": num,
                "length_bucket": length,
            }
        ),
        st.sampled_from(LANGUAGES),
        st.sampled_from(STRUCTURES),
        st.sampled_from(("short", "medium", "long")),
        st.sampled_from((0, 1, 2)),
    ),
    lexical=st.none() | st.lists(lexical_words, max_size=4).map(tuple) | lexical_words,
    sample_id=st.none() | st.sampled_from((*SOURCES, "s-9")),
    topk=st.integers(1, 3),
    require_same_language=st.booleans(),
    require_structure_overlap=st.booleans(),
    use_lexical=st.booleans(),
    as_dict=st.booleans(),
)


@st.composite
def episode_lists(draw: st.DrawFn, max_size: int = 30) -> list[tuple[Shape, str]]:
    palette = draw(all_palettes)
    return draw(st.lists(st.tuples(st.sampled_from(palette), st.sampled_from(SOURCES)), max_size=max_size))


@settings(FAST, max_examples=300)
@given(episode_lists(), st.lists(queries, min_size=1, max_size=4))
def test_retrieval_from_a_list_equals_a_full_scan(pairs: list[tuple[Shape, str]], asked: list[Query]) -> None:
    episodes = [numbered(i, shape, source) for i, (shape, source) in enumerate(pairs, 1)]
    for query in asked:
        assert asked_of(episodes, query) == full_scan(episodes, query)
        assert asked_of(iter(episodes), query) == full_scan(episodes, query)


def test_among_equals_what_is_not_yet_chosen_comes_first_and_then_the_newest() -> None:
    twin, other = Shape(), Shape(action_taken="defer")
    episodes = [
        numbered(1, other, "s-1"),
        numbered(2, other, "s-2"),
        numbered(3, twin, "s-3"),
        numbered(4, twin, "s-4"),
    ]
    found = Retriever(topk=3).retrieve(episodes, episodes[0].input_signature)
    assert [e.episode_id for e in found] == ["epi_000004", "epi_000002", "epi_000003"]


def test_a_better_key_beats_the_preference_for_what_is_not_yet_chosen() -> None:
    near, far = Shape(), Shape(length_bucket="long", action_taken="defer")
    episodes = [numbered(1, near, "s-1"), numbered(2, near, "s-2"), numbered(3, far, "s-3")]
    found = Retriever(topk=3).retrieve(episodes, episodes[0].input_signature)
    assert [e.episode_id for e in found] == ["epi_000002", "epi_000001", "epi_000003"]


@pytest.mark.parametrize(
    ("of_query", "of_entry", "passes"),
    [
        (("negation",), ("negation", "contrast"), True),
        (("negation",), ("none",), True),
        (("none",), ("none",), True),
        (("none",), ("negation",), False),
        (("irony",), ("negation", "contrast"), False),
    ],
)
def test_an_entry_passes_if_it_shares_a_structure_or_contains_none(
    of_query: tuple[str, ...], of_entry: tuple[str, ...], passes: bool
) -> None:
    entry = numbered(1, Shape(structures=of_entry), "s-1")
    signature = {"language": "en", "detected_structure": of_query, "num_aspects": 1, "length_bucket": "short"}
    assert bool(Retriever().retrieve([entry], signature)) is passes
    assert Retriever(require_structure_overlap=False).retrieve([entry], signature) == [entry]


def test_a_sample_never_gets_its_own_episode_however_well_it_fits() -> None:
    own, other = numbered(2, Shape(), "s-1"), numbered(1, Shape(length_bucket="long", num_aspects=9), "s-2")
    assert Retriever().retrieve([other, own], own.input_signature, sample_id="s-1") == [other]
    assert Retriever().retrieve([other, own], own.input_signature) == [own, other]


@pytest.mark.parametrize(
    ("use_lexical", "lexical", "first"),
    [(True, ["IRONY"], 1), (False, ["IRONY"], 2), (True, None, 2), (True, [], 2), (True, ["?", "x"], 2)],
)
def test_lexical_overlap_is_nought_without_a_query_without_tokens_and_when_switched_off(
    use_lexical: bool, lexical: list[str] | None, first: int
) -> None:
    episodes = [numbered(1, Shape(risks=("IRONY",)), "s-1"), numbered(2, Shape(), "s-2")]
    found = Retriever(topk=1, use_lexical=use_lexical).retrieve(episodes, episodes[0].input_signature, lexical)
    assert found == [episodes[first - 1]]


def test_lexical_overlap_reads_both_the_symptom_and_the_rationale() -> None:
    plain = numbered(3, Shape(), "s-3")
    by_symptom, by_rationale = (
        numbered(1, Shape(risks=("OTHER",)), "s-1"),
        numbered(2, Shape(proposals=("CHECK_SPAN",)), "s-2"),
    )
    for word, expected in (("OTHER", by_symptom), ("CHECK_SPAN", by_rationale)):
        found = Retriever(topk=1).retrieve([by_symptom, by_rationale, plain], plain.input_signature, [word])
        assert found == [expected]


def test_three_results_are_returned_unless_told_otherwise() -> None:
    episodes = [numbered(i, Shape(), f"s-{i}") for i in range(1, 6)]
    assert len(Retriever().retrieve(episodes, episodes[0].input_signature)) == 3
    assert len(Retriever(topk=1).retrieve(episodes, episodes[0].input_signature)) == 1
    assert Retriever().retrieve([], episodes[0].input_signature) == []


@pytest.mark.parametrize("topk", [0, 4, -1, 100, 2.5, "2", None])
def test_a_topk_outside_one_to_three_is_a_config_error(topk: Any) -> None:
    with pytest.raises(ConfigError):
        Retriever(topk=topk)


@pytest.fixture
def filled_store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "store.jsonl") as store:
        yield store


def test_the_pipeline_asks_with_risk_ids_and_proposal_types_and_never_with_words_of_the_text(
    filled_store: MemoryStore,
) -> None:
    by_risk = filled_store.append(draft(Shape(risks=("EVIDENCE_GAP",), num_aspects=0), "s-1")).episode_id
    by_proposal = filled_store.append(draft(Shape(proposals=("REVISE_SPAN",), num_aspects=0), "s-2")).episode_id
    newest = filled_store.append(draft(Shape(num_aspects=0), "s-3")).episode_id
    memory = EpisodicOrchestrator(load_condition("C2"), filled_store, settings=EpisodicMemorySettings(topk=1))

    def first(validator: ValidatorOutput, text: str) -> str:
        answer = memory.get_slot_payload_for_current_sample(
            text, Stage1Ate(), Stage1Atsa(), validator, "en", sample_id="s-9"
        )
        assert answer.meta.retrieval_calls == 1
        assert len(answer.meta.retrieved_ids) == 1
        return answer.meta.retrieved_ids[0]

    risk = ValidatorOutput(structural_risks=(StructuralRisk(id="r1", type="EVIDENCE_GAP"),))
    proposal = ValidatorOutput(correction_proposals=(Proposal(aspect_term="", proposal_type="REVISE_SPAN"),))
    assert first(risk, "Fine.") == by_risk
    assert first(proposal, "Fine.") == by_proposal
    assert first(ValidatorOutput(), "evidence_gap revise_span") == newest
