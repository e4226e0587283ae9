"""All files that the figures and tables of a report can be saved as, by their names."""

from pathlib import Path
from typing import Final

from episodic_absa.errors import RunDirectoryError
from episodic_absa.reports.bilingual import Language
from episodic_absa.reports.data.report_data import ReportData
from episodic_absa.reports.plots.figure import standalone_svg
from episodic_absa.reports.tables import table_csv, table_latex
from episodic_absa.serialization.csv_text import replace_file

_SUFFIXES: Final[dict[Language, str]] = {"en": "", "ko": ".ko"}


def export_texts(data: ReportData) -> dict[str, str]:
    """Return the content of every file by its name.

    A figure is NAME.svg, a table NAME.csv and NAME.tex; NAME.ko.svg and NAME.ko.tex have Korean words.
    """
    texts = {f"{name}.csv": table_csv(table) for name, table in data.tables.items()}
    for language, suffix in _SUFFIXES.items():
        texts |= {f"{name}{suffix}.svg": standalone_svg(figure, language) for name, figure in data.figures.items()}
        texts |= {f"{name}{suffix}.tex": table_latex(table, language) for name, table in data.tables.items()}
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
