"""The section "Memory": the episodes retrieved, the advice made of them, who saw it, and what was withheld."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import shown_text
from episodic_absa.cli.analyze.explanation.reason_words import INJECTION_SKIP_WORDS
from episodic_absa.cli.analyze.explanation.row_layout import Row
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.vocabulary import InjectionSkip


def memory_rows(result: SampleResult) -> Iterable[Row]:
    """Yield what the memory retrieved, and which of it each stage saw."""
    memory = result.memory
    stages = (("debate", memory.exposed_to_debate), ("stage2", memory.exposed_to_stage2))
    exposed = " and ".join(stage for stage, is_exposed in stages if is_exposed) or "nobody"
    yield (
        "condition",
        Text.assemble(
            (shown_text(memory.condition), "bold"),
            f"  memory {memory.memory_mode}, may be shown to {exposed}",
        ),
    )
    yield "retrieved", _retrieved(result)
    yield from _withheld(result)
    readers = ", ".join(memory.memory_debate_slot_present_for)
    yield (
        "debate gate",
        _gate(
            memory.injection_trigger_reasons,
            memory.injection_skip_reason,
            f"shown to {readers} ({memory.prompt_injection_chars} characters)",
        ),
    )
    yield (
        "stage2 gate",
        _gate(
            memory.stage2_memory_gate_reasons,
            memory.stage2_injection_skip_reason,
            f"shown ({memory.stage2_memory_prompt_injection_chars} characters)",
        ),
    )
    bundle = result.memory_bundle
    unseen = not memory.prompt_injection_chars and not memory.stage2_memory_injected
    for advisory in bundle["retrieved"]:
        yield "advisory", _advisory(advisory, unseen=unseen)
    for warning in bundle["warnings"]:
        yield "warning", Text(shown_text(warning), style="yellow")
    if memory.advisory_expects:
        expected = "a change of the result" if memory.advisory_expects == "change" else "the result to hold"
        yield "expects", Text(expected)


def _retrieved(result: SampleResult) -> Text:
    if not result.memory.retrieval_calls:
        return Text("the condition retrieves nothing", style="dim")
    if not result.memory.retrieved_ids:
        return Text("no similar episode", style="dim")
    episode_ids = Text(", ".join(result.memory.retrieved_ids))
    if result.memory_bundle["meta"]["masked_injection"]:
        episode_ids.append("  (masked: none becomes advice)", style="dim")
    return episode_ids


def _withheld(result: SampleResult) -> Iterable[Row]:
    memory = result.memory
    if memory.memory_blocked_advisory_n:
        failures = f"{memory.memory_blocked_episode_n} of the retrieved episodes failed"
        yield "withheld", Text(f"{memory.memory_blocked_advisory_n} ({memory.memory_block_reason}; {failures})")
    if memory.memory_demoted_advisory_n:
        yield "demoted", Text(str(memory.memory_demoted_advisory_n))
    if memory.repeated_advisory_n:
        yield (
            "repeated",
            Text(f"{memory.repeated_advisory_n} left out: a better ranked one has the same principle"),
        )
    if memory.opposed_advisory_n:
        yield "opposed", Text(f"{memory.opposed_advisory_n} left out: a better ranked one asks for the opposite")
    if memory.memory_dangerous_current_n:
        yield "dangerous", Text(f"{memory.memory_dangerous_current_n} past failures concern an aspect of this review")
    if memory.firewall_dropped_n:
        yield "firewall", Text(f"{memory.firewall_dropped_n} left out, because they name a label or an aspect")


def _gate(reasons: Sequence[str], skip: InjectionSkip, shown: str) -> Text:
    gate = Text.assemble(("open", "green"), f" ({', '.join(reasons)})") if reasons else Text("closed", style="yellow")
    if not skip:
        return gate.append(f"  {shown}")
    return Text.assemble(gate, f"  not shown: {skip}", (f" ({INJECTION_SKIP_WORDS[skip]})", "dim"))


def _advisory(advisory: Mapping[str, Any], *, unseen: bool) -> Text:
    evidence = advisory["evidence"]
    head = (
        f"{advisory['advisory_id']} {advisory['advisory_type']}, {advisory['strength']}, "
        f"relevance {advisory['relevance_score']:.2f}, {evidence['principle_id']}{_origin(evidence)}"
    )
    first_line = Text.assemble("(shown to nobody) " if unseen else "", shown_text(head), style="dim")
    return Text.assemble(first_line, "\n", shown_text(advisory["message"]))


def _origin(evidence: Mapping[str, Any]) -> str:
    """Return the episodes that an advisory comes from."""
    episode_ids = ", ".join(evidence["source_episode_ids"])
    return f" from {episode_ids}" if episode_ids else ""
