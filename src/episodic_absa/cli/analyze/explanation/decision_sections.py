"""The sections "Adoption", "Moderator", "Store" and "Calls": the decisions after Stage2, and what they cost."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import deciding_words, polarity_text
from episodic_absa.cli.analyze.explanation.reason_words import ADOPT_WORDS, MODERATOR_RULE_WORDS, STORE_SKIP_WORDS
from episodic_absa.cli.analyze.explanation.row_layout import Row, plain_text, row_list
from episodic_absa.pipeline.sample_result import SampleResult


def adoption_rows(result: SampleResult) -> Iterable[Row]:
    """Yield whether Stage2 was adopted, and the evidence value that decided it."""
    adoption, parts = result.adoption, result.adoption.components
    decision = Text("Stage2 adopted", style="green") if adoption.adopt else Text("Stage1 stands", style="yellow")
    yield "decision", Text.assemble(decision, f": {adoption.reason}", (f" ({ADOPT_WORDS[adoption.reason]})", "dim"))
    yield (
        "evidence",
        Text(
            f"value {adoption.ev_score:.2f}, threshold {adoption.ev_threshold:.2f}\n"
            f"debate support {parts.debate_support}, validator resolved {parts.validator_resolved}, "
            f"grounding {parts.grounding}, confidence gain {parts.confidence_gain:.2f}"
        ),
    )


def moderator_rows(result: SampleResult) -> Iterable[Row]:
    """Yield the label with its source, and the rules that applied."""
    moderator, flags = result.moderator, result.moderator.arbiter_flags
    source = f"  {moderator.confidence:.2f}, from {moderator.label_source}; tuples of {moderator.selected_stage}"
    yield "label", Text.assemble(polarity_text(moderator.final_label), source)
    yield "words", _words(result)
    yield "rules", row_list(_rules(result))
    if flags.drop_guard:
        yield "drop guard", Text(f"Stage1 leads by {flags.confidence_margin_used:.2f}")
    if flags.rule_e_block_reason:
        yield "rule E", Text(f"did not fire: {flags.rule_e_block_reason}", style="dim")


def _words(result: SampleResult) -> Text:
    words = deciding_words(result)
    return Text(words, style="cyan") if words else Text("none that can be quoted: the text as a whole", style="dim")


def _rules(result: SampleResult) -> Iterable[tuple[Text, ...]]:
    rules, rationale = result.moderator.applied_rules, result.moderator.rationale
    reasons = rationale.split("; ")
    if len(reasons) != len(rules):
        yield Text(" ".join(rules), style="bold"), plain_text(rationale)
        return
    for rule, reason in zip(rules, reasons, strict=True):
        why = plain_text(reason.removeprefix(f"{rule}: "))
        # Rule C speaks of another label: other than the one that rule B starts from.
        full_reason = Text.assemble(why, ": ", _base_label(result)) if rule == "B" else why
        yield Text(rule, style="bold"), Text(MODERATOR_RULE_WORDS[rule]), full_reason


def _base_label(result: SampleResult) -> Text:
    """Return the label that the rules start from, with the stage and the aspect it comes from."""
    is_stage2 = result.adoption.adopt and not result.moderator.arbiter_flags.drop_guard
    sentiments = result.patched_sentiments if is_stage2 else result.stage1.atsa.sentiments
    judged = [item for item in sentiments if item.polarity is not None and not item.is_backfilled]
    surest = max(judged, key=lambda item: item.confidence, default=None)
    label, confidence = (surest.polarity or "neutral", surest.confidence) if surest else ("neutral", 0.0)
    text = Text.assemble(f"{'Stage2' if is_stage2 else 'Stage1'}'s label, ", polarity_text(label), f" {confidence:.2f}")
    return text.append_text(plain_text(f" ({surest.aspect_term or 'implicit'})")) if surest else text


def store_rows(result: SampleResult) -> Iterable[Row]:
    """Yield whether the sample became an episode, and why."""
    store = result.store
    if store.store_decision == "stored":
        decision = Text.assemble(("stored", "green"), f" as {store.episode_id} ({', '.join(store.store_reason_tags)})")
    else:
        reason = store.store_skip_reason
        decision = Text.assemble(f"skipped: {reason}", (f" ({STORE_SKIP_WORDS[reason]})", "dim"))
    yield "episode", decision


def call_rows(result: SampleResult) -> Iterable[Row]:
    """Yield the model, its calls and attempts, tokens, cost and time."""
    calls = result.calls
    if not calls:
        yield "calls", Text("none: no model was asked", style="dim")
        return
    stages = Counter(call.stage for call in calls)
    per_stage = ", ".join(f"{stage} {call_n}" for stage, call_n in stages.items())
    yield "model", plain_text(", ".join(dict.fromkeys(call.model for call in calls)))
    yield (
        "calls",
        Text(
            f"{len(calls)} ({per_stage}), {sum(call.attempts for call in calls)} attempts, "
            f"{sum(call.cached for call in calls)} cached"
        ),
    )
    tokens_in, tokens_out = sum(call.tokens_in for call in calls), sum(call.tokens_out for call in calls)
    yield "tokens", Text(f"{tokens_in:,} in, {tokens_out:,} out; {_cost([call.cost_usd for call in calls])}")
    yield "time", Text(f"{sum(call.latency_ms for call in calls) / 1000:.1f} s, all calls together")


def _cost(costs: Sequence[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return "cost unknown"
    total = sum(known)
    return f"${total:.4f}" if total else "no cost"
