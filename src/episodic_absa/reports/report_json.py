"""report.json: the answers and tables of a page for programs, without review text."""

from dataclasses import asdict
from typing import Any

from episodic_absa.reports.data.comparisons import ComparisonPart
from episodic_absa.reports.data.report_data import ReportData
from episodic_absa.reports.tables.table import Table, table_fields
from episodic_absa.serialization.canonical_json import indented_json


def report_json(data: ReportData) -> str:
    """Return the headline, the answer of every comparison, and every table that the page shows."""
    return indented_json(
        {
            "run_id": data.facts.manifest.run_id,
            "scope": data.scope,
            "title": data.title,
            "reviews": data.facts.reviews,
            "reviews_with_gold": data.facts.with_gold,
            "conditions": [condition.name for condition in data.conditions],
            "headline": asdict(data.headline),
            "smallest_effect": data.arms.smallest_effect if data.arms else None,
            "comparisons": [_comparison(part) for part in data.comparisons],
            "exploratory": [
                {"a": part.comparison.a, "b": part.comparison.b, "because": part.exploratory.en}
                for part in data.comparisons
                if part.exploratory
            ],
            "tables": {name: _table(table) for name, table in data.tables.items()},
        }
    )


def _comparison(part: ComparisonPart) -> dict[str, Any]:
    primary = part.comparison.primary
    return {
        "a": part.comparison.a,
        "b": part.comparison.b,
        "answer": asdict(part.answer),
        "metric": primary.metric,
        "orders": primary.orders_n,
        "method": primary.method,
        "table": part.table.name,
    }


def _table(table: Table) -> dict[str, Any]:
    """Return a table with the columns of its CSV file."""
    header, *rows = table_fields(table)
    return {
        "title": table.title.en,
        "note": table.note.en if table.note else None,
        "rows": [dict(zip(header, row, strict=True)) for row in rows],
    }
