"""The definition of every metric, in English and in Korean. Reports and docs show these sentences."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from episodic_absa.metrics.metric_value import MetricGroup, MetricKind
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.yaml_file import read_yaml_file
from episodic_absa.vocabulary import AdoptReason, DebateGateReason, OverrideSkip, Stage2GateReason

BASELINE: Final = "baseline_majority"
_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "OverrideSkip": get_args(OverrideSkip),
    "AdoptReason": get_args(AdoptReason),
    "DebateGateReason": get_args(DebateGateReason),
    "Stage2GateReason": get_args(Stage2GateReason),
}


class MetricDefinition(FrozenModel):
    """The name, group and meaning of one metric."""

    metric: str
    group: MetricGroup
    kind: MetricKind
    definition: str
    definition_ko: str
    better: Literal["higher", "lower", ""] = ""
    """The desired direction; "" for a metric that has none."""
    scope: Literal["cell", "seeds", "sample"] = "cell"
    """What the value belongs to: a cell, a condition over its seeds, or a sample in a paired comparison."""


def definition_of(metric: str) -> MetricDefinition:
    """Return the definition of a metric.

    Raises:
        KeyError: no metric has this name.

    Example:
        >>> definition_of("exact_match").better
        'higher'
    """
    return all_definitions()[metric]


@cache
def all_definitions() -> Mapping[str, MetricDefinition]:
    """Return the definitions by metric name, in the order of the tables."""
    return definitions_in(read_yaml_file(Path(__file__).with_name("definitions.yaml")))


def definitions_in(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, MetricDefinition]:
    """Return the definitions that the entries of definitions.yaml give.

    An entry gives one metric, or several: one per member of a family, and its variants over Stage1 and over the
    baseline.

    Raises:
        ValueError: two entries give the same metric.
    """
    definitions: dict[str, MetricDefinition] = {}
    # The outer loop is over variants: tables list all metrics of a group first, then the same metrics over Stage1.
    for variant in (_as_written, _over_stage1, _over_baseline):
        for entry in entries:
            for definition in variant(entry):
                if definition.metric in definitions:
                    raise ValueError(f"definitions.yaml defines {definition.metric} twice; remove one entry")
                definitions[definition.metric] = definition
    groups = get_args(MetricGroup)
    return dict(sorted(definitions.items(), key=lambda item: groups.index(item[1].group)))


def _as_written(entry: Mapping[str, Any]) -> list[MetricDefinition]:
    fields = {key: value for key, value in entry.items() if key not in ("also", "over")}
    members = _FAMILIES[entry["over"]] if "over" in entry else ("",)
    texts = ("metric", "definition", "definition_ko")
    return [
        MetricDefinition.model_validate(fields | {key: fields[key].replace("{member}", member) for key in texts})
        for member in members
    ]


def _over_stage1(entry: Mapping[str, Any]) -> list[MetricDefinition]:
    return [
        final.model_copy(
            update={
                "metric": f"{final.metric}_s1",
                "definition": f"{final.metric} over the Stage1 tuples.",
                "definition_ko": f"Stage1 튜플로 계산한 {final.metric}입니다.",
            }
        )
        for final in (_as_written(entry) if "s1" in entry.get("also", ()) else [])
    ]


def _over_baseline(entry: Mapping[str, Any]) -> list[MetricDefinition]:
    return [
        final.model_copy(
            update={
                "metric": f"{BASELINE}_{final.metric}",
                "group": "baseline",
                "definition": f"{final.metric} of the majority baseline.",
                "definition_ko": f"다수 극성 기준선의 {final.metric}입니다.",
            }
        )
        for final in (_as_written(entry) if "baseline" in entry.get("also", ()) else [])
    ]
