"""The line of `run --watch`: the difference so far with its confidence sequence."""

import time
from typing import Final

from episodic_absa.cli.output import printable
from episodic_absa.contrib.watch.watched_pair import WatchedPair
from episodic_absa.metrics.statistics import FEWEST_CLAIMED, interval_text, signed
from episodic_absa.runs.config import ExperimentConfig
from episodic_absa.runs.progress import GridProgress

_SECONDS_BETWEEN_LOOKS: Final = 1.0


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
            zero += f" in one order of a memory that grows: no claim before {FEWEST_CLAIMED} orders"
        mark = "; exploratory" if pair.is_exploratory() else ""
        return f"{start}: {signed(look.mean)}, {interval}, {reviews}; it {zero}{mark}"

    def recent(self) -> str:
        """Return a line that is at most a second old: a display that refreshes often does not read files each time."""
        if time.monotonic() - self._looked_at >= _SECONDS_BETWEEN_LOOKS:
            self._line, self._looked_at = self.now(), time.monotonic()
        return self._line
