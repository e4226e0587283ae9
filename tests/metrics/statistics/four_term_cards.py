"""Scorecards with just what a comparison reads: gold of four terms, of which so many were found."""

from collections.abc import Iterable, Mapping, Sequence

from tests.metrics.drawn_cards import error_card, final_tuple, gold, ok_card

from episodic_absa.schemas.run_files.scorecard import Scorecard, UsageSums

TERMS = ("food", "staff", "price", "room")
GOLD = gold(*((term, "positive") for term in TERMS))


def make_card(
    uid: str, *, seed: int = 1, found: int = 4, failed: bool = False, has_gold: bool = True, tokens: int = 100
) -> Scorecard:
    gold_tuples = GOLD if has_gold else None
    usage = UsageSums(calls=10, attempts=10, tokens_in=tokens, tokens_out=tokens)
    if failed:
        return error_card(uid, seed=seed, gold_tuples=gold_tuples, usage=usage)
    tuples = [final_tuple(term) for term in TERMS[:found]]
    return ok_card(uid, seed=seed, stage1=tuples, gold_tuples=gold_tuples, usage=usage)


def make_cards(found: Mapping[str, int] | Sequence[int], *, seeds: Iterable[int] = (1,)) -> list[Scorecard]:
    """Make a card per uid and seed; a list of numbers gives uids r000, r001, ..."""
    by_uid = found if isinstance(found, Mapping) else {f"r{place:03d}": count for place, count in enumerate(found)}
    return [make_card(uid, seed=seed, found=count) for uid, count in by_uid.items() for seed in seeds]


def f1(found: int) -> float:
    """F1 of so many true predictions out of four."""
    return 2 * found / (found + 4)
