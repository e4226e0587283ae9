"""The name of a cell's directory."""


def cell_name(stem: str, *, order: int, seed: int, shuffle: bool) -> str:
    """Return the name of a cell.

    The order of the file stands in no name, and neither does an order that the seed sets: such cells are named as in
    version 0.1, and a grid of that version can be extended by orders.

    Args:
        stem: the name of the condition, or `build`.
        order: the order of the samples.
        seed: the seed.
        shuffle: whether the seed sets the order.

    Example:
        >>> cell_name("C2", order=1, seed=42, shuffle=False), cell_name("C2", order=0, seed=42, shuffle=False)
        ('C2__order1__seed42', 'C2__seed42')
    """
    ordered = f"{stem}__order{order}" if order and not shuffle else stem
    return f"{ordered}__seed{seed}"
