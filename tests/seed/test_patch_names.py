"""A revised span renames an aspect at the end; until then everybody speaks of it by its Stage1 name."""

from episodic_absa.schemas.absa import (
    AspectItem,
    AspectVerdict,
    DebateOutput,
    DebateRound,
    DebateSummary,
    DebateTurn,
    EditTarget,
    PatchEdit,
    ProposedEdit,
    SentimentItem,
    SentimentVerdict,
    Span,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    Stage2Result,
    Validator2Output,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.seed import Verdicts, build_review_context, build_stage2_result, decide_adoption
from episodic_absa.seed.patch import PatchResult, apply_patch
from episodic_absa.vocabulary import Polarity

TEXT = "The battery life is short and the food is fine."
BATTERY = Span(start=4, end=16)


def stage1(polarity: Polarity = "negative", term: str = "battery life is") -> Stage1Result:
    span = Span(start=4, end=4 + len(term))
    item = SentimentItem(aspect_term=term, span=span, polarity=polarity, confidence=0.6)
    return Stage1Result(
        ate=Stage1Ate(aspects=(AspectItem(aspect_term=term, span=span),)), atsa=Stage1Atsa(sentiments=(item,))
    )


def debate(*edits: tuple[str, str], judge: str) -> DebateOutput:
    def edit(value: str) -> ProposedEdit:
        target = EditTarget(aspect_ref="battery life is")
        return ProposedEdit(op="set_polarity", target=target, value=value, evidence="short")

    turns = tuple(DebateTurn(agent=agent, proposed_edits=(edit(value),)) for agent, value in edits)  # type: ignore[arg-type]
    patch = PatchEdit(op="set_polarity", target=EditTarget(aspect_ref="battery life is"), value=judge)
    summary = DebateSummary(final_patch=(patch,), sentence_evidence_spans=("short",))
    return DebateOutput(topic="t", personas=(), rounds=(DebateRound(round_index=1, turns=turns),), summary=summary)


REVISE = AspectVerdict(
    change_id="chg_001", aspect_term="battery life is", action="revise_span", revised_span=BATTERY, reason="too long"
)


def patched(
    first: Stage1Result,
    ate: tuple[AspectVerdict, ...] = (),
    atsa: tuple[SentimentVerdict, ...] = (),
    said: DebateOutput | None = None,
) -> PatchResult:
    return apply_patch(first, ate, atsa, said, build_review_context(first, said, TEXT), TEXT, PipelineSettings())


def stage2(
    first: Stage1Result,
    ate: tuple[AspectVerdict, ...] = (),
    atsa: tuple[SentimentVerdict, ...] = (),
    said: DebateOutput | None = None,
) -> Stage2Result:
    result = patched(first, ate, atsa, said)
    adoption = decide_adoption(first, result, (), ev_weights=(0.4, 0.3, 0.2, 0.1), ev_threshold=0.0)
    return build_stage2_result(Verdicts(ate, atsa), Validator2Output(), result, adoption)


def flip(term: str = "battery life is", polarity: Polarity | None = "positive") -> SentimentVerdict:
    return SentimentVerdict(
        change_id="chg_002", aspect_term=term, action="flip_polarity", revised_polarity=polarity, reason="says so"
    )


def test_a_flip_reaches_the_aspect_whose_span_is_revised_beside_it() -> None:
    result = patched(stage1(), (REVISE,), (flip(),))
    assert [(item.aspect_term, item.polarity, item.span) for item in result.sentiments] == [
        ("battery life", "positive", BATTERY)
    ]
    assert all(entry.applied for entry in result.log)


def test_a_revised_span_does_not_make_the_debate_act_where_it_only_confirms() -> None:
    agreed = debate(("epm", "negative"), ("tan", "negative"), ("cj", "negative"), judge="negative")
    result = patched(stage1(), (REVISE,), said=agreed)
    assert result.override.decisions[0].reason == "already_confident"
    assert not result.debate_acted


def test_an_override_of_an_aspect_with_a_revised_span_makes_no_conflict_of_its_own() -> None:
    agreed = debate(("epm", "positive"), ("tan", "positive"), ("cj", "positive"), judge="positive")
    result = patched(stage1(), (REVISE,), said=agreed)
    assert not result.unsettled_conflict
    assert [(item.aspect_term, item.polarity) for item in result.sentiments] == [("battery life", "positive")]


def test_a_flip_that_the_override_turns_back_is_rejected_as_overruled() -> None:
    said = debate(("epm", "negative"), ("tan", "negative"), ("cj", "negative"), judge="negative")
    result = stage2(stage1("negative"), atsa=(flip(polarity=None),), said=said)
    assert not result.accepted_changes
    assert result.rejected_changes[0].reasoning.endswith("not applied: overruled")


def test_a_flip_beside_a_revised_span_is_accepted_with_it() -> None:
    said = debate(("epm", "positive"), judge="positive")
    result = stage2(stage1(), (REVISE,), (flip(),), said)
    assert [change.change_id for change in result.accepted_changes] == ["chg_001", "chg_002"]
