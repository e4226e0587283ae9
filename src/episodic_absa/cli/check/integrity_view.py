"""The output of `check` and `verify`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable, shown_path
from episodic_absa.reports.written_results import RefreshedPages
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.verification.preflight import Preflight
from episodic_absa.verification.verify import Verified

_LEVEL_STYLES: Final = {"ok": "green", "warning": "yellow", "error": "bold red"}


def preflight_view(preflight: Preflight) -> ConsoleRenderable:
    """Lay out every check, and whether the experiment can be run."""
    table = Table.grid(padding=(0, 2))
    for line in preflight.lines:
        table.add_row(Text(line.level, _LEVEL_STYLES[line.level]), line.check, Text(printable(line.message)))
    levels = Counter(line.level for line in preflight.lines)
    experiment = f"{preflight.run_id} ({preflight.run_purpose})"
    verdict = (
        Text(f"{experiment} has {_count(levels['error'], 'error')}; fix the file and run the check again", "red")
        if preflight.has_errors
        else Text(f"{experiment} can be run; {_count(levels['warning'], 'warning')}", "green")
    )
    return Group(table, verdict)


def verified_view(verified: Verified, refreshed: RefreshedPages) -> ConsoleRenderable:
    """Lay out a line per cell, a line per failed check, the verdict, and whether the report shows it."""
    table = Table.grid(padding=(0, 2))
    places = [*verified.cells.items(), *([("grid", verified.grid)] if verified.grid else [])]
    for name, results in places:
        failed = [check for check in results if check.result == "fail"]
        table.add_row(Text("fail", "bold red") if failed else Text("ok", "green"), name, _summary(results))
        for failure in failed:
            table.add_row("", Text(failure.check, "red"), Text(printable(failure.detail)))
    failures = verified.failures
    verdict = (
        Text(f"{_count(len(failures), 'check')} failed; integrity.json in each directory lists every check", "red")
        if failures
        else Text("no check failed; integrity.json in each directory lists all of them", "green")
    )
    return Group(table, verdict, *_report_line(refreshed))


def _report_line(refreshed: RefreshedPages) -> Iterator[Text]:
    if refreshed.problem:
        yield Text(f"the report still shows the earlier results: {printable(refreshed.problem)}", "yellow")
    elif refreshed.pages:
        yield Text(f"report  {printable(shown_path(refreshed.pages[-1]))} shows these results", no_wrap=True)


def _summary(results: Sequence[CheckResult]) -> str:
    counts = Counter(check.result for check in results)
    return f"{counts['pass']} passed, {counts['fail']} failed, {counts['not_applicable']} not applicable"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
