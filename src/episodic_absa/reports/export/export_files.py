"""All files that a report can be saved as, by their names."""

from pathlib import Path
from typing import Final

from episodic_absa.errors import RunDirectoryError
from episodic_absa.reports.data.report_data import ReportData
from episodic_absa.reports.export.export_table import ExportTable, table_csv
from episodic_absa.reports.export.exported_figures import Figure, figures_of, standalone_svg
from episodic_absa.reports.export.exported_tables import tables_of
from episodic_absa.reports.export.latex_table import Language, table_latex
from episodic_absa.serialization.csv_text import replace_file

_SUFFIXES: Final[dict[Language, str]] = {"en": "", "ko": ".ko"}


def export_texts(data: ReportData) -> dict[str, str]:
    """Return the content of every file by its name.

    A figure is NAME.svg, a table NAME.csv and NAME.tex; NAME.ko.svg and NAME.ko.tex have Korean words.
    """
    texts: dict[str, str] = {}
    for figure in figures_of(data).values():
        texts |= _figure_texts(figure)
    for table in tables_of(data).values():
        texts |= _table_texts(table)
    return texts


def export_report(data: ReportData, directory: Path) -> list[Path]:
    """Write every figure and table into a directory, which is made if it does not exist; return the paths.

    Raises:
        RunDirectoryError: a file cannot be written.
    """
    texts = export_texts(data)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"cannot make the directory {directory}: {error.strerror}; give another one with --export"
        raise RunDirectoryError(reason, path=directory) from error
    paths = [directory / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        replace_file(path, text, is_private=False)
    return paths


def _figure_texts(figure: Figure) -> dict[str, str]:
    return {f"{figure.name}{_SUFFIXES[language]}.svg": standalone_svg(figure, language) for language in _SUFFIXES}


def _table_texts(table: ExportTable) -> dict[str, str]:
    latex = {f"{table.name}{_SUFFIXES[language]}.tex": table_latex(table, language) for language in _SUFFIXES}
    return {f"{table.name}.csv": table_csv(table), **latex}
