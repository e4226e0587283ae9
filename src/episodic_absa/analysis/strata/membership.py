"""The strata that each sample belongs to, from the scorecards of a comparison.

What divides the reviews must not be changed by what is compared. Everything is therefore read from side B, the
baseline, or is fixed before memory is shown: the text, Stage1, the place in the order. Only principles come from side
A, since a baseline without memory is offered none; they are chosen before the sample's first prompt with memory.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import RISK_IDS, STRUCTURES, StratumName

PairKey = tuple[str, int, int]
"""uid, order and seed."""
Structures = Mapping[str, Sequence[str]]
"""uid -> the structures of the review."""
NONE: Final = "none"
"""The stratum of samples without a risk, or without an offered principle."""
UNKNOWN: Final = "unknown"
"""The stratum of reviews whose structures are not on record."""
_QUARTERS: Final = 4
_KNOWN_ORDER: Final = ("ko", "en", "other", *RISK_IDS, *(name for name in STRUCTURES if name != NONE))


def key_of(card: Scorecard) -> PairKey:
    """Return what a sample is paired by."""
    return card.uid, card.order, card.seed


def strata_by_key(
    by: StratumName, cards_a: Sequence[Scorecard], cards_b: Sequence[Scorecard], structures: Structures
) -> dict[PairKey, tuple[str, ...]]:
    """Return the strata of every sample of side B; for principles those of the side that was offered any.

    Args:
        by: what divides the samples.
        cards_a: the samples of side A.
        cards_b: the samples of side B, the baseline.
        structures: the structures of each review; only read for `by="structure"`.
    """
    strata_of: Callable[[Scorecard], tuple[str, ...]]
    cards = cards_b
    match by:
        case "language":
            strata_of = _language
        case "domain":
            strata_of = _domain
        case "structure":
            strata_of = _structures(structures)
        case "risk":
            strata_of = _risks
        case "principle":
            strata_of = _principles
            cards = cards_a if any(map(_offered, cards_a)) else cards_b
        case "quarter":
            strata_of = _quarters(cards_b)
    return {key_of(card): strata_of(card) for card in cards if card.status == "ok"}


def in_table_order(strata: Iterable[str]) -> list[str]:
    """Sort strata as tables show them: known words in their own order, others by name, none and unknown last."""
    return sorted(strata, key=_place)


def _place(stratum: str) -> tuple[bool, int, str]:
    known = _KNOWN_ORDER.index(stratum) if stratum in _KNOWN_ORDER else len(_KNOWN_ORDER)
    return stratum in (NONE, UNKNOWN), known, stratum


def _language(card: Scorecard) -> tuple[str, ...]:
    return (card.language_code,)


def _domain(card: Scorecard) -> tuple[str, ...]:
    return (card.domain_id,)


def _structures(structures: Structures) -> Callable[[Scorecard], tuple[str, ...]]:
    return lambda card: tuple(structures.get(card.uid, ())) or (UNKNOWN,)


def _risks(card: Scorecard) -> tuple[str, ...]:
    return tuple(dict.fromkeys(risk.type for risk in card.risks_s1)) or (NONE,)


def _offered(card: Scorecard) -> tuple[str, ...]:
    return card.memory.offered_principles if card.memory else ()


def _principles(card: Scorecard) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_offered(card))) or (NONE,)


def _quarters(cards: Sequence[Scorecard]) -> Callable[[Scorecard], tuple[str, ...]]:
    """Divide each cell by its own order of samples."""
    sizes: dict[tuple[int, int], int] = {}
    for card in cards:
        cell = (card.order, card.seed)
        sizes[cell] = max(sizes.get(cell, 0), card.sample_index + 1)
    return lambda card: (str(1 + _QUARTERS * card.sample_index // sizes[card.order, card.seed]),)
