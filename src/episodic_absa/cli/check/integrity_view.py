"""The output of `check` and `verify`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable, shown_path
from episodic_absa.cli.terminal_table import terminal_table
from episodic_absa.reports.data.certificate_words import certificate_words
from episodic_absa.reports.written_results import RefreshedPages
from episodic_absa.schemas.run_files.certificate import Certificate
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.verification.preflight import Preflight
from episodic_absa.verification.verify import Verified

_CELLS_SHOWN: Final = 4
_LEVEL_STYLES: Final = {"ok": "green", "warning": "yellow", "error": "bold red"}


def preflight_view(preflight: Preflight) -> ConsoleRenderable:
    """Lay out the checks and whether the experiment can be run."""
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
    failed_n = 0
    for name, checks in places:
        # That a cell is not finished is said first; it is no mistake in its files.
        results = [check for check in checks if name not in verified.unfinished or check.check != "completed"]
        failed = [check for check in results if check.result == "fail"]
        failed_n += len(failed)
        table.add_row(Text("fail", "bold red") if failed else Text("ok", "green"), name, _summary(results))
        for failure in failed:
            table.add_row("", Text(failure.check, "red"), Text(printable(failure.detail)))
    lines = [_verdict(verified, failed_n), *_exploratory_line(verified), *_report_line(refreshed)]
    probes = [] if verified.certificate is None else [probes_view(verified.certificate)]
    return Group(*_unfinished_line(verified), table, *probes, *lines)


def _unfinished_line(verified: Verified) -> Iterator[Text]:
    cells = verified.unfinished
    if cells:
        done_n, sample_n = (sum(cell.done_n for cell in cells.values()), sum(cell.sample_n for cell in cells.values()))
        names = ", ".join(list(cells)[:_CELLS_SHOWN]) + (", …" if len(cells) > _CELLS_SHOWN else "")
        yield Text(f"this run is not finished: {done_n:,} of {_count(sample_n, 'sample')} of {names}", "yellow")


def _exploratory_line(verified: Verified) -> Iterator[Text]:
    if verified.exploratory:
        yield Text(printable(f"exploratory: {'; '.join(verified.exploratory)}"), "yellow")


def _verdict(verified: Verified, failed_n: int) -> Text:
    if failed_n:
        return Text(f"{_count(failed_n, 'check')} failed; integrity.json in each directory lists every check", "red")
    if verified.unfinished:
        return Text("no check of what is there failed; finish the run, then verify it again", "yellow")
    return Text("no check failed; integrity.json in each directory lists all of them", "green")


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


def probes_view(certificate: Certificate) -> ConsoleRenderable:
    """Lay out a row per probe, and what they say together."""
    words = certificate_words(certificate)
    summary = Text(words.summary.en, "red" if words.has_leak else "")
    return Group(Text(""), terminal_table(words.table), summary, Text(""))
