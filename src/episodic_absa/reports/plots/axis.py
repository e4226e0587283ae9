"""Axes: positions of values, and round numbers for ticks."""

import math
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 340
_STEPS: Final = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Axis:
    """Maps the values low..high to the positions start..end."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the position of a value; a value outside the axis gets the position of the nearer end."""
        low, high, scaled = self._scale(self.low), self._scale(self.high), self._scale(value)
        share = (scaled - low) / (high - low) if high > low else 0.5
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self, count: int = 4) -> tuple[float, ...]:
        """Return about `count` round values within the axis."""
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            candidates = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            within = [tick for tick in candidates if self.low <= tick <= self.high]
            return tuple(within[:: max(1, math.ceil(len(within) / count))])
        step = nice_step((self.high - self.low) / count)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(number * step, 10) for number in range(first, last + 1))

    def _scale(self, value: float) -> float:
        return math.log10(max(value, 1e-9)) if self.is_log else value


def nice_step(size: float) -> float:
    """Return the smallest round step that is not below a size."""
    if size <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in _STEPS if step * power >= size - 1e-12)


def tick_text(value: float) -> str:
    """Return the text of a tick, without trailing zeros."""
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def shortened(label: str, limit: int = 15) -> str:
    """Return a label that fits its column; the page shows the full names of conditions elsewhere."""
    return label if len(label) <= limit else f"{label[: limit - 1]}…"
