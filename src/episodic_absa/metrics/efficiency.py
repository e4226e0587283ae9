"""Sample counts, calls, tokens and cost. Latency is not here: it stands in the traces."""

from collections.abc import Iterator, Sequence
from math import fsum

from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import has_invalid_gold, successful_cards, valid_gold
from episodic_absa.metrics.ratios import count, rate, unknown
from episodic_absa.schemas.run_files.scorecard import Scorecard

_USAGE = ("calls", "attempts", "tokens_in", "tokens_out")
_UNKNOWN_PRICE = "a price is not known"


def compute_efficiency(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    """Yield sample counts and usage.

    Means are over successful samples; totals include failed ones. The cost is None if any price is unknown.
    """
    ok = successful_cards(cards)
    yield count("n_samples", len(cards))
    yield count("n_ok", len(ok))
    yield count("n_error", len(cards) - len(ok))
    yield count("n_gold", sum(valid_gold(card) is not None for card in ok))
    yield count("gold_invalid_n", sum(map(has_invalid_gold, ok)))
    for name in _USAGE:
        yield rate(name, sum(getattr(card.usage, name) for card in ok), len(ok))
        yield count(f"{name}_total", sum(getattr(card.usage, name) for card in cards))
    cost, total = _cost(ok), _cost(cards)
    yield rate("cost_usd", cost, len(ok), note="" if cost is not None else _UNKNOWN_PRICE)
    yield unknown("cost_usd_total", note=_UNKNOWN_PRICE) if total is None else count("cost_usd_total", total)


def _cost(cards: Sequence[Scorecard]) -> float | None:
    costs = [card.usage.cost_usd for card in cards]
    return None if None in costs else fsum(cost or 0.0 for cost in costs)
