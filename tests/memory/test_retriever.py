"""Retrieval: whatever the index does, the answer is that of a full scan over the entries."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.builders import EPISODE, numbered
from tests.store.full_scan import EPISODES, QUERIES, full_scan

from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError
from episodic_absa.memory import EpisodicMemorySettings, EpisodicOrchestrator, MemoryStore, Retriever
from episodic_absa.schemas.absa import Proposal, Stage1Ate, Stage1Atsa, StructuralRisk, ValidatorOutput
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, EpisodicMemoryEntryV1_3
from episodic_absa.store.ranking import Query, tokens_of


def draft(
    source_id: str,
    *,
    risks: str = "none",
    proposals: str = "none",
    action: str = "abstain",
    structures: tuple[str, ...] = ("none",),
    length: str = "short",
    n: int = 1,
) -> dict[str, Any]:
    """Return an episode in closed vocabulary, without its id."""
    body = copy.deepcopy(EPISODE)
    body["action_taken"] = action
    body["input_signature"] |= {"detected_structure": list(structures), "num_aspects": n, "length_bucket": length}
    body["case_summary"] |= {
        "symptom": f"risks={risks}; structure=none; max_severity=none",
        "rationale_summary": f"proposals={proposals}; action={action}; adopt=low_signal",
    }
    body["provenance"]["source_id"] = source_id
    return body


def entries(*kinds: dict[str, Any]) -> list[EpisodicMemoryEntryV1_3]:
    return [numbered(n, draft(f"s-{n}", **kind)) for n, kind in enumerate(kinds, 1)]


def ids(episodes: list[EpisodicMemoryEntryV1_3]) -> list[int]:
    return [int(episode.episode_id[4:]) for episode in episodes]


LEXICAL = st.none() | st.sampled_from(("IRONY OTHER", "x", "")) | st.lists(st.sampled_from(("IRONY", "OTHER", "?")))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(EPISODES, max_size=3).flatmap(
        lambda alike: st.lists(st.sampled_from(alike) | EPISODES if alike else EPISODES, max_size=25)
    ),
    QUERIES,
    LEXICAL,
    st.booleans(),
)
def test_retrieval_from_a_list_equals_a_full_scan(
    drafts: list[EpisodeDraftV1_3], query: Query, lexical: Any, use_lexical: bool
) -> None:
    episodes = [numbered(n, draft.model_dump()) for n, draft in enumerate(drafts, 1)]
    key = query.signature
    signature = InputSignatureV1_1(
        language=key.language,  # type: ignore[arg-type]
        detected_structure=key.structures,  # type: ignore[arg-type]
        length_bucket=key.length_bucket,  # type: ignore[arg-type]
        num_aspects=key.num_aspects,
    )
    retriever = Retriever(
        topk=query.topk,
        require_same_language=query.require_same_language,
        require_structure_overlap=query.require_structure_overlap,
        use_lexical=use_lexical,
    )
    words = (lexical,) if isinstance(lexical, str) else lexical or ()
    expected = full_scan(episodes, query._replace(tokens=tokens_of(words) if use_lexical else frozenset()))
    given = query.exclude_source
    assert retriever.retrieve(episodes, signature, lexical, sample_id=given) == expected
    assert retriever.retrieve(iter(episodes), signature.model_dump(mode="json"), lexical, sample_id=given) == expected


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        # Among equals what is not yet chosen comes first, then the newest.
        ([{"action": "defer"}, {"action": "defer"}, {}, {}], [4, 2, 3]),
        # A better key beats the preference for what is not yet chosen.
        ([{}, {}, {"length": "long", "action": "defer"}], [2, 1, 3]),
        ([{}] * 5, [5, 4, 3]),
        ([{"structures": ("negation",)}], []),
    ],
)
def test_what_is_chosen_among_equals_and_three_unless_told_otherwise(
    kinds: list[dict[str, Any]], found: list[int]
) -> None:
    signature = numbered(1, draft("now")).input_signature
    assert ids(Retriever().retrieve(entries(*kinds), signature)) == found
    assert ids(Retriever(topk=1).retrieve(entries(*kinds), signature)) == found[:1]
    assert Retriever().retrieve([], signature) == []


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
    (entry,) = entries({"structures": of_entry})
    signature = {"language": "en", "detected_structure": of_query, "num_aspects": 1, "length_bucket": "short"}
    assert bool(Retriever().retrieve([entry], signature)) is passes
    assert Retriever(require_structure_overlap=False).retrieve([entry], signature) == [entry]


def test_a_sample_never_gets_its_own_episode_however_well_it_fits() -> None:
    other, own = entries({"length": "long", "n": 9}, {})
    assert Retriever().retrieve([other, own], own.input_signature, sample_id="s-2") == [other]
    assert Retriever().retrieve([other, own], own.input_signature) == [own, other]


@pytest.mark.parametrize(
    ("use_lexical", "lexical", "first"),
    [
        (True, ["IRONY"], 1),
        (True, ["CHECK_SPAN"], 2),
        (False, ["IRONY"], 3),
        (True, None, 3),
        (True, [], 3),
        (True, ["?", "x"], 3),
    ],
)
def test_lexical_overlap_reads_symptom_and_rationale_and_is_nought_without_tokens_or_when_switched_off(
    use_lexical: bool, lexical: list[str] | None, first: int
) -> None:
    episodes = entries({"risks": "IRONY"}, {"proposals": "CHECK_SPAN"}, {})
    found = Retriever(topk=1, use_lexical=use_lexical).retrieve(episodes, episodes[0].input_signature, lexical)
    assert ids(found) == [first]


@pytest.mark.parametrize("topk", [0, 4, -1, 100, 2.5, "2", None])
def test_a_topk_outside_one_to_three_is_a_config_error(topk: Any) -> None:
    with pytest.raises(ConfigError):
        Retriever(topk=topk)


def test_the_pipeline_asks_with_risk_ids_and_proposal_types_and_never_with_words_of_the_text(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "store.jsonl") as store:
        by_risk = store.append(draft("s-1", risks="EVIDENCE_GAP", n=0)).episode_id
        by_proposal = store.append(draft("s-2", proposals="REVISE_SPAN", n=0)).episode_id
        newest = store.append(draft("s-3", n=0)).episode_id
        memory = EpisodicOrchestrator(load_condition("C2"), store, settings=EpisodicMemorySettings(topk=1))

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
