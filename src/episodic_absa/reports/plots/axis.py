"""From values to places, and round numbers to write along an axis."""

import math
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 340
_STEPS: Final = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Axis:
    """Values low..high laid out over start..end."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return where a value lies; what lies outside is drawn at the edge."""
        low, high, value = (self._measure(one) for one in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self, count: int = 4) -> tuple[float, ...]:
        """Return round values within the axis."""
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            within = [tick for tick in found if self.low <= tick <= self.high]
            return tuple(within[:: max(1, math.ceil(len(within) / count))])
        step = nice_step((self.high - self.low) / count)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(number * step, 10) for number in range(first, last + 1))

    def _measure(self, value: float) -> float:
        return math.log10(max(value, 1e-9)) if self.is_log else value


def nice_step(size: float) -> float:
    """Return the round step next above a size."""
    if size <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in _STEPS if step * power >= size - 1e-12)


def tick_text(value: float) -> str:
    """Write a tick without needless digits."""
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def shortened(label: str, limit: int = 15) -> str:
    """Cut a long name so that it fits its column; the page names conditions in full elsewhere."""
    return label if len(label) <= limit else f"{label[: limit - 1]}…"
