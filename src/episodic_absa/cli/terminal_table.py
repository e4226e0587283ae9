"""Renders a table of the report for the terminal."""

from rich.table import Table as Grid
from rich.text import Text

from episodic_absa.reports.tables.table import WORDS, Column, Missing, Table, shown_text, words_in
from episodic_absa.serialization.terminal_text import visible_text


def terminal_table(table: Table) -> Grid:
    """Lay out the columns that the page shows, in English; a bad verdict is red."""
    columns = [column for column in table.columns_in("page") if column.kind != "plot"]
    grid = Grid(box=None, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for column in columns:
        head = words_in(column.head, "en")
        if column.kind in WORDS:
            grid.add_column(head, overflow="fold")
        else:
            grid.add_column(head, justify="right", no_wrap=True)
    for row in table.rows:
        grid.add_row(*(_cell(column, row) for column in columns))
    return grid


def _cell(column: Column, row: object) -> Text:
    value = column.read(row)
    if isinstance(value, Missing):
        return Text(value.reason.en, "dim")
    is_bad = column.kind == "verdict" and value.is_bad
    return Text(visible_text(shown_text(column, value, "en")), "bold red" if is_bad else "")
