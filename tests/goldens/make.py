"""Makes the goldens anew and writes down why: `python -m tests.goldens.make --why "TOPIC: what changed and why"`.

Without --why it only tells the differences. It prints one grid after another and ends with 1 if something differs and
was not written.
"""

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.goldens.differences import Difference, differences, places, told, without_rounding
from tests.goldens.files import DIFFERENCES, GOLDENS, read_grid, state, write_grid
from tests.goldens.grids import GRIDS, run_grid
from tests.goldens.recordings import read_pairs, replay, write_pairs


def main() -> int:
    """Run every grid and compare it with its golden; write what differs if told why."""
    parser = argparse.ArgumentParser(prog="python -m tests.goldens.make", description=__doc__)
    parser.add_argument("--why", help="the topic and the reason, for DIFFERENCES.md; without it nothing is written")
    why: str | None = parser.parse_args().why
    found: dict[str, list[Difference]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for grid in GRIDS:
            made = run_grid(grid, Path(folder) / grid)
            is_new = not (GOLDENS / f"{grid}.jsonl.gz").exists()
            found[grid] = [] if is_new else differences(read_grid(grid), without_rounding(read_grid(grid), made))
            print(f"{grid}: {told(found[grid]) if found[grid] else 'made' if is_new else 'as it is'}")  # noqa: T201
            if why is not None and (found[grid] or is_new):
                write_grid(grid, made)
        for rules in GRIDS:
            # Pairs alone: the recorded answers of a real model are never made anew.
            name, (made, _) = f"recorded {rules}", replay(rules, Path(folder) / f"recorded-{rules}")
            found[name] = differences(read_pairs(rules), made)
            print(f"{name}: {told(found[name]) if found[name] else 'as it is'}")  # noqa: T201
            if why is not None and found[name]:
                write_pairs(made)
    if why is not None:
        _write_down(why, found)
    return int(why is None and any(found.values()))


def _write_down(why: str, found: Mapping[str, list[Difference]]) -> None:
    topic, _, reason = why.partition(":")
    changed = [f"- {grid}: `{place}` ({count})" for grid in found for place, count in places(found[grid]).items()]
    entry = ["", f"## {topic.strip()}", "", reason.strip(), "", *changed, *([""] if changed else [])]
    with open(DIFFERENCES, "a", encoding="utf-8") as file:
        file.write("\n".join([*entry, f"Goldens: {state()}", ""]))


if __name__ == "__main__":
    raise SystemExit(main())
