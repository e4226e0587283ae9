"""The order of samples and the seed under which every condition of a grid is run once."""

from typing import NamedTuple


class Repetition(NamedTuple):
    """One order with one seed. The cells of a repetition share the store that was built for it."""

    order: int
    """0 is the order of the file."""
    seed: int

    def words(self, *, with_order: bool) -> str:
        """Return the repetition as messages name it.

        Args:
            with_order: False where all orders are the same, or where the seed sets the order.

        Example:
            >>> Repetition(3, 42).words(with_order=True)
            'order 3, seed 42'
        """
        return f"order {self.order}, seed {self.seed}" if with_order else f"seed {self.seed}"
