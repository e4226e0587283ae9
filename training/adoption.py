"""Fits the rules by which changes are adopted, from recorded outputs and gold, and writes adoption_rules.yaml.

python training/adoption.py --run RUN/outputs.jsonl GOLD.jsonl [--run ...] [--rules FILE] [--out FILE]

The outputs come from runs under `rules: v3`; use recordings of dev or train files, never of test files. Three forms
are compared on texts that did not fit them (five folds by the hash of the uid): the given rules as they are, a fitted
table and fitted weights. The simplest form within TOLERANCE of the best is written. The laws hold in every form. The
reader's thresholds stay as given: recorded stances already depend on them.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.optimize import minimize

from episodic_absa.datasets.gold_files import load_gold
from episodic_absa.final_tuples import extract_tuples, pairs, predicted
from episodic_absa.language import norm
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_decision import decide_again
from episodic_absa.pipeline.decision.change_rules import (
    SHIPPED_RULES,
    AdoptionRules,
    KindWeights,
    TableRow,
    adopt,
    load_adoption_rules,
)
from episodic_absa.pipeline.decision.witnesses import WITNESSES
from episodic_absa.schemas.absa import SentimentItem, Stage1Result
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.schemas.run_files.output_line import OutputStage1
from episodic_absa.vocabulary import ChangeKind, Polarity

Pairs = frozenset[tuple[str, Polarity]]
Fit = Callable[[Sequence["Recorded"], AdoptionRules], AdoptionRules]

KINDS: Final[tuple[ChangeKind, ...]] = ("flip", "drop", "add", "span")
FOLDS: Final = 5
TOLERANCE: Final = 0.002
"""A simpler form is preferred if its F1 is at most this much lower."""
LEAST_CHANGES: Final = 5
"""A row or a model of fewer decided changes is chance."""
RIDGE: Final = 1.0
RESAMPLES: Final = 2000
SEED: Final = 20_261_116
_HEADER: Final = """\
# Which changes of Stage1 are adopted under rules v3. Written by training/adoption.py; change_rules.py defines the keys.
# Laws in change_rules.py hold whatever stands here: two witnesses at least; a flip needs the judge or two speakers; a
# sure reader that is against is passed only by unanimous others with a quote at home; no new conflict.
"""


class Recorded(NamedTuple):
    """One sample of a run with its proposed changes, and its gold."""

    uid: str
    stage1: Stage1Result
    changes: tuple[ChangeRecord, ...]
    gold: Pairs


class Counts(NamedTuple):
    """What micro F1 needs."""

    hit_n: int
    predicted_n: int
    gold_n: int


class Result(NamedTuple):
    """The F1 of one form on texts that did not fit it, minus Stage1's, with a bootstrap interval."""

    form: str
    f1: float
    delta: float
    low: float
    high: float
    right_n: int
    wrong_n: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the forms, print what was measured and write the chosen rules."""
    parser = argparse.ArgumentParser(description="Fit the adoption rules of rules v3.")
    parser.add_argument("--run", nargs=2, action="append", required=True, metavar=("OUTPUTS", "GOLD"), type=Path)
    parser.add_argument("--rules", type=Path, default=SHIPPED_RULES, help="the rules to start from")
    parser.add_argument("--out", type=Path, help="where to write the chosen rules; without it nothing is written")
    given = parser.parse_args(arguments)
    rules = load_adoption_rules(given.rules)
    samples = [sample for outputs, gold in given.run for sample in read_run(outputs, gold)]
    if not samples:
        raise SystemExit("no sample has both recorded changes and gold; check that the uids of both files agree")
    print("\n".join(combination_lines(samples)))
    forms: dict[str, Fit] = {"given": lambda _, start: start, "table": fit_table, "weights": fit_weights}
    results = [cross_validate(name, fit, samples, rules) for name, fit in forms.items()]
    stage1_f1 = f1_of(stage1_counts(sample) for sample in samples)
    print(f"\n{len(samples)} samples, Stage1 F1 {stage1_f1:.4f}; on texts that did not fit the rules:")
    for result in results:
        print(
            f"{result.form:8} F1 {result.f1:.4f}  {result.delta:+.4f} [{result.low:+.4f}, {result.high:+.4f}]"
            f"  {result.right_n} right, {result.wrong_n} wrong"
        )
    chosen = choose(results)
    print(f"chosen: {chosen}")
    if given.out is not None:
        write_rules(forms[chosen](samples, rules), given.out)
        print(f"wrote {given.out}")


def read_run(outputs: Path, gold_file: Path) -> list[Recorded]:
    """Return the successful samples of a run that have gold with a polarity each."""
    gold = load_gold(gold_file)
    samples = []
    for line in outputs.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        tuples = gold.get(row["uid"])
        if row.get("stage1") is None or tuples is None:
            continue
        expected = {(norm(item.aspect_term), item.polarity) for item in tuples if item.polarity is not None}
        if any(item.polarity is None for item in tuples):
            continue  # such gold cannot be scored
        changes = tuple(ChangeRecord.model_validate(change) for change in row.get("changes") or ())
        samples.append(Recorded(row["uid"], OutputStage1.model_validate(row["stage1"]), changes, frozenset(expected)))
    return samples


def fold_of(uid: str) -> int:
    """Return the fold of a text: the same on every machine and for every run of the text."""
    return int(hashlib.sha256(uid.encode()).hexdigest()[:8], 16) % FOLDS


def worth(change: ChangeRecord, sample: Recorded, f1: float) -> float:
    """Return what a change alone adds to micro F1, in units of 1 / (predicted + gold pairs).

    Above 0 the change is right: it mends a spoiled pair. Below 0 it is wrong: it spoils a right pair or adds a false
    one. A lost hit costs more than a false pair, so a drop must be right far more often than an added pair.
    """
    before = stage1_counts(sample)
    _, sentiments = apply_changes(sample.stage1, [change.model_copy(update={"adopted": True})])
    after = _counts(sentiments, sample.gold)
    return 2 * (after.hit_n - before.hit_n) - f1 * (after.predicted_n - before.predicted_n)


def combination(change: ChangeRecord) -> str:
    """Return who was for and against a change, such as `tan+ reader+ judge-`."""
    signs = {"for": "+", "against": "-"}
    return " ".join(f"{item.who}{signs[item.stance]}" for item in change.witnesses if item.stance != "silent")


def combination_lines(samples: Sequence[Recorded]) -> Iterator[str]:
    """Yield right and wrong per kind of change and combination of witnesses, the most frequent first."""
    f1 = _stage1_f1(samples)
    tallies: dict[tuple[str, str], Counter[str]] = {}
    for sample in samples:
        for change in sample.changes:
            value = worth(change, sample, f1)
            outcome = "right" if value > 0 else "wrong" if value < 0 else "idle"
            tallies.setdefault((change.kind, combination(change)), Counter())[outcome] += 1
    for kind in KINDS:
        rows = [(tally, witnesses) for (of_kind, witnesses), tally in tallies.items() if of_kind == kind]
        total = sum((tally for tally, _ in rows), Counter[str]())
        yield f"{kind}: {total['right']} right, {total['wrong']} wrong, {total['idle']} idle"
        for tally, witnesses in sorted(rows, key=lambda row: (-row[0].total(), row[1])):
            yield f"  {tally['right']:5} right {tally['wrong']:5} wrong {tally['idle']:5} idle  {witnesses or '-'}"


def fit_table(samples: Sequence[Recorded], start: AdoptionRules) -> AdoptionRules:
    """Return rules with a table: per kind the rows of two witnesses that add most, taken greedily.

    A row is taken if what it adds to the rows before it exceeds one standard error.
    """
    table: dict[ChangeKind, tuple[TableRow, ...]] = {}
    for kind, valued in _lawful(samples, start).items():
        rows: list[TableRow] = []
        left = valued
        while True:
            gain, row = max(((_sure_gain(row, left), row) for row in _candidates()), key=lambda scored: scored[0])
            if gain <= 0:
                break
            rows.append(row)
            left = [(change, value) for change, value in left if not _fits(row, change)]
        table[kind] = tuple(rows)
    return AdoptionRules(form="table", reader=start.reader, table=table)


def fit_weights(samples: Sequence[Recorded], start: AdoptionRules) -> AdoptionRules:
    """Return rules with weights: per kind a logistic model of right against wrong, each change weighed by its worth."""
    weights: dict[ChangeKind, KindWeights] = {}
    for kind, valued in _lawful(samples, start).items():
        decided = [(change, value) for change, value in valued if value != 0]
        if len(decided) < LEAST_CHANGES:
            continue
        features = np.array([_features(change) for change, _ in decided])
        values = np.array([value for _, value in decided])
        fitted = _fit_logistic(features, values)
        stances = {
            who: {"for": round(float(fitted[2 * at + 1]), 4), "against": round(float(fitted[2 * at + 2]), 4)}
            for at, who in enumerate(WITNESSES)
        }
        weights[kind] = KindWeights.model_validate(
            {"threshold": 0.0, "start": round(float(fitted[0]), 4), "stances": stances}
        )
    if not weights:  # rules need at least one kind; this one adopts nothing
        weights["flip"] = KindWeights(threshold=1.0)
    return AdoptionRules(form="weights", reader=start.reader, weights=weights)


def cross_validate(form: str, fit: Fit, samples: Sequence[Recorded], start: AdoptionRules) -> Result:
    """Return the effect of a form, each text decided by rules that the other folds fitted."""
    by_fold = {
        fold: fit([sample for sample in samples if fold_of(sample.uid) != fold], start)
        for fold in {fold_of(sample.uid) for sample in samples}
    }
    f1 = _stage1_f1(samples)
    before, after = [], []
    outcomes: Counter[bool] = Counter()
    for sample in samples:
        records = decide_again(sample.stage1, sample.changes, by_fold[fold_of(sample.uid)])
        _, sentiments = apply_changes(sample.stage1, records)
        before.append(stage1_counts(sample))
        after.append(_counts(sentiments, sample.gold))
        values = [worth(record, sample, f1) for record in records if record.adopted]
        outcomes.update(value > 0 for value in values if value != 0)
    low, high = _delta_interval(np.array(before), np.array(after))
    final = f1_of(after)
    return Result(form, final, final - f1_of(before), low, high, outcomes[True], outcomes[False])


def choose(results: Sequence[Result]) -> str:
    """Return the first form, they come simplest first, whose F1 is within TOLERANCE of the best."""
    best = max(result.f1 for result in results)
    return next(result.form for result in results if result.f1 >= best - TOLERANCE)


def write_rules(rules: AdoptionRules, path: Path) -> None:
    """Write rules in the form that `load_adoption_rules` reads."""
    content = rules.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
    path.write_text(f"{_HEADER}\n{text}", encoding="utf-8")


def stage1_counts(sample: Recorded) -> Counts:
    """Return the counts of Stage1's pairs."""
    return _counts(sample.stage1.atsa.sentiments, sample.gold)


def f1_of(counts: Iterable[Counts]) -> float:
    """Return micro F1; 0 where nothing is predicted and nothing expected."""
    total = np.array(list(counts)).reshape(-1, 3).sum(axis=0)
    return float(2 * total[0] / max(1, total[1] + total[2]))


def _counts(sentiments: Iterable[SentimentItem], gold: Pairs) -> Counts:
    found = pairs(predicted(extract_tuples(sentiments)))
    return Counts(len(found & gold), len(found), len(gold))


def _stage1_f1(samples: Iterable[Recorded]) -> float:
    # With an F1 of 0 a false pair would cost nothing.
    return max(0.05, f1_of(stage1_counts(sample) for sample in samples))


def _lawful(samples: Sequence[Recorded], start: AdoptionRules) -> Mapping[ChangeKind, list[tuple[ChangeRecord, float]]]:
    """Return the changes that the laws allow, with their worth, by kind."""
    wants_all = AdoptionRules(
        form="weights", reader=start.reader, weights={kind: KindWeights(threshold=0.0) for kind in KINDS}
    )
    f1 = _stage1_f1(samples)
    lawful: dict[ChangeKind, list[tuple[ChangeRecord, float]]] = {kind: [] for kind in KINDS}
    for sample in samples:
        for change in sample.changes:
            if adopt(change, change.witnesses, wants_all).adopted:
                lawful[change.kind].append((change, worth(change, sample, f1)))
    return lawful


def _candidates() -> Iterator[TableRow]:
    """Yield every row of two witnesses, alone or with nobody, the reader, or the judge against it."""
    for pair in combinations(WITNESSES, 2):
        yield TableRow(all_for=pair)
        yield from (TableRow(all_for=pair, none_against=(who,)) for who in ("reader", "judge") if who not in pair)


def _fits(row: TableRow, change: ChangeRecord) -> bool:
    speaking_for = frozenset(witness.who for witness in change.witnesses if witness.stance == "for")
    against = frozenset(witness.who for witness in change.witnesses if witness.stance == "against")
    return row.fits(speaking_for, against)


def _sure_gain(row: TableRow, valued: Sequence[tuple[ChangeRecord, float]]) -> float:
    """Return the summed worth of what a row adopts, less one standard error; 0 for too few changes."""
    values = np.array([value for change, value in valued if value != 0 and _fits(row, change)])
    if len(values) < LEAST_CHANGES:
        return 0.0
    return float(values.sum() - np.sqrt((values**2).sum()))


def _features(change: ChangeRecord) -> list[float]:
    """Return a constant, then two marks per witness: for, against."""
    stances = {witness.who: witness.stance for witness in change.witnesses}
    marks = [float(stances.get(who) == stance) for who in WITNESSES for stance in ("for", "against")]
    return [1.0, *marks]


def _fit_logistic(features: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    signs = np.sign(values)
    sizes = np.abs(values)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (features @ weights)
        slopes = -signs * sizes / (1 + np.exp(np.clip(margins, -500, 500)))
        penalty = np.r_[0.0, weights[1:]]
        total = float((sizes * np.logaddexp(0, -margins)).sum() + RIDGE / 2 * (penalty**2).sum())
        return total, features.T @ slopes + RIDGE * penalty

    fitted: NDArray[np.float64] = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x
    return fitted


def _delta_interval(before: NDArray[np.int64], after: NDArray[np.int64]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the difference in micro F1, resampled by text."""
    draws = np.random.default_rng(SEED).integers(0, len(before), (RESAMPLES, len(before)))

    def f1s(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        totals = counts[draws].sum(axis=1)
        quotients: NDArray[np.float64] = 2 * totals[:, 0] / np.maximum(1, totals[:, 1] + totals[:, 2])
        return quotients

    low, high = np.quantile(f1s(after) - f1s(before), (0.025, 0.975))
    return float(low), float(high)


if __name__ == "__main__":
    main()
