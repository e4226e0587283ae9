"""Counts of earlier reviews weigh doubtful targets, and how changes turned out moves thresholds within bounds."""

import json
from pathlib import Path
from typing import Any

import pytest

from episodic_absa import Analyzer
from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.judgement.familiarity import (
    FAMILIARITY_FILE,
    LEAST_REVIEWS,
    shipped_curve,
    weigh_targets,
)
from episodic_absa.backends.embedded.roles.second_looks import NO_LOOKS, second_looks
from episodic_absa.memory.store.memory_store import MemoryStore
from episodic_absa.schemas.absa import (
    AspectItem,
    DebateTurn,
    EditTarget,
    Persona,
    ProposedEdit,
    SentimentItem,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
)
from episodic_absa.schemas.memory_v1_2 import TallyV1_2
from episodic_absa.schemas.role_inputs import JudgeInputs, ReviewInputs, SpeakerInputs
from episodic_absa.seed.review_context import build_review_context

TEXT = "The food was great but the parking attendant said the corner table was for others."
ENGINE = EmbeddedEngine()
PERSONA = Persona(name="TAN", role="aligner", goal="targets")


def first_analysis(**confidences: float) -> Stage1Result:
    polarities = {"food": "positive", "parking": "negative", "table": "neutral"}
    return Stage1Result(
        ate=Stage1Ate(aspects=tuple(AspectItem(aspect_term=term) for term in confidences)),
        atsa=Stage1Atsa(
            sentiments=tuple(
                SentimentItem.model_validate(
                    {"aspect_term": term, "polarity": polarities[term], "evidence": "great", "confidence": confidence}
                )
                for term, confidence in confidences.items()
            )
        ),
    )


def bundle(*seen_in: int, of: int = 500, drops: tuple[float, float] | None = None) -> dict[str, Any]:
    targets = [{"position": position, "seen_in": count, "of": of} for position, count in enumerate(seen_in, start=1)]
    record = {"kind": "drop", "rate_low": drops[0], "rate_high": drops[1]} if drops else None
    return {
        "retrieved": [],
        "experience": [{"message": "...", "evidence": {"experience": record}}] if record else [],
        "familiarity": {"message": "...", "evidence": {"familiarity": targets}},
        "warnings": [],
    }


def dropped(stage1: Stage1Result, memory: dict[str, Any]) -> set[str]:
    return set(weigh_targets(ENGINE.read(TEXT, "en"), stage1, second_looks(memory)).unfamiliar)


def test_tan_the_judge_and_stage2_drop_a_doubtful_target_that_no_earlier_review_had() -> None:
    stage1, memory = first_analysis(food=0.87, parking=0.2), bundle(90, 0)
    plain = SpeakerInputs(text=TEXT, language="en", stage1=stage1, speaker="tan", persona=PERSONA)
    before = {edit.target.aspect_ref: edit.op for edit in ENGINE.answer("tan", plain).proposed_edits}
    turn = ENGINE.answer("tan", plain.model_copy(update={"memory": memory}))
    after = {edit.target.aspect_ref: edit.op for edit in turn.proposed_edits}
    assert before == {"food": "confirm_tuple", "parking": "confirm_tuple"}
    assert after == {"food": "confirm_tuple", "parking": "drop_tuple"}

    asked = ProposedEdit(op="drop_tuple", target=EditTarget(aspect_ref="parking", polarity="negative"))
    turns = (DebateTurn(agent="tan", proposed_edits=(asked,)),)
    judge = ENGINE.answer("judge", JudgeInputs(text=TEXT, language="en", stage1=stage1, turns=turns, memory=memory))
    assert [(patch.op, patch.target.aspect_ref) for patch in judge.final_patch] == [("drop_tuple", "parking")]

    context = build_review_context(stage1, None, TEXT).context
    verdicts = ENGINE.answer(
        "stage2_ate",
        ReviewInputs(text=TEXT, language="en", stage1=stage1, review_context=context, memory=memory),
    )
    assert [review.action for review in verdicts.reviews] == ["keep", "drop"]


@pytest.mark.parametrize(
    ("confidence", "seen_in", "of", "is_dropped"),
    [
        (0.2, 0, 500, True),
        (0.2, 20, 500, False),  # familiar: likelier right than its confidence says
        (0.5, 0, 500, False),  # unfamiliar, but right often enough to keep
        (0.2, 0, LEAST_REVIEWS - 1, False),  # too few reviews to say anything
    ],
)
def test_only_what_is_doubtful_and_unfamiliar_is_dropped(
    confidence: float, seen_in: int, of: int, is_dropped: bool
) -> None:
    stage1 = first_analysis(food=0.87, parking=confidence)
    assert dropped(stage1, bundle(90, seen_in, of=of)) == ({"parking"} if is_dropped else set())


def test_the_likeliest_target_of_a_text_always_stays() -> None:
    assert dropped(first_analysis(parking=0.2, table=0.15), bundle(0, 0)) == {"table"}
    assert dropped(first_analysis(parking=0.1), bundle(0)) == set()


def test_experience_with_drops_moves_the_bound_by_little() -> None:
    chance = shipped_curve().probability(0.3, seen_in=0, of=500)
    assert 0.2 < chance < 0.25
    stage1 = first_analysis(food=0.87, parking=0.3)
    assert dropped(stage1, bundle(90, 0)) == {"parking"}
    assert dropped(stage1, bundle(90, 0, drops=(0.3, 0.7))) == {"parking"}
    assert dropped(stage1, bundle(90, 0, drops=(0.1, 0.4))) == set()
    assert dropped(first_analysis(food=0.87, parking=0.36), bundle(90, 0)) == set()
    assert dropped(first_analysis(food=0.87, parking=0.36), bundle(90, 0, drops=(0.6, 0.9))) == {"parking"}


def test_experience_with_flips_keeps_the_strength_that_words_need_within_bounds() -> None:
    def strength(low: float, high: float, warnings: int) -> float:
        record = {"kind": "flip", "rate_low": low, "rate_high": high}
        memory = {"experience": [{"evidence": {"experience": record}}], "warnings": ["Hold."] * warnings}
        return second_looks(memory).strength_for("flip")

    assert NO_LOOKS.strength_for("flip") == pytest.approx(0.6)
    assert strength(0.6, 0.9, 0) == pytest.approx(0.4)
    assert strength(0.1, 0.4, 0) == pytest.approx(1.3)
    assert strength(0.1, 0.4, 5) == pytest.approx(2.0)
    assert strength(0.4, 0.6, 0) == pytest.approx(0.6)


@pytest.mark.parametrize(
    "familiarity", [None, {}, {"evidence": {"familiarity": [{"position": 0, "seen_in": 1, "of": 2}, {}, 3]}}]
)
def test_familiarity_that_cannot_be_read_changes_nothing(familiarity: Any) -> None:
    assert second_looks({"retrieved": [], "familiarity": familiarity, "experience": [3, {}]}) == NO_LOOKS


def test_a_drop_by_familiarity_is_adopted_by_its_witnesses_and_needs_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store, store.writing():
        for number in range(LEAST_REVIEWS):
            store.append_tally(TallyV1_2(language="en", source_id=f"review-{number}", terms=("corner table", "food")))
    results = {}
    for condition in ("C1", "C2_frozen"):
        with Analyzer(condition=condition, store=path) as analyzer:
            results[condition] = analyzer.analyze(TEXT, uid="new", language_code="en")
    terms = {name: [item.aspect_term for item in result.final_result.final_tuples] for name, result in results.items()}
    assert terms == {"C1": ["food", "parking", "corner table"], "C2_frozen": ["food", "corner table"]}
    [change] = [change for change in results["C2_frozen"].changes or () if change.kind == "drop" and change.adopted]
    stances = {witness.who: witness.stance for witness in change.witnesses}
    assert (stances["tan"], stances["review"], stances["judge"]) == ("for", "for", "for")
    assert stances["reader"] != "against"


def test_no_file_whose_figures_check_the_curve_fitted_it() -> None:
    stored = json.loads(FAMILIARITY_FILE.read_text("utf-8"))
    assert not {check["file"] for check in stored["checks"]} & set(stored["fitted_on"])
