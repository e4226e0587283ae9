"""Gives a text one label, from its tuples and the text weights together."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.reader.korean.aspect_judgement import Judgement
from episodic_absa.reader.korean.reading import Reading, polarity_of
from episodic_absa.reader.korean.weighed_reading import WeighedReading
from episodic_absa.reader.korean.weighing import Weights3, weighed_text
from episodic_absa.vocabulary import Polarity, SentenceLabel

_SIDES: Final[tuple[Polarity, Polarity]] = ("positive", "negative")
_WEIGHT_AFTER_CONTRAST: Final = 1.5
_UNDECIDED: Final = 0.5
_FLOOR: Final = 0.005
_MOST_ODDS: Final = 30.0
_DIGITS: Final = 4


class Lean(NamedTuple):
    """What the tuples' confidences and the text's log-odds weigh in the log-odds of praise."""

    tuples: float
    text: float


class Both(NamedTuple):
    """What makes praise and blame together likely, in log-odds."""

    start: float
    weaker_side: float
    contrast: float


LEAN: Final = Lean(tuples=0.16, text=0.88)
"""Fitted on dev texts. Sixty thousand whole reviews taught the text weights: the text leads."""
BOTH: Final = Both(start=-4.26, weaker_side=4.54, contrast=1.19)
"""Fitted likewise. A weak second side is mostly wrong."""


class LabelEvidence(NamedTuple):
    """The evidence for a label."""

    by_tuples: float
    """Confidences of praise less those of blame; the clause after a contrast weighs more."""
    by_text: float
    """Log-odds of praise by the text weights."""
    weaker_side: float
    """How sure the surest tuple of the weaker side is; 0 where only one side is there."""
    has_contrast: bool


def sentence_label(reading: WeighedReading, judgements: Sequence[Judgement]) -> tuple[SentenceLabel, float]:
    """Weigh the tuples and the text as a whole into one label, with its probability or the surest tuple's if higher.

    The moderator takes the label of whoever states more. A single tuple knows its own words only; a label that weighed
    it with others that take a side must not lose to it. Where no tuple takes a side, neutral ones may win.
    """
    judged = _sided(judgements)
    whole = weighed_text(reading)
    if not judged and (whole is None or whole.best == "neutral"):
        return "neutral", whole.neutral if whole else _UNDECIDED
    evidence = label_evidence(reading, judgements)
    praise = _logistic(LEAN.tuples * evidence.by_tuples + LEAN.text * evidence.by_text)
    both = _share_of_both(evidence)
    # The text's own doubt whether anything is judged counts where no tuple says that something is.
    one_sided = (1.0 - both) * (1.0 - (whole.neutral if whole and not judged else 0.0))
    shares: dict[SentenceLabel, float] = {
        "positive": one_sided * praise,
        "negative": one_sided * (1.0 - praise),
        "mixed": both,
    }
    label = max(shares, key=lambda name: shares[name])
    surest = max(judgement.confidence for judgement in judgements) if judged else 0.0
    return label, round(max(shares[label], surest), _DIGITS)


def label_evidence(reading: WeighedReading, judgements: Sequence[Judgement]) -> LabelEvidence:
    """Collect what speaks for praise, for blame and for both."""
    judged = _sided(judgements)
    by_tuples = sum(_worth(reading, judgement) for judgement in judged)
    by_text = _log_odds(weighed_text(reading))
    if (
        len({judgement.polarity for judgement in judged}) == 1
        and by_tuples * by_text < 0
        and _is_turned_by_negation(reading)
    ):
        # The text weights count single words and miss a negation that stands far from them.
        by_text = 0.0
    surest = (
        max((judgement.confidence for judgement in judged if judgement.polarity == side), default=0.0)
        for side in _SIDES
    )
    return LabelEvidence(by_tuples, by_text, min(surest), bool(reading.contrasts))


def _sided(judgements: Sequence[Judgement]) -> list[Judgement]:
    return [judgement for judgement in judgements if judgement.polarity in _SIDES]


def _worth(reading: Reading, judgement: Judgement) -> float:
    is_later = bool(reading.clauses) and reading.clauses[reading.clause_at(judgement.start)].side > 0
    signed = judgement.confidence if judgement.polarity == "positive" else -judgement.confidence
    return signed * (_WEIGHT_AFTER_CONTRAST if is_later else 1.0)


def _share_of_both(evidence: LabelEvidence) -> float:
    """Return how likely praise and blame both are there: as sure as the weaker side, surer beside a contrast."""
    if not evidence.weaker_side:
        return 0.0
    contrast = BOTH.contrast if evidence.has_contrast else 0.0
    return _logistic(BOTH.start + BOTH.weaker_side * evidence.weaker_side + contrast)


def _log_odds(whole: Weights3 | None) -> float:
    return 0.0 if whole is None else math.log(max(whole.positive, _FLOOR) / max(whole.negative, _FLOOR))


def _logistic(odds: float) -> float:
    # A text of hundreds of tuples must not overflow exp().
    return 1.0 / (1.0 + math.exp(-max(-_MOST_ODDS, min(_MOST_ODDS, odds))))


def _is_turned_by_negation(reading: Reading) -> bool:
    """Whether a negating word turns what some opinion words say by themselves."""
    return any(polarity_of(opinion.base) != polarity_of(opinion.full) for opinion in reading.opinions)
