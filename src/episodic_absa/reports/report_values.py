"""report.json: the values of a page for programs, without review text."""

from typing import Any

from episodic_absa.reports.data.report_data import ComparisonView, ReportData
from episodic_absa.serialization.canonical_json import indented_json


def report_json(data: ReportData) -> str:
    """Return the answer, arms, strata, effects of principles, quality over cost, errors, languages and domains."""
    groups = {table.by: table.model_dump(mode="json")["rows"] for table in data.views.groups}
    return indented_json(
        {
            "run_id": data.facts.run_id,
            "scope": data.scope,
            "title": data.title,
            "reviews": data.facts.reviews,
            "reviews_with_gold": data.facts.with_gold,
            "conditions": [condition.name for condition in data.conditions],
            "headline": data.headline.model_dump(),
            "comparisons": [_comparison(comparison) for comparison in data.comparisons],
            "exploratory": [
                {"a": comparison.a, "b": comparison.b, "because": comparison.exploratory.en}
                for comparison in data.comparisons
                if comparison.exploratory
            ],
            "arms": data.arms.model_dump(mode="json") if data.arms else None,
            "strata": [table.model_dump(mode="json") for table in data.strata],
            "principle_effects": [table.model_dump(mode="json") for table in data.effects],
            "quality_over_cost": data.views.cost.model_dump(mode="json") if data.views.cost else None,
            "errors": [row.model_dump(mode="json") for row in data.views.errors],
            "by_language": groups.get("language", []),
            "by_domain": groups.get("domain", []),
        }
    )


def _comparison(comparison: ComparisonView) -> dict[str, Any]:
    """Return one comparison in its primary metric; comparisons.csv has every metric."""
    primary = next((row for row in comparison.rows if row.is_primary), None)
    return {
        "a": comparison.a,
        "b": comparison.b,
        "answer": comparison.answer.model_dump(),
        "orders": comparison.orders_n,
        "method": comparison.method,
        "primary": primary.model_dump(mode="json") if primary else None,
        "exploratory": comparison.exploratory.en if comparison.exploratory else None,
    }
