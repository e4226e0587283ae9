"""The families of trials, those that take long first. Each is a module here with `rows(scale) -> Iterator[Row]`."""

from importlib.util import find_spec

FAMILIES = (
    "grids_killed",
    "damaged_files",
    "fuzzed_inputs",
    "misbehaving_model",
    "outages",
    "database_killed",
    "cache_killed",
    "derivations_killed",
    "disk_faults",
    "two_runs",
    "jumping_clock",
)


def present_families() -> tuple[str, ...]:
    """Return the families that this checkout has."""
    return tuple(name for name in FAMILIES if find_spec(f"tests.torture.{name}") is not None)
