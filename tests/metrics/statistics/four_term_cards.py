"""Scorecards with just what a comparison reads: gold of four terms, of which so many were found."""

from collections.abc import Iterable, Mapping, Sequence

from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.scorecard import JudgedSentiment, ModeratorScore, Scorecard, UsageSums

TERMS = ("food", "staff", "price", "room")


def make_card(
    uid: str, *, seed: int = 1, found: int = 4, failed: bool = False, gold: bool = True, tokens: int = 100
) -> Scorecard:
    tuples = tuple(
        FinalTuple(aspect_term=term, polarity="positive", confidence=0.9, grounding="explicit")
        for term in TERMS[:found]
    )
    return Scorecard(
        run_id="made",
        uid=uid,
        sample_index=0,
        status="error" if failed else "ok",
        error_type="provider_error" if failed else None,
        condition="C1",
        memory_mode="off",
        seed=seed,
        language_code="en",
        split="valid",
        domain_id="d",
        case_type="c",
        cfg_hash="0" * 64,
        stage1_tuples=() if failed else tuples,
        final_tuples=() if failed else tuples,
        gold_tuples=tuple(GoldTuple(aspect_term=term, polarity="positive") for term in TERMS) if gold else None,
        label=None if failed else "positive",
        implicit_grounding_candidate=None if failed else False,
        moderator=None if failed else ModeratorScore(selected_stage="stage1", applied_rules=("A",)),
        sentiments_judged=tuple(
            JudgedSentiment(
                aspect_term=item.aspect_term,
                polarity="positive",
                term_in_text=True,
                grounded=True,
                evidence_in_text=True,
            )
            for item in (() if failed else tuples)
        ),
        usage=UsageSums(calls=10, attempts=10, tokens_in=tokens, tokens_out=tokens),
    )


def make_cards(found: Mapping[str, int] | Sequence[int], *, seeds: Iterable[int] = (1,)) -> list[Scorecard]:
    """Make a card per uid and seed; a list of numbers gives uids r000, r001, ..."""
    by_uid = found if isinstance(found, Mapping) else {f"r{place:03d}": count for place, count in enumerate(found)}
    return [make_card(uid, seed=seed, found=count) for uid, count in by_uid.items() for seed in seeds]


def f1(found: int) -> float:
    """F1 of so many true predictions out of four."""
    return 2 * found / (found + 4)
