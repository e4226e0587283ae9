"""Renders a table as LaTeX, in the style of the package booktabs."""

import re
from typing import Final

from episodic_absa.reports.bilingual import Language
from episodic_absa.reports.tables.table import WORDS, Table, shown_text, words_in

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


def table_latex(table: Table, language: Language) -> str:
    """Return the table as a LaTeX float; numbers have the digits that the page shows."""
    columns = table.columns_in("files")
    heads = " & ".join(escaped(words_in(column.head, language)) for column in columns)
    rows = [
        " & ".join(escaped(shown_text(column, column.read(row), language)) for column in columns) for row in table.rows
    ]
    lines = [
        _PREAMBLE[language],
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(words_in(table.title, language))}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{''.join('l' if column.kind in WORDS else 'r' for column in columns)}}}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
        # A row that begins with a bracket would be read as an argument of the line break before it.
        *(re.sub(r"^\[", "{[}", row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {escaped(words_in(table.note, language))}"] if table.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return a text in which LaTeX's special characters stand for themselves."""
    return text.translate(_SPECIAL)
