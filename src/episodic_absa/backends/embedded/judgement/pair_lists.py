"""Compares two lists of pairs by the engine's own reading: the referee of rules v3."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import find_term
from episodic_absa.backends.embedded.judgement.target_union import support
from episodic_absa.backends.embedded.model.weighing import weigh, weighed_polarity
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.answers import Choice
from episodic_absa.schemas.role_inputs import ListedPair

_EVEN: Final = 0.5
"""How likely a pair is of which the reading knows nothing: listing it is as good as leaving it out."""
_CLEAR_MARGIN: Final = 0.1


def likelier_list(reading: WeighedReading, list_a: Sequence[ListedPair], list_b: Sequence[ListedPair]) -> Choice:
    """Return the list whose own pairs are likelier, `equal` if neither is clearly so."""
    shared = {_key(pair) for pair in list_a} & {_key(pair) for pair in list_b}
    margin = _gain(reading, list_a, shared) - _gain(reading, list_b, shared)
    if abs(margin) < _CLEAR_MARGIN:
        return "equal"
    return "A" if margin > 0 else "B"


def _key(pair: ListedPair) -> tuple[str, str]:
    return norm(pair.aspect_term), pair.polarity


def _gain(reading: WeighedReading, pairs: Sequence[ListedPair], shared: set[tuple[str, str]]) -> float:
    return sum(_likelihood(reading, pair) - _EVEN for pair in pairs if _key(pair) not in shared)


def _likelihood(reading: WeighedReading, pair: ListedPair) -> float:
    place = find_term(reading, pair.aspect_term)
    weighed = weighed_polarity(reading, pair.aspect_term, place) if place else None
    if place is None or weighed is None:
        return _EVEN
    return support(reading, weigh(reading), *place) * float(getattr(weighed, pair.polarity))
