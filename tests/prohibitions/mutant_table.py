"""The table of `make prohibitions`: which test noticed which broken rule, entry by entry."""

from collections.abc import Iterator, Sequence, Set
from typing import Final

from tests.prohibitions.mutant import Mutant
from tests.prohibitions.prohibitions import ENTRIES, UNCOVERED

RULE_PROPERTY: Final = "broken_rule"
"""The property of a test that names the mutant it ran: what worker processes report arrives as plain values."""


def mutant_table(mutants: Sequence[Mutant], noticed: Set[str]) -> Iterator[str]:
    """Yield the lines of the table: every entry with its mutants, then the rules outside the list, then the sums."""
    entries: list[int | None] = [*ENTRIES, None]
    for entry in entries:
        of_entry = [mutant for mutant in mutants if mutant.entry == entry]
        if of_entry or entry in UNCOVERED:
            yield f"{entry:>3} {ENTRIES[entry]}" if entry is not None else "  - Rules outside the list"
        if entry is not None and entry in UNCOVERED:
            yield f"      no mutant: {UNCOVERED[entry]}"
        for mutant in of_entry:
            result = "red " if mutant.rule in noticed else "OPEN"
            yield f"      {result}  {mutant.rule}  ->  {mutant.test.removeprefix('tests/')}"
    proved = {mutant.entry for mutant in mutants if mutant.rule in noticed and mutant.entry is not None}
    yield f"{len(proved)} of {len(ENTRIES)} entries; {len(noticed)} of {len(mutants)} broken rules were noticed"
