"""Random draws that are equal on every machine and under every version of numpy.

They use the raw bits of PCG64. numpy guarantees that stream; it does not guarantee `Generator.integers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BITS: Final = 64


class RandomDraws:
    """A stream of random draws; streams with different purposes are independent."""

    def __init__(self, seed: int, purpose: int) -> None:
        from numpy.random import PCG64, SeedSequence

        self._bits = PCG64(SeedSequence((seed, purpose)))

    def resample_counts(self, resamples: int, n: int) -> NDArray[np.float64]:
        """Return how often each of n items is drawn when n are drawn with replacement, one row per resample."""
        import numpy as np

        wanted = resamples * n
        halves = self._raw(-(-wanted // 2)).view("<u4")[:wanted].astype(np.uint64)
        # Multiply and shift: the probabilities of two items differ by a factor of at most 1 + n / 2**32.
        items = ((halves * np.uint64(n)) >> np.uint64(32)).astype(np.int64).reshape(resamples, n)
        items += np.arange(resamples, dtype=np.int64)[:, None] * n
        counts = np.bincount(items.ravel(), minlength=wanted)
        return counts.reshape(resamples, n).astype(np.float64)

    def signs(self, flips: int, n: int) -> NDArray[np.float64]:
        """Return n random signs (+1 or -1), one row per flip."""
        import numpy as np

        wanted = flips * n
        bits = np.unpackbits(self._raw(-(-wanted // _BITS)).view(np.uint8), bitorder="little")[:wanted]
        return 1.0 - 2.0 * bits.reshape(flips, n).astype(np.float64)

    def keys(self, rows: int, n: int) -> NDArray[np.uint64]:
        """Return n random whole numbers of 64 bits, one row per shuffle: sorting by a row gives a random order."""
        return self._raw(rows * n).reshape(rows, n)

    def _raw(self, count: int) -> NDArray[np.uint64]:
        return self._bits.random_raw(count).astype("<u8")
