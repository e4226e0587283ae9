"""The label rule by rule, and the order of final tuples."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.schemas.absa import DebateSummary, ModeratorOutput, Span, ValidatorOutput
from episodic_absa.seed import moderate, stage_label

b: Any = builders


def food(polarity: Any, confidence: float) -> Any:
    return b.sentiment("food", polarity, confidence)


def service(polarity: Any, confidence: float) -> Any:
    return b.sentiment("service", polarity, confidence)


def label(
    first: list[Any],
    second: list[Any] | None = None,
    *,
    risks: Any = (),
    suggested: Any = None,
    validator_confidence: float = 0.5,
    judge: Any = (),
    sentence: Any = None,
) -> ModeratorOutput:
    final = extract_tuples(tuple(first if second is None else second))
    validator = ValidatorOutput(
        structural_risks=tuple(risks), suggested_label=suggested, confidence=validator_confidence
    )
    summary = DebateSummary(final_tuples=tuple(b.judged(*one) for one in judge), sentence_polarity=sentence)
    return moderate(tuple(first), None if second is None else tuple(second), final, validator, summary)


def rules(output: ModeratorOutput) -> str:
    return "".join(output.applied_rules)


@pytest.mark.parametrize(
    ("sentiments", "polarity", "confidence"),
    [
        ([food("positive", 0.6), service("negative", 0.9)], "negative", 0.9),
        ([food("positive", 0.7), service("negative", 0.7)], "positive", 0.7),
        ([service("negative", 0.7), food("positive", 0.7)], "negative", 0.7),
        ([b.sentiment("", "neutral", 0.8), food("positive", 0.7)], "neutral", 0.8),
    ],
)
def test_the_label_of_a_stage_is_its_surest_and_then_earliest_sentiment(
    sentiments: list[Any], polarity: str, confidence: float
) -> None:
    output = label(sentiments)
    assert (output.final_label, output.confidence) == (polarity, confidence)
    assert stage_label(tuple(sentiments)).label == polarity


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], None),
        ([], []),
        ([food("positive", 0.0)], None),
        ([food("positive", 0.0)], [food("negative", 0.0)]),
        ([b.sentiment("food", "neutral", backfilled=True)], None),
        ([food(None, 0.9)], None),
    ],
)
def test_rule_z_stops_where_nothing_is_known(first: list[Any], second: list[Any] | None) -> None:
    output = label(first, second, suggested="negative", validator_confidence=1.0, sentence="negative")
    assert (output.final_label, output.confidence, rules(output)) == ("neutral", 0.0, "Z")
    assert not output.arbiter_flags.rule_e_fired
    assert output.selected_stage == ("stage1" if second is None else "stage2")


@pytest.mark.parametrize(
    ("c1", "c2", "guarded"),
    [(0.9, 0.6, True), (0.9, 0.71, False), (0.7, 0.5, True), (0.8, 0.6, True), (0.5, 0.9, False), (0.6, 0.41, False)],
)
def test_rule_b_guards_against_a_drop_of_a_fifth(c1: float, c2: float, guarded: bool) -> None:
    output = label([food("positive", c1)], [food("negative", c2)])
    assert output.arbiter_flags.drop_guard is guarded
    assert output.arbiter_flags.confidence_margin_used == (pytest.approx(c1 - c2) if guarded else 0.0)
    assert output.final_label == ("positive" if guarded else "negative")
    assert output.label_source == ("stage1" if guarded else "stage2")
    assert output.selected_stage == "stage2"
    assert rules(output)[0] == "B"


@pytest.mark.parametrize(
    ("risks", "confidence", "taken"),
    [
        ([b.risk("IRONY", "low")], 0.75, True),
        ([b.risk("NEGATION_SCOPE", "low")], 0.75, True),
        ([b.risk("EVIDENCE_GAP", "high")], 0.75, True),
        ([], 0.8, True),
        ([], 0.95, True),
        ([], 0.79, False),
        ([b.risk("EVIDENCE_GAP", "mid")], 0.79, False),
    ],
)
def test_rule_c_takes_the_validators_label_with_its_confidence(
    risks: list[Any], confidence: float, taken: bool
) -> None:
    output = label([food("positive", 0.8)], risks=risks, suggested="negative", validator_confidence=confidence)
    assert ("C" in rules(output)) is taken
    assert output.arbiter_flags.validator_override_applied is taken
    assert output.final_label == ("negative" if taken else "positive")
    assert output.confidence == (confidence if taken else 0.8)
    assert output.label_source == ("validator" if taken else "stage1")


def test_rule_a_takes_the_mean_where_all_three_labels_agree_in_one_place() -> None:
    output = label([food("positive", 0.8)], [food("positive", 0.9)])
    assert output.final_label == "positive"
    assert output.confidence == pytest.approx(0.85)
    assert rules(output) == "BA"


def spanned(polarity: Any, confidence: float, start: int, end: int) -> Any:
    return b.sentiment("food", polarity, confidence).model_copy(update={"span": Span(start=start, end=end)})


@pytest.mark.parametrize(
    ("first", "second", "fires"),
    [
        ((0, 10), (0, 10), True),
        ((0, 10), (0, 8), True),
        ((0, 10), (2, 10), True),
        ((0, 10), (0, 7), False),
        ((0, 10), (1, 11), True),
        ((0, 10), (2, 12), False),
        ((0, 4), (10, 14), False),
    ],
)
def test_rule_a_needs_spans_that_overlap_by_four_fifths(first: Any, second: Any, fires: bool) -> None:
    output = label([spanned("positive", 0.8, *first)], [spanned("positive", 0.9, *second)])
    assert ("A" in rules(output)) is fires
    assert output.confidence == pytest.approx(0.85 if fires else 0.9)


@pytest.mark.parametrize(
    ("rule", "first", "second", "more"),
    [
        ("M", [food("positive", 0.8), service("negative", 0.6)], None, {}),
        ("M", [food("positive", 0.8), service("negative", 0.6)], [food("positive", 0.9), service("negative", 0.6)], {}),
        ("M", [food("positive", 0.8)], [food("negative", 0.9)], {}),
        ("M", [food("positive", 0.8)], [food("negative", 0.9), service("neutral", 0.5)], {}),
        # Stage2 absent, the drop guard, other labels, a label of the validator, no span.
        ("A", [food("positive", 0.8)], None, {}),
        ("A", [food("positive", 0.9)], [food("positive", 0.6)], {}),
        ("A", [food("positive", 0.8)], [food("negative", 0.9)], {}),
        (
            "A",
            [food("positive", 0.8)],
            [food("positive", 0.85)],
            {"suggested": "negative", "validator_confidence": 0.95},
        ),
        ("A", [b.sentiment("", "positive", 0.8)], [b.sentiment("", "positive", 0.9)], {}),
    ],
)
def test_rule_m_needs_different_labels_and_both_polarities_and_rule_a_agreement_in_one_place(
    rule: str, first: Any, second: Any, more: Any
) -> None:
    output = label(first, second, **more)
    assert rule not in rules(output)
    assert output.final_label != "mixed"


IRONY = [b.risk("IRONY", "low")]


@pytest.mark.parametrize(
    ("stage", "validator", "final", "confidence", "source"),
    [
        (0.9, 0.5, "positive", 0.9, "stage1"),
        (0.8, 0.75, "negative", 0.75, "validator"),
        (0.6, 0.9, "negative", 0.9, "validator"),
        (0.9, 0.79, "positive", 0.9, "stage1"),
        (0.9, 0.81, "negative", 0.81, "validator"),
        (0.7, 0.6, "positive", 0.7, "stage1"),
    ],
)
def test_rule_d_weighs_the_selected_stage_against_the_current_label(
    stage: float, validator: float, final: str, confidence: float, source: str
) -> None:
    output = label([food("positive", stage)], risks=IRONY, suggested="negative", validator_confidence=validator)
    assert (output.final_label, output.confidence, output.label_source) == (final, confidence, source)
    assert rules(output)[:2] == "BC"
    if source == "stage1":
        assert rules(output) == "BCD"


@pytest.mark.parametrize(
    ("sentence", "judge", "final"),
    [
        ("negative", (), "negative"),
        ("negative", (("food", "positive"),), "negative"),
        ("mixed", (), "mixed"),
        (None, (("food", "negative"),), "negative"),
        (None, (("food", "negative"), ("service", "negative")), "negative"),
        (None, (("food", "negative"), ("service", "positive")), "mixed"),
    ],
)
def test_rule_e_follows_the_judge_where_confidence_is_low(sentence: Any, judge: Any, final: str) -> None:
    output = label([food("positive", 0.54)], sentence=sentence, judge=judge)
    assert (output.final_label, output.label_source) == (final, "judge")
    assert output.arbiter_flags.rule_e_fired
    assert output.arbiter_flags.rule_e_block_reason is None
    assert rules(output) == "BE"
    assert output.selected_stage == "stage1"


def test_rule_e_follows_the_judge_where_the_label_is_mixed() -> None:
    output = label(
        [food("positive", 0.8), service("negative", 0.6)],
        [food("positive", 0.75), service("negative", 0.9)],
        sentence="negative",
    )
    assert output.final_label == "negative"
    assert rules(output) == "BME"


@pytest.mark.parametrize(
    ("confidence", "sentence", "judge", "reason"),
    [
        (0.54, None, (), "inferred_empty"),
        (0.9, None, (), "inferred_empty"),
        (0.54, "positive", (), "label_unchanged"),
        (0.54, None, (("food", "positive"),), "label_unchanged"),
        (0.9, "positive", (), "label_unchanged"),
        (0.55, "negative", (), "confidence_too_high"),
        (0.9, None, (("food", "negative"),), "confidence_too_high"),
    ],
)
def test_rule_e_says_why_it_did_not_fire(confidence: float, sentence: Any, judge: Any, reason: str) -> None:
    output = label([food("positive", confidence)], sentence=sentence, judge=judge)
    assert output.arbiter_flags.rule_e_block_reason == reason
    assert not output.arbiter_flags.rule_e_fired
    assert rules(output) == "B"
    assert (output.final_label, output.confidence) == ("positive", confidence)


POLARITY = st.sampled_from(["positive", "negative", "neutral", None])
SENTIMENTS = st.lists(
    st.builds(
        lambda term, polarity, confidence: b.sentiment(term, polarity, confidence),
        st.sampled_from(["food", "service", "price", ""]),
        POLARITY,
        st.integers(0, 20).map(lambda n: n / 20),
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(
    SENTIMENTS,
    st.none() | SENTIMENTS,
    st.sampled_from([None, "positive", "mixed", "negative"]),
    st.integers(0, 20).map(lambda n: n / 20),
    st.sampled_from([None, "negative", "mixed"]),
    st.lists(st.tuples(st.just("food"), st.sampled_from(["positive", "negative"])), max_size=2),
    st.booleans(),
)
def test_rules_fire_in_order_and_the_selected_stage_tells_the_truth(
    first: Any, second: Any, suggested: Any, confidence: float, sentence: Any, judge: Any, risky: bool
) -> None:
    output = label(
        first,
        second,
        suggested=suggested,
        validator_confidence=confidence,
        sentence=sentence,
        judge=judge,
        risks=IRONY if risky else (),
    )
    order = "ZBMCADE"
    assert list(rules(output)) == sorted(set(rules(output)), key=order.index)
    assert rules(output) == "Z" or rules(output)[0] == "B"
    assert output.selected_stage == ("stage1" if second is None else "stage2")
    assert output.arbiter_flags.rule_e_fired is ("E" in rules(output))
    assert output.arbiter_flags.validator_override_applied is ("C" in rules(output))
    assert output.decision_reason
    if output.final_label == "mixed":
        assert output.label_source in {"merged", "validator", "judge"}


def test_final_tuples_stand_in_text_order_with_implicit_ones_last() -> None:
    found = extract_tuples(
        (
            b.sentiment("", "negative", 0.9),
            b.sentiment("price", "neutral", 0.4),
            b.sentiment("service", "positive", 0.5),
            b.sentiment("service", "negative", 0.6),
            b.sentiment("food", "positive", 0.7),
        )
    )
    assert [(one.aspect_term, one.polarity) for one in found] == [
        ("food", "positive"),
        ("service", "negative"),
        ("service", "positive"),
        ("price", "neutral"),
        ("", "negative"),
    ]
    assert [one.grounding for one in found] == ["explicit"] * 4 + ["implicit"]
    assert found[0].span == b.span_of("food")
    assert found[0].confidence == 0.7


@settings(max_examples=150, deadline=None)
@given(SENTIMENTS)
def test_final_tuples_are_the_surest_of_each_pair_and_skip_missing_polarities(sentiments: Any) -> None:
    found = extract_tuples(tuple(sentiments))
    best: dict[tuple[str, str], float] = {}
    for one in sentiments:
        if one.polarity is not None:
            key = (one.aspect_term, one.polarity)
            best[key] = max(best.get(key, 0.0), one.confidence)
    assert {(one.aspect_term, one.polarity): one.confidence for one in found} == best
    assert len(found) == len(best)
    places = [(one.span is None, one.span.start if one.span else 0, one.aspect_term, one.polarity) for one in found]
    assert places == sorted(places)
    assert extract_tuples(tuple(reversed(sentiments))) == found
