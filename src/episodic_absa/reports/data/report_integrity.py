"""Gathers the results of `verify` for the report, and whether the checked files changed since."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.certificate_words import CertificateWords, certificate_words
from episodic_absa.reports.data.report_data import CellState, CheckRow, Integrity
from episodic_absa.reports.data.report_words import NO_MANIFEST
from episodic_absa.reports.tables.table import Column, Table, Verdict, column
from episodic_absa.runs.reading.verified_files import cell_hashes, grid_hashes, is_unchanged
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.verification.integrity_file import read_certificate, read_results, seen_hashes

_GRID: Final = "grid"


def integrity_of(run: FinishedRun) -> Integrity:
    """Return the results that `verify` wrote into the directories of a run."""
    places = {path.resolve().name: path for path in (*(cell.path for cell in run.cells), *run.orphans)}
    if run.is_grid:
        places[_GRID] = run.root
    by_place = {name: read_results(place) for name, place in places.items()}
    columns = tuple(name for name in places if by_place[name])
    if not columns:
        return Integrity(verified=False)
    by_check: dict[str, dict[str, CheckResult]] = {}
    for name in columns:
        for result in by_place[name]:
            by_check.setdefault(result.check, {})[name] = result
    results = [result.result for name in columns for result in by_place[name]]
    return Integrity(
        verified=True,
        columns=columns,
        rows=tuple(_check_row(check, by_name, columns) for check, by_name in by_check.items()),
        passed=results.count("pass"),
        failed=results.count("fail"),
        not_applicable=results.count("not_applicable"),
        unverified=tuple(name for name in places if not by_place[name]),
        changed=tuple(name for name in columns if not _is_current(name, places[name], by_place[name])),
    )


def certificate_of(run: FinishedRun) -> CertificateWords | None:
    """Return the certificate of a run directory; None if it has none."""
    certificate = read_certificate(run.root)
    return None if certificate is None else certificate_words(certificate)


def checks_table(integrity: Integrity) -> Table:
    """Return every check in every cell."""

    def of_cell(place: int, name: str) -> Column:
        return column(name, name, "check", lambda row: row.results[place])

    columns = (
        column("check", ("check", "검사"), "code"),
        *(of_cell(place, name) for place, name in enumerate(integrity.columns)),
    )
    return Table("checks", Bilingual("Checks by cell", "셀별 검사"), columns, integrity.rows, style="checks")


def cells_table(cells: Sequence[CellState]) -> Table:
    """Return how far every cell came."""
    columns = (
        column("cell", ("cell", "셀"), "name", "name"),
        column("samples", ("samples", "샘플"), "count", "done"),
        column("expected", ("expected", "예정"), "count"),
        column("failed", ("failed", "실패"), "count"),
        column("completed", ("state", "상태"), "verdict", _state),
    )
    return Table("cells", Bilingual("Cells", "셀"), columns, tuple(cells))


def _state(cell: CellState) -> Verdict:
    code, korean = ("complete", "완료") if cell.completed else ("unfinished", "미완료")
    return Verdict(code, NO_MANIFEST if cell.expected is None else Bilingual(code, korean))


def _is_current(name: str, place: Path, results: Sequence[CheckResult]) -> bool:
    now = grid_hashes(place) if name == _GRID else cell_hashes(place)
    return is_unchanged(seen_hashes(results), now)


def _check_row(check: str, by_name: Mapping[str, CheckResult], columns: Sequence[str]) -> CheckRow:
    failures = [name for name in columns if name in by_name and by_name[name].result == "fail"]
    return CheckRow(
        check=check,
        results=tuple(by_name[name].result if name in by_name else "" for name in columns),
        details=tuple(f"{name}: {by_name[name].detail}" for name in failures),
    )
