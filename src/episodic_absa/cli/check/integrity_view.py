"""What `check` and `verify` tell."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable
from episodic_absa.schemas.check_result import CheckResult
from episodic_absa.verification.preflight import Preflight
from episodic_absa.verification.verify import Verified

_LEVEL_STYLES: Final = {"ok": "green", "warning": "yellow", "error": "bold red"}


def preflight_view(found: Preflight) -> ConsoleRenderable:
    """List what was looked at, and say whether the experiment can be run."""
    table = Table.grid(padding=(0, 2))
    for line in found.lines:
        table.add_row(Text(line.level, _LEVEL_STYLES[line.level]), line.check, Text(printable(line.message)))
    levels = Counter(line.level for line in found.lines)
    verdict = (
        Text(f"{found.run_id} ({found.run_purpose}) has {_count(levels['error'], 'error')}: mend before a run", "red")
        if found.has_errors
        else Text(f"{found.run_id} ({found.run_purpose}) can be run; {_count(levels['warning'], 'warning')}", "green")
    )
    return Group(table, verdict)


def verified_view(found: Verified) -> ConsoleRenderable:
    """Give every cell a line, every failure one more, and a verdict."""
    table = Table.grid(padding=(0, 2))
    named = [*found.cells.items(), *([("grid", found.grid)] if found.grid else [])]
    for name, results in named:
        failed = [one for one in results if one.result == "fail"]
        table.add_row(Text("fail", "bold red") if failed else Text("ok", "green"), name, _summary(results))
        for one in failed:
            table.add_row("", Text(one.check, "red"), Text(printable(one.detail)))
    failures = found.failures
    verdict = (
        Text(f"{_count(len(failures), 'check')} failed; integrity.json in each directory tells all", "red")
        if failures
        else Text("everything that was looked at holds; integrity.json in each directory tells what", "green")
    )
    return Group(table, verdict)


def _summary(results: Sequence[CheckResult]) -> str:
    counts = Counter(one.result for one in results)
    return f"{counts['pass']} passed, {counts['fail']} failed, {counts['not_applicable']} not applicable"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
