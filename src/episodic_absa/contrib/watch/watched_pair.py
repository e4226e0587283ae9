"""The paired differences of a grid while it runs. Only committed samples are read, and nothing is written."""

import time
from collections.abc import Iterator, Mapping
from itertools import chain
from statistics import fmean
from typing import Final

from episodic_absa.cli.output import printable
from episodic_absa.contrib.watch.confidence_sequence import SequenceLook, look_at
from episodic_absa.errors import ConfigError
from episodic_absa.metrics import sample_value
from episodic_absa.metrics.statistics import FEWEST_ORDERS, interval_text, signed
from episodic_absa.runs.config import Cell, ExperimentConfig, evaluated_cells
from episodic_absa.runs.derived.derived_samples import Deriver
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.question import exploratory_parts, is_exploratory, load_question
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.samples_file import SAMPLES, SamplesTail

_SECONDS_BETWEEN_LOOKS: Final = 1.0
_DEFAULT_METRIC: Final = "tuple_f1_explicit"
_SHARES: Final = ("tuple_f1_overall", "tuple_f1_lenient", "tuple_f1_implicit", "tuple_f1_after_rep")
_LARGEST_DIFFERENCES: Final[Mapping[str, float]] = {
    **dict.fromkeys((_DEFAULT_METRIC, *_SHARES, "exact_match", "severe_polarity_error"), 1.0),
    "delta_f1": 2.0,
}
"""The metrics with a bounded value per review, which a confidence sequence needs."""


class WatchedPair:
    """The first pair of conditions that a grid compares, review by review as samples are committed.

    A review counts once: in the order in which it comes first, as the mean over the seeds. So the reviews are
    independent of each other, and a later look only adds reviews to those of an earlier look. Several orders of the
    samples widen the interval by how much their means differ.
    """

    def __init__(self, config: ExperimentConfig, progress: GridProgress) -> None:
        """Watch the pair.

        Args:
            config: the experiment. If its primary metric has no bounded value per review, `tuple_f1_explicit` is
                watched.
            progress: the state of the run; a cell is read once the run has cut back what it does again.

        Raises:
            ConfigError: the experiment compares no pair of conditions.
        """
        run = {condition.name for condition in config.conditions}
        pairs = [pair for pair in config.comparisons if run.issuperset(pair)]
        if not pairs:
            raise ConfigError(
                f"{config.path} compares no two conditions that it runs, so there is nothing to watch; "
                "name a pair in experiment.comparisons, or run without --watch",
                path=config.path,
                key="experiment.comparisons",
            )
        self.a, self.b = pairs[0]
        metric = config.file.experiment.primary_metric
        self.metric = metric if metric in _LARGEST_DIFFERENCES else _DEFAULT_METRIC
        self._config = config
        self._progress = progress
        backfilled = config.file.eval.count_backfilled
        self._cells: dict[int, list[tuple[_CommittedValues, _CommittedValues]]] = {}
        """By order: the cells of both conditions with the same seed."""
        for cell_a, cell_b in _paired_cells(config, self.a, self.b):
            a, b = (_CommittedValues(cell, self.metric, count_backfilled=backfilled) for cell in (cell_a, cell_b))
            self._cells.setdefault(cell_a.order, []).append((a, b))
        self._position = 0
        self._uids: set[str] = set()
        self._differences: list[float] = []
        self._by_order: dict[int, list[float]] = {order: [] for order in self._cells}

    def look(self) -> SequenceLook:
        """Return the confidence sequence after the samples that are committed now."""
        self._read()
        planned = max((self._progress.cells[cell.name].total for cell in self._begun()), default=1)
        return look_at(
            self._differences,
            order_means=[fmean(differences) for differences in self._by_order.values() if differences],
            largest=_LARGEST_DIFFERENCES[self.metric],
            planned=max(planned, 1),
        )

    @property
    def hangs_on_one_order(self) -> bool:
        """Whether a condition shows a memory that grows, and there is only one order: no sequence covers that."""
        conditions = [condition for condition in self._config.conditions if condition.name in (self.a, self.b)]
        return len(self._cells) == 1 and any(condition.is_exposed and condition.store_write for condition in conditions)

    def is_exploratory(self) -> bool:
        """Return whether the question of the grid, fixed before its first sample, asks for something else."""
        question, seeds = load_question(self._config.out_dir), self._config.file.experiment.seeds
        added = exploratory_parts(question, (self.a, self.b), orders=self._cells.keys(), seeds=seeds)
        return bool(added) or is_exploratory(question, metric=self.metric)

    def _begun(self) -> Iterator["_CommittedValues"]:
        """Yield the cells whose files hold only what this run keeps."""
        for pair in chain.from_iterable(self._cells.values()):
            for values in pair:
                progress = self._progress.cells.get(values.name)
                if progress is not None and progress.done:
                    yield values

    def _read(self) -> None:
        for values in self._begun():
            values.read()
        every = [values for pair in chain.from_iterable(self._cells.values()) for values in pair]
        ready = min(len(values.by_sample) for values in every)
        for position in range(self._position, ready):
            for order in sorted(self._cells):
                self._add(order, position)
        self._position = max(self._position, ready)

    def _add(self, order: int, position: int) -> None:
        """Count the sample at a position of an order, as the mean over its seeds."""
        sides = [(a.by_sample[position][1], b.by_sample[position][1]) for a, b in self._cells[order]]
        differences = [a - b for a, b in sides if a is not None and b is not None]
        uid = self._cells[order][0][0].by_sample[position][0]
        if differences:
            self._by_order[order].append(fmean(differences))
            if uid not in self._uids:
                self._differences.append(fmean(differences))
        self._uids.add(uid)


class _CommittedValues:
    """The values of one cell's committed samples; each record is read once."""

    def __init__(self, cell: Cell, metric: str, *, count_backfilled: bool) -> None:
        self.name = cell.name
        self.by_sample: list[tuple[str, float | None]] = []
        """The uid of each sample, and its value: None if it failed or has no gold for the metric."""
        self._path = cell.path
        self._metric = metric
        self._count_backfilled = count_backfilled
        self._tail = SamplesTail(cell.path / SAMPLES)
        self._deriver: Deriver | None = None

    def read(self) -> None:
        """Read the samples that were recorded since the last call."""
        if self._deriver is None:
            self._deriver = CellFiles(self._path).deriver()
        for record in self._tail.new_records():
            card = self._deriver.card_of(record)
            value = sample_value(self._metric, card, count_backfilled=self._count_backfilled)
            self.by_sample.append((card.uid, value))


def _paired_cells(config: ExperimentConfig, a: str, b: str) -> Iterator[tuple[Cell, Cell]]:
    cells = {(cell.condition.name, cell.repetition): cell for cell in evaluated_cells(config)}
    for (condition, repetition), cell in cells.items():
        if condition == a:
            yield cell, cells[b, repetition]


class WatchLine:
    """The difference of the first compared pair so far, as a line of text."""

    def __init__(self, config: ExperimentConfig, progress: GridProgress) -> None:
        """Watch a run.

        Args:
            config: the experiment.
            progress: its state, which the run keeps up to date.

        Raises:
            ConfigError: the experiment compares no pair of conditions.
        """
        self._pair = WatchedPair(config, progress)
        self._line = ""
        self._looked_at = float("-inf")

    def now(self) -> str:
        """Return the line after the samples that are committed now."""
        pair, look = self._pair, self._pair.look()
        start = f"watch: {pair.metric}, {printable(pair.a)} minus {printable(pair.b)}"
        if look.mean is None:
            return f"{start}: no review is scored under both yet"
        reviews = f"{look.n:,} review{'' if look.n == 1 else 's'}"
        interval = f"95 % confidence sequence {interval_text(look.low, look.high)}"
        zero = "excludes 0" if look.excludes_zero else "includes 0"
        if look.excludes_zero and pair.hangs_on_one_order:
            zero += f" in one order of a memory that grows: no claim before {FEWEST_ORDERS} orders"
        mark = "; exploratory" if pair.is_exploratory() else ""
        return f"{start}: {signed(look.mean)}, {interval}, {reviews}; it {zero}{mark}"

    def recent(self) -> str:
        """Return a line that is at most a second old: a display that refreshes often does not read files each time."""
        if time.monotonic() - self._looked_at >= _SECONDS_BETWEEN_LOOKS:
            self._line, self._looked_at = self.now(), time.monotonic()
        return self._line
