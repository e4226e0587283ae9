"""The first sentences of a summary: what is praised most, what is criticised most. Numbers come with their n."""

from typing import NamedTuple

from episodic_absa.reports.summary.summary import AspectGroup, Summary


class HeadSentence(NamedTuple):
    """A sentence of the page's words, and the values it needs."""

    key: str
    values: dict[str, str | int]


def headline(summary: Summary) -> tuple[HeadSentence, ...]:
    """Return the sentences: the aspect with the most positive mentions, and the one with the most negative mentions."""
    named = [aspect for aspect in summary.aspects if aspect.name]
    if not named:
        return (HeadSentence("head_nothing", {}),)
    praised = max(named, key=lambda aspect: aspect.tally.positive)
    blamed = max(named, key=lambda aspect: aspect.tally.negative)
    return (
        _sentence("head_praised", praised, positive=praised.tally.positive)
        if praised.tally.positive
        else HeadSentence("head_no_praise", {}),
        _sentence("head_blamed", blamed, negative=blamed.tally.negative)
        if blamed.tally.negative
        else HeadSentence("head_no_blame", {}),
    )


def _sentence(key: str, aspect: AspectGroup, **side: int) -> HeadSentence:
    return HeadSentence(key, {"name": aspect.name, "mentions": aspect.tally.mentions, **side})
