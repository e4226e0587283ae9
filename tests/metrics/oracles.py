"""Every metric once more, in a few plain lines each, straight from its definition. Slow and simple on purpose.

Where the definition leaves room, the reading taken here is named beside the function.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, permutations
from statistics import fmean
from typing import NamedTuple

from episodic_absa.language import norm
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.sample_record import DebateScore
from episodic_absa.schemas.run_files.scorecard import (
    AdoptionScore,
    ModeratorScore,
    OverrideScore,
    Scorecard,
    ScoredRisk,
    StageDelta,
)
from episodic_absa.vocabulary import SEVERITY_WEIGHT, Polarity

Pair = tuple[str, str]
Pairs = frozenset[Pair]
CardTest = Callable[[Scorecard], bool]


class Ratio(NamedTuple):
    """A numerator over a denominator, null if the denominator is empty."""

    numerator: float
    denominator: float

    @property
    def value(self) -> float | None:
        return self.numerator / self.denominator if self.denominator else None


def share(cards: Iterable[Scorecard], test: CardTest, *, among: CardTest = lambda _: True) -> Ratio:
    """Cards that pass the test / cards, both among those named."""
    chosen = [card for card in cards if among(card)]
    return Ratio(sum(map(test, chosen)), len(chosen))


def mean(values: Iterable[float]) -> Ratio:
    found = list(values)
    return Ratio(sum(found), len(found))


# The parts that every ok card has.


def ok(cards: Iterable[Scorecard]) -> list[Scorecard]:
    """N = samples with status ok."""
    return [card for card in cards if card.status == "ok"]


def delta(card: Scorecard) -> StageDelta:
    assert card.stage_delta is not None
    return card.stage_delta


def memory(card: Scorecard) -> MemoryMeta:
    assert card.memory is not None
    return card.memory


def adoption(card: Scorecard) -> AdoptionScore:
    assert card.adoption is not None
    return card.adoption


def override(card: Scorecard) -> OverrideScore:
    assert card.override is not None
    return card.override


def debate(card: Scorecard) -> DebateScore:
    assert card.debate is not None
    return card.debate


def moderator(card: Scorecard) -> ModeratorScore:
    assert card.moderator is not None
    return card.moderator


def before(card: Scorecard) -> RiskVectorV1_1:
    assert card.risk_before is not None
    return card.risk_before


def after(card: Scorecard) -> RiskVectorV1_1:
    assert card.risk_after is not None
    return card.risk_after


# Quality


def predicted(tuples: Iterable[FinalTuple], *, count_backfilled: bool = False) -> list[FinalTuple]:
    """Predictions exclude backfills unless count_backfilled."""
    return [item for item in tuples if count_backfilled or not item.is_backfilled]


def pairs(tuples: Iterable[FinalTuple], *, count_backfilled: bool = False) -> Pairs:
    """Pair = (norm(aspect_term), polarity)."""
    return frozenset(
        (norm(item.aspect_term), item.polarity) for item in predicted(tuples, count_backfilled=count_backfilled)
    )


def has_valid_gold(card: Scorecard) -> bool:
    return card.gold_tuples is not None and all(gold_tuple.polarity is not None for gold_tuple in card.gold_tuples)


def gold_pairs(card: Scorecard) -> Pairs:
    assert card.gold_tuples is not None
    return frozenset(
        (norm(gold_tuple.aspect_term), gold_tuple.polarity)
        for gold_tuple in card.gold_tuples
        if gold_tuple.polarity is not None
    )


def explicit(found: Pairs) -> Pairs:
    return frozenset(pair for pair in found if pair[0])


def implicit(found: Pairs) -> Pairs:
    return frozenset(pair for pair in found if not pair[0])


def f1(found: Pairs, right: Pairs) -> float:
    """P, R, F1 over pair sets; a sample with gold and no prediction scores 0."""
    hits = len(found & right)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(found), hits / len(right)
    return 2 * precision * recall / (precision + recall)


def f1_explicit(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    right = explicit(gold_pairs(card)) if has_valid_gold(card) else frozenset()
    return f1(explicit(pairs(card.final_tuples, count_backfilled=count_backfilled)), right) if right else None


def f1_implicit(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    right = implicit(gold_pairs(card)) if has_valid_gold(card) else frozenset()
    return f1(implicit(pairs(card.final_tuples, count_backfilled=count_backfilled)), right) if right else None


def f1_overall(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    if not has_valid_gold(card):
        return None
    return f1(pairs(card.final_tuples, count_backfilled=count_backfilled), gold_pairs(card))


def f1_lenient(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    """Equal pairs first; then each empty-term gold may take one unmatched prediction of its polarity."""
    if not has_valid_gold(card):
        return None
    found, right = pairs(card.final_tuples, count_backfilled=count_backfilled), gold_pairs(card)
    hits = len(found & right)
    free = sorted(found - right)
    for _, polarity in implicit(right - found):
        taken = next((pair for pair in free if pair[1] == polarity), None)
        if taken:
            free.remove(taken)
            hits += 1
    return 2 * hits / (len(found) + len(right)) if found or right else None


def representatives(tuples: Iterable[FinalTuple]) -> list[FinalTuple]:
    """Return the representative of an aspect: explicit first, then confidence, then order."""
    by_aspect: dict[str, list[FinalTuple]] = {}
    for item in tuples:
        by_aspect.setdefault(norm(item.aspect_term), []).append(item)
    return [
        max(group, key=lambda candidate: (candidate.grounding == "explicit", candidate.confidence))
        for group in by_aspect.values()
    ]


def f1_after_rep(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    """Reading: predictions are reduced; gold, which has no confidence, is not."""
    if not has_valid_gold(card):
        return None
    chosen = representatives(predicted(card.final_tuples, count_backfilled=count_backfilled))
    return f1(pairs(chosen, count_backfilled=count_backfilled), gold_pairs(card))


def f1_generalized(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    """The best one-to-one matching by trying all of them, for terms that are either equal or unrelated."""
    if not has_valid_gold(card):
        return None
    found, right = sorted(pairs(card.final_tuples, count_backfilled=count_backfilled)), sorted(gold_pairs(card))
    if not found or not right:
        return 0.0
    short, long = sorted((found, right), key=len)
    hits = max(sum(a == b for a, b in zip(short, order, strict=True)) for order in permutations(long, len(short)))
    return 2 * hits / (len(found) + len(right))


def is_exact(card: Scorecard, tuples: Iterable[FinalTuple], *, count_backfilled: bool = False) -> bool:
    return pairs(tuples, count_backfilled=count_backfilled) == gold_pairs(card)


MACRO: dict[str, Callable[..., float | None]] = {
    "tuple_f1_explicit": f1_explicit,
    "tuple_f1_overall": f1_overall,
    "tuple_f1_implicit": f1_implicit,
    "tuple_f1_lenient": f1_lenient,
    "tuple_f1_after_rep": f1_after_rep,
    "generalized_f1@0.95": f1_generalized,
}


def macro(name: str, cards: Iterable[Scorecard], *, count_backfilled: bool = False) -> Ratio:
    """The macro mean over the samples that take part."""
    scores = [MACRO[name](card, count_backfilled=count_backfilled) for card in ok(cards)]
    return mean(score for score in scores if score is not None)


def f1_explicit_micro(cards: Iterable[Scorecard], *, count_backfilled: bool = False) -> Ratio:
    """The same (samples with explicit gold) from pooled TP, FP, FN."""
    hits = wrong = missed = 0
    for card in ok(cards):
        right = explicit(gold_pairs(card)) if has_valid_gold(card) else frozenset()
        if right:
            found = explicit(pairs(card.final_tuples, count_backfilled=count_backfilled))
            hits, wrong, missed = hits + len(found & right), wrong + len(found - right), missed + len(right - found)
    return Ratio(2 * hits, 2 * hits + wrong + missed)


def delta_f1(card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    last = f1_explicit(card, count_backfilled=count_backfilled)
    first = f1_explicit(as_stage1(card), count_backfilled=count_backfilled)
    return None if last is None or first is None else last - first


def as_stage1(card: Scorecard) -> Scorecard:
    """Suffix _s1 = the same over stage1_tuples."""
    return card.model_copy(update={"final_tuples": card.stage1_tuples})


def exact_match(cards: Iterable[Scorecard], *, count_backfilled: bool = False) -> Ratio:
    return share(
        ok(cards), lambda c: is_exact(c, c.final_tuples, count_backfilled=count_backfilled), among=has_valid_gold
    )


def corrections(cards: Iterable[Scorecard], *, count_backfilled: bool = False) -> dict[str, Ratio]:
    moves: Counter[tuple[bool, bool]] = Counter()
    for card in ok(cards):
        if has_valid_gold(card):
            first = is_exact(card, card.stage1_tuples, count_backfilled=count_backfilled)
            moves[first, is_exact(card, card.final_tuples, count_backfilled=count_backfilled)] += 1
    fix, broke, still, keep = moves[False, True], moves[True, False], moves[False, False], moves[True, True]
    return {
        "fix_rate": Ratio(fix, fix + still),
        "break_rate": Ratio(broke, broke + keep),
        "net_gain": Ratio(fix - broke, fix + broke + still + keep),
        "correction_precision": Ratio(fix, fix + broke),
    }


def implicit_invalid(cards: Iterable[Scorecard], *, count_backfilled: bool = False) -> Ratio:
    """Reading: any predicted empty term is a valid implicit prediction; its polarity is scored elsewhere."""
    return share(
        ok(cards),
        lambda c: not implicit(pairs(c.final_tuples, count_backfilled=count_backfilled)),
        among=lambda c: has_valid_gold(c) and bool(implicit(gold_pairs(c))),
    )


def as_baseline(card: Scorecard, polarity: Polarity) -> Scorecard:
    """Kept Stage1 ATE terms with the majority polarity.

    Reading: a kept term has a sentiment or a backfill, so the kept terms are the explicit terms of stage1_tuples.
    """
    guessed = [
        item.model_copy(update={"polarity": polarity, "is_backfilled": False})
        for item in card.stage1_tuples
        if item.aspect_term
    ]
    return card.model_copy(update={"final_tuples": tuple(guessed)})


# RQ1


def severe(card: Scorecard, *, count_backfilled: bool = False) -> Ratio:
    """Severe errors of one sample / its explicit final tuples whose term is a gold term."""
    right: dict[str, set[str]] = {}
    for term, polarity in gold_pairs(card):
        right.setdefault(term, set()).add(polarity)
    about_gold = [
        item
        for item in predicted(card.final_tuples, count_backfilled=count_backfilled)
        if item.aspect_term and norm(item.aspect_term) in right
    ]
    return Ratio(
        sum(prediction.polarity not in right[norm(prediction.aspect_term)] for prediction in about_gold),
        len(about_gold),
    )


def conflict(tuples: Iterable[FinalTuple], *, count_backfilled: bool = False) -> bool:
    """Conflict = one normalised aspect with >= 2 distinct polarities. Reading: the empty term is such an aspect."""
    found = pairs(tuples, count_backfilled=count_backfilled)
    return any(n > 1 for n in Counter(term for term, _ in found).values())


def bucket(card: Scorecard, *, count_backfilled: bool = False) -> str:
    """The bucket of sentiments_judged[0]. Reading: of the first tuple that is a prediction, no backfill."""
    has_label = moderator(card).applied_rules != ("Z",)
    real = [
        judged
        for item, judged in zip(card.final_tuples, card.sentiments_judged, strict=True)
        if count_backfilled or not item.is_backfilled
    ]
    if not real:
        return "implicit" if has_label else "unsupported"
    first = real[0]
    if first.aspect_term == "":
        return "implicit"
    if not first.grounded:
        return "implicit" if card.implicit_grounding_candidate and has_label else "explicit_failure"
    return "explicit" if first.evidence_in_text else "unsupported"


def dropped(card: Scorecard, reason: str) -> bool:
    return any(drop.drop_reason == reason for drop in card.drops)


# RQ2


def trials(by_seed: Mapping[int, Sequence[Scorecard]]) -> dict[str, list[Scorecard]]:
    """Uids with >= 2 trials, each with its trials in seed order."""
    found: dict[str, list[Scorecard]] = {}
    for seed in sorted(by_seed):
        for card in ok(by_seed[seed]):
            found.setdefault(card.uid, []).append(card)
    return {uid: cards for uid, cards in found.items() if len(cards) > 1}


def stability(by_seed: Mapping[int, Sequence[Scorecard]], *, count_backfilled: bool = False) -> dict[str, Ratio]:
    eligible = trials(by_seed).values()
    steps = [(a.label, b.label) for cards in eligible for a, b in pairwise(cards)]
    return {
        "tuple_agreement_rate": mean(
            len({pairs(c.final_tuples, count_backfilled=count_backfilled) for c in cards}) == 1 for cards in eligible
        ),
        "self_consistency": mean(len({c.label for c in cards}) == 1 for cards in eligible),
        "variance": mean(1 - Counter(c.label for c in cards).most_common(1)[0][1] / len(cards) for cards in eligible),
        "flip_flop_rate": Ratio(sum(a != b for a, b in steps), len(steps)),
    }


# RQ3


def severity(risks: Iterable[ScoredRisk]) -> int:
    return sum(SEVERITY_WEIGHT[risk.severity] for risk in risks)


def flagged(card: Scorecard) -> bool:
    return bool(card.stage1_structural_risk)


def changed(card: Scorecard) -> bool:
    return delta(card).changed


def unchanged(card: Scorecard) -> bool:
    return not delta(card).changed


def delta_risk(card: Scorecard) -> int:
    return after(card).severity_sum - before(card).severity_sum


def residual(card: Scorecard, *, count_backfilled: bool = False) -> bool:
    """risk_after non-empty or final conflict or unsupported."""
    return (
        bool(after(card).tags)
        or conflict(card.final_tuples, count_backfilled=count_backfilled)
        or bucket(card, count_backfilled=count_backfilled) == "unsupported"
    )


def decisions(card: Scorecard) -> int:
    return sum(override(card).skip_counts.values()) + delta(card).override_gate_applied_n


def fell(card: Scorecard) -> bool:
    """Severity fell (Validator2 vs Stage1)."""
    return severity(card.risks_s2) < severity(card.risks_s1)


def rq3(cards: Sequence[Scorecard], *, count_backfilled: bool = False) -> dict[str, Ratio]:
    n = ok(cards)

    def gate_applied(card: Scorecard) -> bool:
        return delta(card).override_gate_applied_n > 0

    def applied(card: Scorecard) -> bool:
        return delta(card).override_applied

    def turns(kind: str) -> int:
        return sum(count for card in n for name, count in debate(card).mapping_stats.items() if name == kind)

    direct, fallback, none = turns("direct"), turns("fallback"), turns("none")
    invalid, valid = sum(debate(c).hint_invalid_n for c in n), sum(debate(c).hint_valid_n for c in n)
    read = sum(c.polarity_read_count for c in n)
    return {
        "risk_flagged_rate": share(n, flagged),
        "validator_clear_rate": share(n, lambda c: not c.risks_s2, among=lambda c: bool(c.risks_s1)),
        "validator_residual_risk_rate": share(n, lambda c: bool(c.risks_s2)),
        "outcome_residual_risk_rate": share(n, lambda c: residual(c, count_backfilled=count_backfilled)),
        "risk_before_mean": mean(before(c).severity_sum for c in n),
        "risk_after_mean": mean(after(c).severity_sum for c in n),
        "delta_risk_mean": mean(map(delta_risk, n)),
        "risk_resolved_with_change_rate": share(n, fell, among=changed),
        "risk_resolved_without_change_rate": share(n, fell, among=unchanged),
        "risk_affected_change_rate": share(n, changed, among=flagged),
        "ignored_proposal_rate": share(n, unchanged, among=flagged),
        "changed_rate": share(n, changed),
        "guided_change_rate": share(n, lambda c: delta(c).change_type == "guided", among=changed),
        "unguided_drift_rate": share(n, lambda c: delta(c).change_type == "unguided"),
        "override_applied_rate": share(n, applied),
        "override_skipped_rate": share(n, lambda c: not gate_applied(c), among=lambda c: decisions(c) > 0),
        "override_success_rate": share(n, lambda c: override(c).success, among=applied),
        "override_harm_rate": share(n, lambda c: override(c).harm, among=applied),
        "override_ev_rejected_rate": share(n, lambda c: not adoption(c).adopt, among=gate_applied),
        "hint_invalid_rate": Ratio(invalid, valid + invalid),
        "polarity_repair_rate": Ratio(sum(c.polarity_repair_count for c in n), read),
        "polarity_invalid_rate": Ratio(sum(c.polarity_invalid_count for c in n), read),
        "mapping_coverage": Ratio(direct + fallback, direct + fallback + none),
        "mapping_direct": Ratio(direct, direct + fallback + none),
        "mapping_fallback": Ratio(fallback, direct + fallback + none),
        "mapping_none": Ratio(none, direct + fallback + none),
    }


# Memory and impact


def retrieved(card: Scorecard) -> bool:
    return memory(card).retrieved_k > 0


def exposed(card: Scorecard) -> bool:
    return memory(card).exposed_to_debate or memory(card).exposed_to_stage2


def injected(card: Scorecard) -> bool:
    return memory(card).prompt_injection_chars > 0 or memory(card).stage2_memory_prompt_injection_chars > 0


def memory_rates(cards: Sequence[Scorecard]) -> dict[str, Ratio]:
    n = ok(cards)
    return {
        "memory_retrieved_rate": share(n, retrieved),
        "memory_available_rate": share(n, lambda c: retrieved(c) and exposed(c)),
        "memory_injected_rate": share(n, injected),
        "memory_used_rate": share(n, injected),
        "memory_used_changed_rate": share(n, changed, among=injected),
    }


def present(card: Scorecard) -> bool:
    """>= 1 advisory injected: advisory_expects is null without one (a slot may hold warnings alone)."""
    return memory(card).advisory_expects is not None


def followed(card: Scorecard) -> bool:
    return (memory(card).advisory_expects == "change" and changed(card)) or (
        memory(card).advisory_expects == "hold" and unchanged(card)
    )


def ignored(card: Scorecard) -> bool:
    return present(card) and not followed(card)


def impact(cards: Sequence[Scorecard]) -> dict[str, Ratio]:
    n = ok(cards)
    return {
        "follow_rate": share(n, followed, among=present),
        "mean_delta_risk_followed": mean(delta_risk(c) for c in n if followed(c)),
        "mean_delta_risk_ignored": mean(delta_risk(c) for c in n if ignored(c)),
        "harm_rate_followed": share(n, lambda c: delta_risk(c) > 0, among=followed),
        "harm_rate_ignored": share(n, lambda c: delta_risk(c) > 0, among=ignored),
    }


def growth_line(window: Sequence[Scorecard], *, count_backfilled: bool = False) -> dict[str, object]:
    """One line of the growth curve."""
    last = window[-1]
    scores = [score for card in window if (score := f1_explicit(card, count_backfilled=count_backfilled)) is not None]
    return {
        "window_end_sample": last.sample_index,
        "window_size": len(window),
        "memory_mode": last.memory_mode,
        "store_size": last.store_size_after,
        "store_new_entry_rate": share(window, lambda c: c.store_decision == "stored").value,
        "advisory_presence_rate": share(window, present).value,
        **{name: ratio.value for name, ratio in impact(window).items()},
        "retrieval_hit_k": share(window, retrieved).value,
        "mean_tuple_f1_explicit": fmean(scores) if scores else None,
    }
