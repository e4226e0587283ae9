"""Episodes on a terminal: the rows of `memory list`, the page of `memory show`. Colour only repeats what words say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from rich import box
from rich.console import ConsoleRenderable, Group, RenderableType
from rich.constrain import Constrain
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import PAGE_WIDTH, FirstThatFits, printable, yes_no
from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.schemas.memory_v1_1 import CorrectionV1_1, EvaluationV1_1, RiskVectorV1_1, SnapshotV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, VerdictV1_3
from episodic_absa.vocabulary import EpisodeType, Language, Polarity, RiskId

_OUTCOME_STYLE: Final[dict[EpisodeType, str]] = {"success": "green", "harm": "red", "neutral": "yellow"}
_POLARITY_STYLE: Final[dict[Polarity, str]] = {"positive": "green", "negative": "red", "neutral": "yellow"}
_BY: Final[Mapping[str, str]] = {
    "agent": "the agent that remembered it",
    "person": "a person",
    "reader": "the reader",
    "referee": "the referee",
    "risk": "the risks before and after",
}
_Field = tuple[str, RenderableType]
_CONFLICTS: Final = {True: "resolved", False: "left unresolved", None: "none in stage1"}


def episode_page(episode: EpisodicMemoryEntryV1_3, verdicts: Sequence[VerdictV1_3] = ()) -> ConsoleRenderable:
    """Lay out one episode in panels.

    Args:
        episode: as people judged it.
        verdicts: what they said about its review.
    """
    change = _risk_change_text(episode.evaluation)
    outcome = _outcome_text(episode.outcome.value)
    panels = {
        "Case": _fields(_case(episode)),
        "Before and after": _before_and_after(episode),
        "Outcome": _fields([*_outcome(episode), *map(_verdict, verdicts)]),
        f"Principle {printable(episode.correction.principle_id)}": _fields(_principle(episode.correction)),
        "Provenance": _fields(_provenance(episode)),
    }
    page = Group(
        Text.assemble((episode.episode_id, "bold"), "  ", outcome, "  ", episode.action_taken, "  ", change),
        *(
            Panel(content, title=Text(title, style="bold"), title_align="left", border_style="dim", box=box.ROUNDED)
            for title, content in panels.items()
        ),
    )
    return Constrain(page, PAGE_WIDTH)


def _case(episode: EpisodicMemoryEntryV1_3) -> Iterator[_Field]:
    signature, summary = episode.input_signature, episode.case_summary
    marker = "" if signature.contrast_marker is None else f" (marker {printable(signature.contrast_marker)})"
    yield "language", signature.language
    yield "structure", ", ".join(signature.detected_structure) + marker
    yield "shape", f"{signature.length_bucket}, aspects: {signature.num_aspects}"
    yield "target", printable(summary.target_aspect_type)
    yield "symptom", printable(summary.symptom)
    yield "rationale", printable(summary.rationale_summary)
    yield "category", ", ".join(episode.error_category)
    yield "risk type", episode.risk_type or Text("none", style="dim")


def _before_and_after(episode: EpisodicMemoryEntryV1_3) -> RenderableType:
    if episode.stage_snapshot is None:
        return Text("nothing was judged: the case is a situation of an agent", style="dim")
    before, after = episode.stage_snapshot.stage1, episode.stage_snapshot.final
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for title in ("aspect", "stage1", "final"):
        table.add_column(title, overflow="fold")
    for term in dict.fromkeys((*before.aspects_norm, *before.polarities, *after.aspects_norm, *after.polarities)):
        name = Text(printable(term)) if term else Text("(implicit)", style="dim")
        table.add_row(name, _polarity(before, term), _polarity(after, term))
    table.add_section()
    table.add_row(Text("confidence", style="cyan"), f"{before.confidence:.2f}", f"{after.confidence:.2f}")
    evaluation = episode.evaluation
    table.add_row(Text("risk", style="cyan"), _risk_text(evaluation.risk_before), _risk_text(evaluation.risk_after))
    return table


def _polarity(snapshot: SnapshotV1_1, term: str) -> Text:
    polarity = snapshot.polarities.get(term)
    if polarity is not None:
        return Text(polarity, style=_POLARITY_STYLE[polarity])
    return Text("no sentiment" if term in snapshot.aspects_norm else "absent", style="dim")


def _outcome(episode: EpisodicMemoryEntryV1_3) -> Iterator[_Field]:
    evaluation, delta = episode.evaluation, episode.outcome_delta
    by = Text(f" by {_BY[episode.outcome.by]}", style="dim")
    yield "outcome", _outcome_text(episode.outcome.value).append(by)
    for change in episode.changes:
        yield "change", f"{change.kind}, {'adopted' if change.adopted else 'refused'}"
    yield "risk change", Text.assemble(f"{delta.delta_risk:+d} " if delta.delta_risk else "0 ", _arrow_text(evaluation))
    success, harm = yes_no(evaluation.override_success), yes_no(evaluation.override_harm, alarm=True)
    applied = Text.assemble("applied; success ", success, ", harm ", harm)
    yield "override", applied if evaluation.override_applied else Text("none applied", style="dim")
    yield "conflict", _CONFLICTS[delta.conflict_resolved]
    has_failed = failed(episode)
    advice = "  (OPFB withholds advice that led to this failure)" if has_failed else ""
    yield "failed", Text.assemble(yes_no(has_failed, alarm=True), (advice, "dim"))


def _verdict(verdict: VerdictV1_3) -> _Field:
    about = "the whole result" if verdict.aspect is None else f"target {printable(verdict.aspect)}"
    return "person", f"{verdict.verdict} ({about})"


def _principle(correction: CorrectionV1_1) -> Iterator[_Field]:
    principle = load_catalogue().get(correction.principle_id)
    if principle is None:
        yield "stored text", printable(correction.corrective_principle)
        yield "avoid", printable(correction.anti_pattern or "")
        yield "remark", Text("the present catalogue has no such principle", style="yellow")
    else:
        yield "English", principle.text_en
        yield "avoid", principle.anti_pattern_en or ""
        yield "한국어", principle.text_ko
        yield "피할 것", principle.anti_pattern_ko or ""
        yield "expects", "a change of the result" if principle.expects == "change" else "the result to hold"
    yield "applies to", printable("; ".join(correction.applicable_conditions))


def _provenance(episode: EpisodicMemoryEntryV1_3) -> Iterator[_Field]:
    provenance = episode.provenance
    yield "source", printable(provenance.source_id)
    yield "split", f"{provenance.created_from_split}{', used in evaluation' if provenance.used_in_eval else ''}"
    yield "sample", f"{provenance.sample_index} (seed {provenance.seed})"
    yield "schema", f"{episode.schema_version}, without gold"


def _fields(rows: Iterable[_Field]) -> Table:
    """Return the fields that are not empty, one below the other."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True, min_width=11)
    table.add_column(overflow="fold", ratio=1)
    for name, value in rows:
        if value != "":
            table.add_row(name, value)
    return table


class EpisodeFilter(NamedTuple):
    """Which episodes are wanted; None admits any value."""

    language: Language | None = None
    episode_type: EpisodeType | None = None
    risk: RiskId | None = None
    """Among the risks before or after the decision."""

    def admits(self, episode: EpisodicMemoryEntryV1_3) -> bool:
        """Return whether the episode passes every filter."""
        evaluation = episode.evaluation
        return (
            self.language in (None, episode.input_signature.language)
            and self.episode_type in (None, episode.outcome.value)
            and (self.risk is None or self.risk in (*evaluation.risk_before.tags, *evaluation.risk_after.tags))
        )


def episode_table(
    episodes: Sequence[EpisodicMemoryEntryV1_3], wanted: EpisodeFilter, *, has_older: bool
) -> ConsoleRenderable:
    """Lay out episodes in the order given.

    Args:
        episodes: the episodes to show.
        wanted: the filter of the user, which is named if no episode matches it.
        has_older: whether the store holds episodes older than the last one shown.
    """
    if not episodes:
        filters = ", ".join(value for value in wanted if value)
        return Text(f"No episode matches {filters}." if filters else "The store is empty.", style="dim")
    table = FirstThatFits(partial(_one_line_each, episodes), partial(_several_lines_each, episodes))
    if not has_older:
        return table
    return Group(table, Text(f"Newest {len(episodes)}; --limit N shows more.", style="dim"))


def _one_line_each(episodes: Sequence[EpisodicMemoryEntryV1_3]) -> Table:
    table = _table("id", "lang", "structure", "risk (severity)", "action", "outcome", "principle", "source")
    for episode in episodes:
        table.add_row(
            Text(episode.episode_id, style="bold"),
            episode.input_signature.language,
            ", ".join(episode.input_signature.detected_structure),
            _risk_change_text(episode.evaluation),
            episode.action_taken,
            _outcome_text(episode.outcome.value),
            printable(episode.correction.principle_id),
            _source(episode),
        )
    return table


def _several_lines_each(episodes: Sequence[EpisodicMemoryEntryV1_3]) -> Table:
    """Return a table for 80 columns and less."""
    table = _table("id\nsource", "lang\nstructure", "risk before\nand after", "outcome\naction\nprinciple")
    for episode in episodes:
        evaluation, signature = episode.evaluation, episode.input_signature
        after = Text.assemble(_arrow_text(evaluation), " ", _list_in_lines(_risk_text(evaluation.risk_after)))
        table.add_row(
            Text.assemble((episode.episode_id, "bold"), "\n", _source(episode)),
            "\n".join((signature.language, *signature.detected_structure)),
            Text.assemble(_list_in_lines(_risk_text(evaluation.risk_before)), "\n", after),
            Text.assemble(
                _outcome_text(episode.outcome.value),
                f"\n{episode.action_taken}\n{printable(episode.correction.principle_id)}",
            ),
            end_section=True,
        )
    return table


def _list_in_lines(text: Text) -> Text:
    return Text(",\n").join(text.split(", "))


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    for header in headers:
        table.add_column(header, no_wrap=True, overflow="fold")
    return table


def _source(episode: EpisodicMemoryEntryV1_3) -> Text:
    return Text(printable(episode.provenance.source_id), style="dim")


def _outcome_text(outcome: EpisodeType) -> Text:
    """Return success, harm or neutral in its colour."""
    return Text(outcome, style=_OUTCOME_STYLE[outcome])


def _risk_text(risk: RiskVectorV1_1) -> Text:
    """Return the kinds of risk and their summed severity."""
    if not risk.tags and not risk.severity_sum:
        return Text("none", style="dim")
    return Text.assemble(f"{', '.join(risk.tags) or 'unnamed'} ", (str(risk.severity_sum), "bold"))


def _risk_change_text(evaluation: EvaluationV1_1) -> Text:
    """Return the risk before and after; kinds that stay the same are named once."""
    before, after = evaluation.risk_before, evaluation.risk_after
    if after == before and not before.tags:
        return _risk_text(before)
    risk_after = Text(str(after.severity_sum), style="bold") if after.tags == before.tags else _risk_text(after)
    return Text.assemble(_risk_text(before), " ", _arrow_text(evaluation), " ", risk_after)


def _arrow_text(evaluation: EvaluationV1_1) -> Text:
    """Return an arrow that falls, rises or stays level with the risk."""
    change = evaluation.risk_after.severity_sum - evaluation.risk_before.severity_sum
    if change < 0:
        return Text("↘", style="bold green")
    return Text("↗", style="bold red") if change > 0 else Text("→", style="dim")
