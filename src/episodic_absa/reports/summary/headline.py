"""The first sentences of a summary: what is praised most, what is criticised most. Numbers come with their n."""

from typing import NamedTuple

from episodic_absa.reports.summary.summary import AspectGroup, Summary


class HeadSentence(NamedTuple):
    """A sentence of the page's words, and the values it needs."""

    key: str
    values: dict[str, str | int]


def headline(summary: Summary) -> tuple[HeadSentence, ...]:
    """Return the sentences. Praised most is the aspect with the most positive mentions beyond its negative ones."""
    named = [aspect for aspect in summary.aspects if aspect.name]
    if not named:
        return (HeadSentence("head_nothing", {}),)
    praised, blamed = max(named, key=_surplus), min(named, key=_surplus)
    return (
        _sentence("head_praised", praised) if _surplus(praised) > 0 else HeadSentence("head_no_praise", {}),
        _sentence("head_blamed", blamed) if _surplus(blamed) < 0 else HeadSentence("head_no_blame", {}),
    )


def _surplus(aspect: AspectGroup) -> int:
    return aspect.tally.positive - aspect.tally.negative


def _sentence(key: str, aspect: AspectGroup) -> HeadSentence:
    side = {"positive": aspect.tally.positive} if key == "head_praised" else {"negative": aspect.tally.negative}
    return HeadSentence(key, {"name": aspect.name, "mentions": aspect.tally.mentions, **side})
