"""The words of an episode, styled for a terminal. Colour only repeats what the words and arrows say."""

from typing import Final

from rich.text import Text

from episodic_absa.schemas.memory_v1_1 import EvaluationV1_1, RiskVectorV1_1
from episodic_absa.vocabulary import EpisodeType, Polarity

OUTCOME_STYLE: Final[dict[EpisodeType, str]] = {"success": "green", "harm": "red", "neutral": "yellow"}
POLARITY_STYLE: Final[dict[Polarity, str]] = {"positive": "green", "negative": "red", "neutral": "yellow"}


def outcome_text(outcome: EpisodeType) -> Text:
    """Return success, harm or neutral in its colour."""
    return Text(outcome, style=OUTCOME_STYLE[outcome])


def risk_text(risk: RiskVectorV1_1) -> Text:
    """Return the kinds of risk and their summed severity."""
    if not risk.tags and not risk.severity_sum:
        return Text("none", style="dim")
    return Text.assemble(f"{', '.join(risk.tags) or 'unnamed'} ", (str(risk.severity_sum), "bold"))


def risk_change_text(evaluation: EvaluationV1_1) -> Text:
    """Return the risk before and after; kinds that stay the same are named once."""
    before, after = evaluation.risk_before, evaluation.risk_after
    if after == before and not before.tags:
        return risk_text(before)
    risk_after = Text(str(after.severity_sum), style="bold") if after.tags == before.tags else risk_text(after)
    return Text.assemble(risk_text(before), " ", arrow_text(evaluation), " ", risk_after)


def arrow_text(evaluation: EvaluationV1_1) -> Text:
    """Return an arrow that falls, rises or stays level with the risk."""
    change = evaluation.risk_after.severity_sum - evaluation.risk_before.severity_sum
    if change < 0:
        return Text("↘", style="bold green")
    return Text("↗", style="bold red") if change > 0 else Text("→", style="dim")


def yes_no(flag: bool | None, *, alarm: bool = False) -> Text:  # noqa: FBT001 - the flag is the subject
    """Return yes, no or not applicable; `alarm` colours a yes that is bad news."""
    if flag is None:
        return Text("not applicable", style="dim")
    if flag:
        return Text("yes", style="red" if alarm else "green")
    return Text("no", style="dim")
