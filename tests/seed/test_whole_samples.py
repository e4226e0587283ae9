"""Whole samples with scripted answers."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.language import norm
from episodic_absa.memory import MemoryStore
from episodic_absa.schemas.pipeline_settings import DebateOverride, PipelineSettings

b: Any = builders

RISK = {"type": "EVIDENCE_GAP", "severity": "high"}
RISKY = {"validator": {"consistency_score": 0.4, "structural_risks": [RISK]}}
CLEARED = {"stage2_validator": {"consistency_score": 0.9, "resolved_risk_ids": ["r1"]}}
FLIP = {"aspect_term": "food", "action": "flip_polarity", "revised_polarity": "negative", "reason": "why-flip"}
ADD = {"aspect_term": "price", "action": "add", "reason": "why-add"}


def reviewing(ate: list[Any] | None = None, atsa: list[Any] | None = None) -> dict[str, Any]:
    return {"stage2_ate": {"reviews": ate or []}, "stage2_atsa": {"reviews": atsa or []}}


def run(tmp_path: Path, *answers: dict[str, Any], **more: Any) -> Any:
    merged: dict[str, Any] = {}
    for one in answers:
        merged |= one
    return b.run_sample(b.ScriptedBackend(merged), tmp_path / "store.jsonl", **more)


def changes(found: Any) -> list[tuple[str, str]]:
    return [(one.change_id, one.reasoning) for one in found]


def test_adopted_reviews_are_accepted_with_their_reasons(tmp_path: Path) -> None:
    result = run(tmp_path, RISKY, CLEARED, reviewing([ADD], [FLIP]))
    assert (result.adoption.adopt, result.adoption.reason) == (True, "risk_resolved")
    assert changes(result.stage2.accepted_changes) == [("chg_001", "why-add"), ("chg_002", "why-flip")]
    assert result.stage2.rejected_changes == ()


def test_reviews_that_were_not_adopted_are_rejected_with_the_adopt_reason(tmp_path: Path) -> None:
    result = run(tmp_path, reviewing([ADD], [FLIP]))
    assert (result.adoption.adopt, result.adoption.reason) == (False, "low_signal")
    assert result.stage2.accepted_changes == ()
    assert changes(result.stage2.rejected_changes) == [
        ("chg_001", "why-add | not applied: low_signal"),
        ("chg_002", "why-flip | not applied: low_signal"),
    ]
    assert result.final_result.final_tuples == result.final_result.stage1_tuples


def test_a_review_that_could_not_be_patched_is_rejected_with_its_failure_code(tmp_path: Path) -> None:
    lost = {"aspect_term": "zebra", "action": "drop", "reason": "why-lost"}
    result = run(tmp_path, RISKY, CLEARED, reviewing([], [FLIP, lost]))
    assert result.adoption.adopt
    assert changes(result.stage2.accepted_changes) == [("chg_001", "why-flip")]
    ((change_id, reasoning),) = changes(result.stage2.rejected_changes)
    assert change_id == "chg_002"
    assert reasoning.startswith("why-lost | not applied: ")
    assert len(reasoning) > len("why-lost | not applied: ")


def test_keeping_is_neither_accepted_nor_rejected(tmp_path: Path) -> None:
    keep = {"aspect_term": "food", "action": "keep", "reason": "fine"}
    result = run(tmp_path, reviewing([keep], [keep]))
    assert result.stage2.accepted_changes == result.stage2.rejected_changes == ()
    assert [one.change_id for one in result.stage2.ate_reviews + result.stage2.atsa_reviews] == ["chg_001", "chg_002"]


@pytest.mark.parametrize("adopted", [True, False])
def test_a_longest_reason_still_fits_with_its_code(tmp_path: Path, adopted: bool) -> None:
    long = FLIP | {"reason": "x" * 400}
    lost = {"aspect_term": "zebra", "action": "drop", "reason": "y" * 400}
    answers = [RISKY, CLEARED] if adopted else []
    result = run(tmp_path, *answers, reviewing([], [long, lost]))
    assert result.adoption.adopt is adopted
    for one in result.stage2.rejected_changes:
        assert len(one.reasoning) <= 400
        assert " | not applied: " in one.reasoning


def test_a_review_that_the_anchor_guard_took_away_is_not_accepted(tmp_path: Path) -> None:
    ghost = {"aspect_term": "zebra", "action": "add", "revised_polarity": "positive", "reason": "why-ghost"}
    result = run(tmp_path, RISKY, CLEARED, reviewing([], [FLIP, ghost]))
    assert result.adoption.adopt
    assert changes(result.stage2.accepted_changes) == [("chg_001", "why-flip")]
    assert [one.change_id for one in result.stage2.rejected_changes] == ["chg_002"]
    assert not [one for one in result.final_result.final_tuples if one.aspect_term == "zebra"]


@pytest.mark.parametrize(
    ("verdict", "more", "standing"),
    [
        (FLIP | {"aspect_term": "service", "revised_polarity": "neutral"}, {}, ("service", "positive")),
        (
            {"aspect_term": "food", "action": "add", "revised_polarity": "negative", "reason": "why-extra"},
            {"final_tuples": [{"aspect_term": "food", "polarity": "positive"}]},
            ("food", "positive"),
        ),
    ],
)
def test_a_review_that_the_override_or_the_reduction_took_away_is_not_accepted(
    tmp_path: Path, verdict: dict[str, Any], more: dict[str, Any], standing: tuple[str, str]
) -> None:
    judge = dict(b.OVERRIDING_ANSWERS["judge"]) | more
    result = run(tmp_path, b.OVERRIDING_ANSWERS, {"judge": judge}, reviewing([], [verdict]))
    assert result.adoption.adopt
    final = [(pair.aspect_term, pair.polarity) for pair in result.final_result.final_tuples]
    assert [pair for pair in final if pair[0] == standing[0]] == [standing]
    assert result.stage2.accepted_changes == ()
    assert [change.change_id for change in result.stage2.rejected_changes] == ["chg_001"]


def review(term: str, action: str, polarity: str | None = None) -> dict[str, Any]:
    return {"aspect_term": term, "action": action, "revised_polarity": polarity, "reason": "why"}


def ate_verdict(term: str, action: str) -> dict[str, Any]:
    return {"aspect_term": term, "action": action, "reason": "why"}


@pytest.mark.parametrize(
    ("ate", "atsa", "accepted", "rejected"),
    [
        (
            [ate_verdict("price", "add"), ate_verdict("price", "drop")],
            [review("food", "flip_polarity", "negative")],
            ["chg_002", "chg_003"],
            ["chg_001"],
        ),
        ([], [review("price", "add", "positive"), review("price", "drop")], ["chg_002"], ["chg_001"]),
        ([], [review("food", "flip_polarity", "negative"), review("food", "drop")], ["chg_002"], ["chg_001"]),
        (
            [],
            [review("food", "flip_polarity", "negative"), review("food", "flip_polarity", "positive")],
            ["chg_002"],
            ["chg_001"],
        ),
        ([ate_verdict("service", "drop")], [review("service", "reduce_confidence")], ["chg_001"], ["chg_002"]),
        ([ate_verdict("price", "add")], [review("price", "add", "positive")], ["chg_001", "chg_002"], []),
        ([], [review("food", "reduce_confidence")], ["chg_001"], []),
    ],
)
def test_only_what_stands_in_the_final_result_is_accepted(
    tmp_path: Path, ate: list[Any], atsa: list[Any], accepted: list[str], rejected: list[str]
) -> None:
    result = run(tmp_path, RISKY, CLEARED, reviewing(ate, atsa))
    assert result.adoption.adopt
    assert [one.change_id for one in result.stage2.accepted_changes] == accepted
    assert [one.change_id for one in result.stage2.rejected_changes] == rejected


def test_no_output_speaks_of_advisory_impact(tmp_path: Path) -> None:
    b.filled_store(tmp_path / "store.jsonl")
    result = run(tmp_path, b.RISKY_ANSWERS, condition="C2")
    assert "memory_advisory_impact" not in b.as_json(result.to_output())


@pytest.mark.parametrize(
    ("answers", "adopted", "after"),
    [
        ([RISKY, CLEARED, reviewing([], [FLIP])], True, (0, ())),
        (
            [
                RISKY,
                reviewing([], [FLIP]),
                {
                    "stage2_validator": {
                        "consistency_score": 0.5,
                        "structural_risks": [{"type": "OTHER", "severity": "low"}],
                        "resolved_risk_ids": ["r1"],
                    }
                },
            ],
            True,
            (1, ("OTHER",)),
        ),
        ([RISKY, CLEARED], False, (3, ("EVIDENCE_GAP",))),
        ([RISKY, reviewing([], [FLIP])], False, (3, ("EVIDENCE_GAP",))),
        ([RISKY, CLEARED, b.OVERRIDING_ANSWERS], True, (0, ())),
    ],
)
def test_risk_after_is_validator2s_only_where_its_tuples_were_used(
    tmp_path: Path, answers: list[Any], adopted: bool, after: Any
) -> None:
    result = run(tmp_path, *answers, condition="C2_silent")
    assert result.adoption.adopt is adopted
    (episode,) = MemoryStore(tmp_path / "store.jsonl").load()
    before = episode.evaluation.risk_before
    assert (before.severity_sum, before.tags) == (3, ("EVIDENCE_GAP",))
    found = episode.evaluation.risk_after
    assert (found.severity_sum, found.tags) == after


@pytest.mark.parametrize(
    ("answers", "flags"),
    [
        ([RISKY, CLEARED, b.OVERRIDING_ANSWERS], (True, True, False)),
        ([RISKY, b.OVERRIDING_ANSWERS], (True, False, False)),
        ([b.OVERRIDING_ANSWERS], (True, False, False)),
        (
            [
                b.OVERRIDING_ANSWERS,
                {"stage2_validator": {"consistency_score": 0.2, "structural_risks": [{"type": "OTHER"}]}},
            ],
            (True, False, True),
        ),
        ([RISKY, CLEARED, reviewing([], [FLIP])], (False, False, False)),
    ],
)
def test_the_outcome_of_an_override_reaches_the_episode(tmp_path: Path, answers: list[Any], flags: Any) -> None:
    result = run(tmp_path, *answers, condition="C2_silent", memory={"selective_storage": False})
    assert tuple(result.override) == flags
    (episode,) = MemoryStore(tmp_path / "store.jsonl").load()
    found = episode.evaluation
    assert (found.override_applied, found.override_success, found.override_harm) == flags


def test_an_override_below_the_evidence_threshold_changes_nothing(tmp_path: Path) -> None:
    strict = PipelineSettings(debate_override=DebateOverride(ev_threshold=0.9))
    result = run(tmp_path, b.OVERRIDING_ANSWERS, settings=strict)
    assert (result.adoption.adopt, result.adoption.reason) == (False, "ev_below_threshold")
    assert [one.decision for one in result.override_decisions] == ["SKIP", "APPLY"]
    assert result.final_result.final_tuples == result.final_result.stage1_tuples
    assert result.final_result.stage2_tuples != result.final_result.stage1_tuples
    assert not result.override.applied
    assert result.moderator.selected_stage == "stage1"


def test_ev_weights_are_obeyed(tmp_path: Path) -> None:
    result = run(tmp_path, b.OVERRIDING_ANSWERS, settings=PipelineSettings(ev_weights=(0.7, 0.0, 0.0, 0.0)))
    assert result.adoption.ev_score == 0.7


@pytest.mark.parametrize(("profile", "applied"), [("t0", False), ("t1", True), ("t2", True)])
def test_the_profile_reaches_the_gate(tmp_path: Path, profile: Any, applied: bool) -> None:
    weaker = dict(b.OVERRIDING_ANSWERS)
    del weaker["tan"]
    result = run(tmp_path, weaker, settings=PipelineSettings(override_profile=profile))
    assert ("APPLY" in [one.decision for one in result.override_decisions]) is applied


def test_judge_tuples_alone_change_no_tuple(tmp_path: Path) -> None:
    judge = {
        "final_tuples": [
            {"aspect_term": "food", "polarity": "negative"},
            {"aspect_term": "price", "polarity": "positive"},
        ],
        "sentence_polarity": "negative",
        "sentence_evidence_spans": ["great"],
    }
    result = run(tmp_path, {"judge": judge})
    assert result.final_result.final_tuples == result.final_result.stage1_tuples
    assert b.pairs_of(result.final_result.final_tuples) == [("food", "positive"), ("service", "negative")]


def test_an_implicit_sentiment_survives_to_the_final_tuples(tmp_path: Path) -> None:
    atsa = {
        "sentiments": [{"aspect_term": "", "polarity": "negative"}, {"aspect_term": "food", "polarity": "positive"}]
    }
    plain = run(tmp_path, {"atsa": atsa})
    adopted = run(tmp_path, {"atsa": atsa}, RISKY, CLEARED, reviewing([], [FLIP]))
    assert adopted.adoption.adopt
    for result in (plain, adopted):
        last = result.final_result.final_tuples[-1]
        assert (last.aspect_term, last.polarity, last.grounding, last.span) == ("", "negative", "implicit", None)


def test_final_tuples_follow_the_text_whatever_order_the_model_gave(tmp_path: Path) -> None:
    ate = {"aspects": [{"aspect_term": "price"}, {"aspect_term": "service"}, {"aspect_term": "food"}]}
    atsa = {
        "sentiments": [
            {"aspect_term": term, "polarity": "positive", "confidence": 0.7} for term in ("price", "food", "service")
        ]
    }
    found = run(tmp_path, {"ate": ate, "atsa": atsa}).final_result.final_tuples
    assert [one.aspect_term for one in found] == ["food", "service", "price"]
    assert all(one.span is not None and one.confidence == 0.7 and one.grounding == "explicit" for one in found)


def test_a_backfill_is_flagged_in_the_final_tuples_and_gives_no_label(tmp_path: Path) -> None:
    atsa = {"sentiments": [{"aspect_term": "food", "polarity": "positive", "confidence": 0.3}]}
    result = run(tmp_path, {"atsa": atsa})
    flags = {one.aspect_term: one.is_backfilled for one in result.final_result.final_tuples}
    assert flags == {"food": False, "service": True}
    assert result.final_result.label == "positive"


def test_dropping_every_sentiment_leaves_a_flagged_placeholder(tmp_path: Path) -> None:
    drops = [{"aspect_term": term, "action": "drop", "reason": "no"} for term in ("food", "service")]
    result = run(tmp_path, RISKY, CLEARED, reviewing([], drops))
    (one,) = result.final_result.stage2_tuples
    assert (one.aspect_term, one.polarity, one.is_backfilled, one.grounding) == ("", "neutral", True, "implicit")


row = st.fixed_dictionaries


def words(*choices: Any) -> Any:
    return st.sampled_from(choices)


def rows(max_size: int, **fields: Any) -> Any:
    return st.lists(row(fields), max_size=max_size)


WORD = words("food", "service", "price", "", "zebra", "Food", "the food")
POLARITY = words("positive", "negative", "neutral", "postive", "banana", None)
CONFIDENCE = st.integers(0, 10).map(lambda n: n / 10)
SPAN = st.none() | row({"start": st.integers(-2, 70), "end": st.integers(-2, 70)})
RISK_WORD = words("NEGATION", "IRONY", "EVIDENCE_GAP", "MISSING_SECOND_ASPECT", "bogus", "")
RISKS = rows(2, type=RISK_WORD, severity=words("low", "mid", "high", "odd", ""), scope=SPAN)
TARGET = row({"aspect_ref": WORD, "aspect_term": st.none() | WORD, "polarity": POLARITY})
OP = words("set_polarity", "set_polarity", "drop_tuple", "confirm_tuple", "merge_tuples")
EDITS = rows(4, op=OP, target=TARGET, value=POLARITY)
TURN = row({"proposed_edits": EDITS})
PROPOSAL = words("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN")
ATE_ACTION = words("keep", "revise_span", "drop", "add")
ATSA_ACTION = words("keep", "flip_polarity", "reduce_confidence", "drop", "add")
REASON = st.just("r")
TEXTS = [
    b.TEXT,
    "The food was not great but the service was slow, the price fair.",
    "food food service. Food price!",
]
VALIDATOR = {
    "consistency_score": CONFIDENCE,
    "confidence": CONFIDENCE,
    "suggested_label": words(None, "positive", "negative", "mixed", "banana"),
    "structural_risks": RISKS,
    "correction_proposals": rows(2, aspect_term=WORD, proposal_type=PROPOSAL, revised_span=SPAN),
}
JUDGE = {
    "final_patch": EDITS,
    "final_tuples": rows(3, aspect_term=WORD, polarity=words("positive", "negative", "neutral", "banana")),
    "aspect_evidence": words({}, {"": ""}, {"food": "great"}),
    "sentence_polarity": words(None, "positive", "mixed", "banana"),
    "sentence_evidence_spans": st.lists(words("great", "food", "zzz", "f", ""), max_size=2),
}
VALIDATOR2 = {
    "consistency_score": CONFIDENCE,
    "structural_risks": RISKS,
    "resolved_risk_ids": st.lists(words("r1", "r2", "n1", "banana", ""), max_size=2),
}
SHARES = words({}, {"banana": 0.4, "pos": 0.6})
SENTIMENTS = rows(4, aspect_term=WORD, polarity=POLARITY, confidence=CONFIDENCE, polarity_distribution=SHARES)
ATE_REVIEWS = rows(3, aspect_term=WORD, action=ATE_ACTION, revised_span=SPAN, reason=REASON)
ATSA_REVIEWS = rows(3, aspect_term=WORD, action=ATSA_ACTION, revised_polarity=POLARITY, reason=REASON)
ANSWERS = row(
    {
        "ate": row({"aspects": rows(3, aspect_term=WORD, span=SPAN)}),
        "atsa": row({"sentiments": SENTIMENTS}),
        "validator": row(VALIDATOR),
        "epm": TURN,
        "tan": TURN,
        "cj": TURN,
        "judge": row(JUDGE),
        "stage2_ate": row({"reviews": ATE_REVIEWS}),
        "stage2_atsa": row({"reviews": ATSA_REVIEWS}),
        "stage2_validator": row(VALIDATOR2),
    }
)


def weight(risks: Any) -> int:
    return sum({"low": 1, "mid": 2, "high": 3}[one.severity] for one in risks)


def check_changes(result: Any) -> None:
    reviews = (*result.stage2.ate_reviews, *result.stage2.atsa_reviews)
    assert [one.change_id for one in reviews] == [f"chg_{n:03d}" for n in range(1, len(reviews) + 1)]
    changed = [one.change_id for one in reviews if one.action != "keep"]
    accepted = [one.change_id for one in result.stage2.accepted_changes]
    rejected = [one.change_id for one in result.stage2.rejected_changes]
    assert sorted(accepted + rejected) == sorted(changed)
    assert all(" | not applied: " in one.reasoning for one in result.stage2.rejected_changes)
    assert result.adoption.adopt or not accepted
    pairs = [(norm(one.aspect_term), one.polarity) for one in result.final_result.final_tuples]
    for one in result.stage2.atsa_reviews:
        if one.change_id in accepted and one.revised_polarity and one.action in {"flip_polarity", "add"}:
            term = norm(one.aspect_term)
            assert [p for t, p in pairs if (t == "") is (term == "") and (t in term or term in t)].count(
                one.revised_polarity
            ), f"{one} is accepted but not in {pairs}"


def check_tuples(result: Any, text: str, shown: Any) -> None:
    final = result.final_result
    assert final.stage1_tuples == extract_tuples(result.stage1.atsa.sentiments)
    if result.adoption.adopt:
        assert final.final_tuples == final.stage2_tuples == extract_tuples(shown)
    else:
        assert final.final_tuples == final.stage1_tuples
    assert result.moderator.selected_stage == ("stage2" if result.adoption.adopt else "stage1")
    for one in final.final_tuples:
        assert one.aspect_term.lower() in text.lower()
        assert one.span is None or one.span.end <= len(text)
        assert (one.grounding == "implicit") is (one.aspect_term == "")
    places = [(one.span is None, one.span.start if one.span else 0, one.aspect_term) for one in final.final_tuples]
    assert [one[:2] for one in places] == sorted(one[:2] for one in places)
    implicit = [one for one in result.stage1.atsa.sentiments if one.is_implicit and one.polarity]
    if not result.adoption.adopt:
        assert bool(implicit) is any(one.aspect_term == "" for one in final.final_tuples)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(ANSWERS, st.sampled_from(TEXTS), st.sampled_from(["t0", "t1", "t2"]))
def test_whatever_the_models_say_unadopted_samples_keep_stage1_and_records_tell_the_truth(
    answers: Any, text: str, profile: Any
) -> None:
    backend = b.ScriptedBackend(answers)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.jsonl"
        result = b.run_sample(
            backend,
            store,
            condition="C2_silent",
            text=text,
            settings=PipelineSettings(override_profile=profile),
            memory={"selective_storage": False},
        )
        (episode,) = MemoryStore(store).load()
    assert len(backend.roles) == 10
    check_tuples(result, text, backend.asked("stage2_validator").inputs.patched_sentiments)
    check_changes(result)
    assert len([one for one in result.override_decisions if one.decision == "APPLY"]) <= 1
    before = result.stage1.validator.structural_risks
    after = result.stage2.validator.structural_risks if result.adoption.adopt else before
    assert episode.evaluation.risk_before.severity_sum == weight(before)
    assert episode.evaluation.risk_after.severity_sum == weight(after)
    if not result.adoption.adopt:
        assert tuple(result.override) == (False, False, False)
    if result.override.applied:
        (applied,) = [one for one in result.override_decisions if one.decision == "APPLY"]
        pairs = {(one.aspect_term, one.polarity) for one in result.final_result.final_tuples}
        assert (applied.aspect, applied.target) in pairs


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(ANSWERS)
def test_equal_answers_give_equal_outputs(answers: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        outputs = [
            b.as_json(b.run_sample(b.ScriptedBackend(answers), Path(folder) / "store.jsonl").to_output())
            for _ in range(2)
        ]
    assert outputs[0] == outputs[1]
