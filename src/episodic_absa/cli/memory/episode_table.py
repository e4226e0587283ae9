"""The table of `memory list`: one line per episode on a wide terminal, several on a narrow one."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.memory.episode_words import arrow_text, outcome_text, risk_change_text, risk_text
from episodic_absa.cli.output import FirstThatFits, printable
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import EpisodeType, Language, RiskId


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
            risk_change_text(episode.evaluation),
            episode.action_taken,
            outcome_text(episode.outcome.value),
            printable(episode.correction.principle_id),
            _source(episode),
        )
    return table


def _several_lines_each(episodes: Sequence[EpisodicMemoryEntryV1_3]) -> Table:
    """Return a table for 80 columns and less."""
    table = _table("id\nsource", "lang\nstructure", "risk before\nand after", "outcome\naction\nprinciple")
    for episode in episodes:
        evaluation, signature = episode.evaluation, episode.input_signature
        after = Text.assemble(arrow_text(evaluation), " ", _list_in_lines(risk_text(evaluation.risk_after)))
        table.add_row(
            Text.assemble((episode.episode_id, "bold"), "\n", _source(episode)),
            "\n".join((signature.language, *signature.detected_structure)),
            Text.assemble(_list_in_lines(risk_text(evaluation.risk_before)), "\n", after),
            Text.assemble(
                outcome_text(episode.outcome.value),
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
