"""How the words of an episode look on a terminal. Colour only repeats what the words and arrows say."""

from typing import Final

from rich.text import Text

from episodic_absa.schemas.memory_v1_1 import EvaluationV1_1, RiskVectorV1_1
from episodic_absa.vocabulary import EpisodeType, Polarity

OUTCOME_STYLE: Final[dict[EpisodeType, str]] = {"success": "green", "harm": "red", "neutral": "yellow"}
POLARITY_STYLE: Final[dict[Polarity, str]] = {"positive": "green", "negative": "red", "neutral": "yellow"}


def outcome_text(outcome: EpisodeType) -> Text:
    """Render success, harm or neutral."""
    return Text(outcome, style=OUTCOME_STYLE[outcome])


def risk_text(risk: RiskVectorV1_1) -> Text:
    """Render kinds of risk and their summed severity."""
    if not risk.tags and not risk.severity_sum:
        return Text("none", style="dim")
    return Text.assemble(f"{', '.join(risk.tags) or 'unnamed'} ", (str(risk.severity_sum), "bold"))


def risk_change_text(evaluation: EvaluationV1_1) -> Text:
    """Render risk before and after on one line; kinds that stay the same are named once."""
    before, after = evaluation.risk_before, evaluation.risk_after
    told_after = Text(str(after.severity_sum), style="bold") if after.tags == before.tags else risk_text(after)
    if after == before and not before.tags:
        return risk_text(before)
    return Text(" ").join([risk_text(before), arrow_text(evaluation), told_after])


def broken_at_commas(text: Text) -> Text:
    """Set each item of a list on a line of its own."""
    lines = text.split(", ")
    return Text(",\n").join(lines)


def arrow_text(evaluation: EvaluationV1_1) -> Text:
    """Render an arrow that falls, rises or stays level with the risk."""
    change = evaluation.risk_after.severity_sum - evaluation.risk_before.severity_sum
    if change < 0:
        return Text("↘", style="bold green")
    return Text("↗", style="bold red") if change > 0 else Text("→", style="dim")


def yes_no(flag: bool | None, *, alarm: bool = False) -> Text:  # noqa: FBT001 - the flag is the subject
    """Render a flag; `alarm` marks a yes that is bad news."""
    if flag is None:
        return Text("not applicable", style="dim")
    if flag:
        return Text("yes", style="red" if alarm else "green")
    return Text("no", style="dim")
