"""Random draws that are the same bytes on every machine and in every version of numpy.

They are cut from the raw bits of PCG64, a stream that numpy promises to keep; `Generator.integers` carries no such
promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BITS: Final = 64


class RandomDraws:
    """One stream; streams of different purposes are independent of each other."""

    def __init__(self, seed: int, purpose: int) -> None:
        from numpy.random import PCG64, SeedSequence

        self._bits = PCG64(SeedSequence((seed, purpose)))

    def resample_counts(self, resamples: int, n: int) -> NDArray[np.float64]:
        """Draw n of n with replacement, so many times; return how often each was drawn, a row per resample."""
        import numpy as np

        wanted = resamples * n
        halves = self._raw(-(-wanted // 2)).view("<u4")[:wanted].astype(np.uint64)
        # Multiply and shift: a place is more likely than another by at most n / 2**32.
        places = ((halves * np.uint64(n)) >> np.uint64(32)).astype(np.int64).reshape(resamples, n)
        places += np.arange(resamples, dtype=np.int64)[:, None] * n
        counts = np.bincount(places.ravel(), minlength=wanted)
        return counts.reshape(resamples, n).astype(np.float64)

    def signs(self, flips: int, n: int) -> NDArray[np.float64]:
        """Toss n coins, so many times: +1 or -1, a row per flip."""
        import numpy as np

        wanted = flips * n
        bits = np.unpackbits(self._raw(-(-wanted // _BITS)).view(np.uint8), bitorder="little")[:wanted]
        return 1.0 - 2.0 * bits.reshape(flips, n).astype(np.float64)

    def _raw(self, count: int) -> NDArray[np.uint64]:
        return self._bits.random_raw(count).astype("<u8")
