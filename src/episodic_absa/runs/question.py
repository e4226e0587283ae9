"""Reads question.json, and says what of a result was asked before the first sample and what was added later."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS
from episodic_absa.metrics.statistics.comparison import PRIMARY
from episodic_absa.metrics.statistics.paired.equivalence import SMALLEST_EFFECT
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.question import AddedQuestion, Pair, Question
from episodic_absa.serialization.quoted_value import reasons_of

QUESTION: Final = "question.json"
NO_QUESTION: Final = "no question was fixed beforehand"
PartKind = Literal[
    "no_question",
    "changed",
    "pair",
    "primary_metric",
    "smallest_effect",
    "condition",
    "order",
    "seed",
    "stratum",
    "left_out",
    "unfinished",
]


_OF_ASKED: Final[tuple[PartKind, ...]] = ("changed", "left_out", "unfinished")
"""Why even what was asked is exploratory."""


class ExploratoryPart(NamedTuple):
    """One reason why a result is exploratory."""

    kind: PartKind
    values: tuple[str, ...] = ()
    """What was added; for `left_out`, the asked orders and seeds that the result does not cover; for `unfinished`, the
    conditions of which a cell is unfinished."""

    @property
    def is_added(self) -> bool:
        """Whether something was added to what was asked, or nothing was asked."""
        return self.kind not in _OF_ASKED

    @property
    def text(self) -> str:
        """The reason in words: `seed 7 added`."""
        return _TEXTS[self.kind].format(", ".join(self.values), "s" if len(self.values) > 1 else "")


_TEXTS: Final[dict[PartKind, str]] = {
    "no_question": NO_QUESTION,
    "changed": f"{QUESTION} was changed after the first sample",
    "pair": "pair{1} {0} added",
    "primary_metric": "primary metric {0} added",
    "smallest_effect": "smallest effect {0} added",
    "condition": "condition{1} {0} added",
    "order": "order{1} {0} added",
    "seed": "seed{1} {0} added",
    "stratum": "breakdown by {0} added",
    "left_out": "asked {0} left out",
    "unfinished": "{0} unfinished",
}


def load_question(grid: Path) -> Question | None:
    """Return the question of a grid; None if none was fixed, as in directories of version 0.1.

    Raises:
        RunDirectoryError: question.json cannot be read.
    """
    path = grid / QUESTION
    try:
        question = Question.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        reason = reasons_of(error) if isinstance(error, ValidationError) else error.strerror
        raise _unreadable(path, str(reason)) from error
    if question.asked.primary_metric not in PAIRED_METRICS:
        raise _unreadable(path, f"unknown metric {question.asked.primary_metric!r}")
    return question


class Criterion(NamedTuple):
    """What a comparison is decided by."""

    primary: str = PRIMARY
    smallest_effect: float = SMALLEST_EFFECT


def criterion_of(question: Question | None) -> Criterion:
    """Return the asked metric and smallest effect, whatever was added; the defaults without a question."""
    return Criterion(question.asked.primary_metric, question.asked.smallest_effect) if question else Criterion()


def is_exploratory(
    question: Question | None,
    *,
    pair: Pair | None = None,
    metric: str | None = None,
    stratum: str | None = None,
    order: int | None = None,
    seed: int | None = None,
) -> bool:
    """Return whether a result was not asked for before the first sample; without a question every result is that.

    Args:
        question: the question of the grid.
        pair: the compared conditions, in either direction.
        metric: the metric; a metric that was made the primary one later is exploratory.
        stratum: what the result is broken down by.
        order: the order of samples that the result includes.
        seed: the seed that the result includes.
    """
    if question is None:
        return True
    asked, added = question.asked, question.added_together
    return (
        (pair is not None and pair not in asked.pairs and pair[::-1] not in asked.pairs)
        or (metric is not None and metric in added.primary_metrics)
        or (stratum is not None and stratum not in asked.strata)
        or (order is not None and order not in asked.orders)
        or (seed is not None and seed not in asked.seeds)
    )


def exploratory_parts(
    question: Question | None, pair: Pair, *, orders: Collection[int], seeds: Collection[int]
) -> tuple[ExploratoryPart, ...]:
    """Return why the comparison of a pair over these orders and seeds is exploratory; nothing if it was asked so."""
    if question is None:
        return (ExploratoryPart("no_question"),)
    added = AddedQuestion(
        pairs=(pair,) if is_exploratory(question, pair=pair) else (),
        orders=tuple(sorted(set(orders) - set(question.asked.orders))),
        seeds=tuple(sorted(set(seeds) - set(question.asked.seeds))),
    )
    return tuple(_parts_of(added))


def left_out_parts(
    question: Question | None, *, orders: Collection[int], seeds: Collection[int]
) -> tuple[ExploratoryPart, ...]:
    """Return the asked orders and seeds that a comparison does not cover: who picks one of several, explores."""
    if question is None:
        return ()
    missing_orders, missing_seeds = set(question.asked.orders) - set(orders), set(question.asked.seeds) - set(seeds)
    names = [f"seed {seed}" for seed in sorted(missing_seeds)]
    names += [f"order {order}" for order in sorted(missing_orders)] if missing_orders != missing_seeds else []
    return (ExploratoryPart("left_out", tuple(names)),) if names else ()


def recorded_parts(question: Question | None, manifests: Collection[Manifest]) -> tuple[ExploratoryPart, ...]:
    """Return what the manifests of the compared cells say against the question: another one, or too early a look."""
    if question is None:
        return ()
    recorded = {manifest.question_sha256 for manifest in manifests} - {None}
    unfinished = sorted({manifest.condition.name for manifest in manifests if not manifest.completed})
    parts = [ExploratoryPart("changed")] if recorded - {question.asked.sha256} else []
    return (*parts, *([ExploratoryPart("unfinished", tuple(unfinished))] if unfinished else []))


def added_parts(question: Question | None) -> tuple[ExploratoryPart, ...]:
    """Return everything of a grid that was added to its question; `no_question` if it has none."""
    if question is None:
        return (ExploratoryPart("no_question"),)
    return tuple(_parts_of(question.added_together))


def parts_text(parts: Collection[ExploratoryPart]) -> str:
    """Return the reasons in one line; an empty text for none."""
    return "; ".join(part.text for part in parts)


def pair_text(pair: Pair) -> str:
    """Return a pair as tables name it: `C2 - C1`."""
    return f"{pair[0]} - {pair[1]}"


def _unreadable(path: Path, reason: str) -> RunDirectoryError:
    what_next = "restore the file, or move it away: then every result of the grid counts as exploratory"
    return RunDirectoryError(f"cannot read {path}: {reason}; {what_next}", path=path)


def _parts_of(added: AddedQuestion) -> Iterator[ExploratoryPart]:
    values: dict[PartKind, tuple[str, ...]] = {
        "pair": tuple(map(pair_text, added.pairs)),
        "primary_metric": added.primary_metrics,
        "smallest_effect": tuple(f"{effect:g}" for effect in added.smallest_effects),
        "condition": added.conditions,
        # With `shuffle` the seed is the order, and one of them says it all.
        "order": () if added.orders == added.seeds else tuple(map(str, added.orders)),
        "seed": tuple(map(str, added.seeds)),
        "stratum": added.strata,
    }
    return (ExploratoryPart(kind, texts) for kind, texts in values.items() if texts)
