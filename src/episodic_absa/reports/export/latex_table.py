"""A table of the report as LaTeX, in the style of the package booktabs."""

import re
from typing import Any, Final, Literal

from episodic_absa.reports import number_format
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.export.export_table import Column, ExportTable

Language = Literal["en", "ko"]
_LEFT: Final = ("name", "words")
_SPECIAL: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "–": "--",
        "±": r"$\pm$",
        "\n": " ",
    }
)
_PREAMBLE: Final = {
    "en": r"% needs \usepackage{booktabs}",
    "ko": r"% needs \usepackage{booktabs} and \usepackage{kotex}",
}


def table_latex(table: ExportTable, language: Language) -> str:
    """Return the table as a LaTeX float; numbers have the digits that the page shows."""
    columns = "".join("l" if column.kind in _LEFT else "r" for column in table.columns)
    heads = " & ".join(escaped(_words(column.head, language)) for column in table.columns)
    # A row that begins with a bracket would be read as an argument of the line break before it.
    rows = [re.sub(r"^\[", "{[}", " & ".join(_row(table.columns, row, language))) for row in table.rows]
    note = rf"\par\smallskip\footnotesize {escaped(_words(table.note, language))}" if table.note else None
    lines = [
        _PREAMBLE[language],
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(_words(table.title, language))}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
        *(rf"{row} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([note] if note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return a text in which LaTeX's special characters stand for themselves."""
    return text.translate(_SPECIAL)


def _words(words: Any, language: Language) -> str:
    return getattr(words, language) if isinstance(words, Bilingual) else str(words)


def _row(columns: tuple[Column, ...], row: tuple[Any, ...], language: Language) -> list[str]:
    return [escaped(_text(column, value, language)) for column, value in zip(columns, row, strict=True)]


def _text(column: Column, value: Any, language: Language) -> str:
    match column.kind:
        case "count":
            return number_format.plain(value, 0)
        case "amount":
            return number_format.amount(value)
        case "number":
            return number_format.plain(value)
        case "signed":
            return number_format.signed(value)
        case "p":
            return number_format.p_value(value)
        case "interval":
            return number_format.interval(value.low, value.high, sign=True)
        case "score":
            return _with_interval(number_format.plain(value.value), value.low, value.high)
        case "metric":
            shown = number_format.metric(value.value, is_count=value.is_count)
            return _with_interval(shown, value.low, value.high)
        case _:
            return "" if value is None else _words(value, language)


def _with_interval(shown: str, low: float | None, high: float | None) -> str:
    return shown if low is None or high is None else f"{shown} {number_format.interval(low, high)}"
