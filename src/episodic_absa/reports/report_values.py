"""report.json: the values of a page for programs, without review text."""

from dataclasses import asdict
from typing import Any, Final

from episodic_absa.metrics.per_sample.sample_values import MICRO_METRICS
from episodic_absa.reports.data.answer.verdict_words import verdict_words
from episodic_absa.reports.data.comparisons import ComparisonPart, words_of
from episodic_absa.reports.data.report_data import Arm, Arms, DifferencePart, ReportData
from episodic_absa.serialization.canonical_json import indented_json

_ESTIMATE: Final = {"difference", "ci_low", "ci_high", "p_value"}
_PRIMARY: Final = _ESTIMATE | {
    *("metric", "kind", "n_uids", "n_pairs", "mean_a", "mean_b", "p_holm", "p_orders", "p_exact", "dz"),
    *("variation", "detectable", "is_primary"),
}
_STRATUM: Final = _ESTIMATE | {"stratum", "n_uids", "mean_a", "mean_b", "p_holm", "is_small"}
_EFFECT: Final = {
    *("principle_id", "n_shown", "n_withheld", "mean_shown", "mean_withheld", "effect"),
    *("ci_low", "ci_high", "p_value", "p_holm", "verdict"),
}


def report_json(data: ReportData) -> str:
    """Return the answer, arms, strata, effects of principles, quality over cost, errors, languages and domains."""
    groups = {table.by: table.model_dump(mode="json")["rows"] for table in data.quality.groups}
    return indented_json(
        {
            "run_id": data.facts.manifest.run_id,
            "scope": data.scope,
            "title": data.title,
            "reviews": data.facts.reviews,
            "reviews_with_gold": data.facts.with_gold,
            "conditions": [condition.name for condition in data.conditions],
            "headline": asdict(data.headline),
            "comparisons": [_comparison(part) for part in data.comparisons],
            "exploratory": [
                {"a": part.comparison.a, "b": part.comparison.b, "because": part.exploratory.en}
                for part in data.comparisons
                if part.exploratory
            ],
            "arms": _arms(data.arms) if data.arms else None,
            "strata": [_strata(part) for part in data.strata],
            "principle_effects": [_effects(part) for part in data.effects],
            "quality_over_cost": data.quality.cost.model_dump(mode="json") if data.quality.cost else None,
            "errors": [row.model_dump(mode="json") for row in data.quality.errors],
            "by_language": groups.get("language", []),
            "by_domain": groups.get("domain", []),
        }
    )


def _comparison(part: ComparisonPart) -> dict[str, Any]:
    """Return one comparison in its primary metric; comparisons.csv has every metric."""
    primary, a = part.comparison.primary, part.comparison.a
    return {
        "a": a,
        "b": part.comparison.b,
        "answer": asdict(part.answer),
        "orders": primary.orders_n,
        "method": primary.method,
        "primary": {
            **primary.model_dump(mode="json", include=_PRIMARY),
            "is_micro": primary.metric in MICRO_METRICS,
            "words": asdict(words_of(primary, a)),
        },
        "exploratory": part.exploratory.en if part.exploratory else None,
    }


def _arms(arms: Arms) -> dict[str, Any]:
    return {**arms._asdict(), "rows": [_arm(arm) for arm in arms.rows]}


def _arm(arm: Arm) -> dict[str, Any]:
    paired = arm.paired
    return {
        "condition": arm.condition,
        "colour": arm.colour,
        "is_asked": arm.is_asked,
        "exploratory": arm.exploratory,
        "reviews": paired.n_uids,
        "orders": paired.orders_n,
        "mean": paired.mean_a,
        "baseline_mean": paired.mean_b,
        **paired.model_dump(mode="json", include=_ESTIMATE | {"p_orders", "variation"}),
        "verdict": arm.verdict.kind,
        "words": asdict(verdict_words(arm.verdict)),
    }


def _strata(part: DifferencePart) -> dict[str, Any]:
    first = part.rows[0].model_dump(include={"a", "b", "by", "metric", "interaction_p"})
    rows = [row.model_dump(mode="json", include=_STRATUM) for row in part.rows]
    return {**first, "title": asdict(part.title), **_shared(part), "overlapping": part.overlapping, "rows": rows}


def _effects(part: DifferencePart) -> dict[str, Any]:
    first = part.rows[0].model_dump(include={"condition", "shadow", "metric"})
    return {**first, **_shared(part), "rows": [row.model_dump(mode="json", include=_EFFECT) for row in part.rows]}


def _shared(part: DifferencePart) -> dict[str, Any]:
    return {"exploratory": part.exploratory, "sentence": asdict(part.sentence)}
