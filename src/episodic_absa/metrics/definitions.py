"""What every metric means: one sentence in English and in Korean, shown wherever the number is."""

from collections.abc import Mapping
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
    """One metric, explained."""

    metric: str
    group: MetricGroup
    kind: MetricKind
    definition: str
    definition_ko: str
    better: Literal["higher", "lower", ""] = ""
    """Which direction is wanted; "" where the number only describes."""
    scope: Literal["cell", "seeds", "sample"] = "cell"
    """Computed for one cell, for one condition over its seeds, or for one sample to be compared in pairs."""


def definition_of(metric: str) -> MetricDefinition:
    """Return what a metric means, members of families included.

    Raises:
        KeyError: there is no such metric.
    """
    return all_definitions()[metric]


@cache
def all_definitions() -> Mapping[str, MetricDefinition]:
    """Return every metric by name, in the order of the tables."""
    found: dict[str, MetricDefinition] = {}
    entries = read_yaml_file(Path(__file__).with_name("definitions.yaml"))
    # Of one group, the metric itself comes before the same over Stage1, as tables show them.
    for variant in (_plain, _over_stage1, _over_baseline):
        for entry in entries:
            for one in variant(entry):
                if one.metric in found:
                    raise ValueError(f"{one.metric} is defined twice")
                found[one.metric] = one
    groups = get_args(MetricGroup)
    return dict(sorted(found.items(), key=lambda item: groups.index(item[1].group)))


def _plain(entry: Mapping[str, Any]) -> list[MetricDefinition]:
    fields = {key: value for key, value in entry.items() if key not in ("also", "over")}
    members = _FAMILIES[entry["over"]] if "over" in entry else ("",)
    texts = ("metric", "definition", "definition_ko")
    return [
        MetricDefinition.model_validate(fields | {key: fields[key].replace("{member}", member) for key in texts})
        for member in members
    ]


def _over_stage1(entry: Mapping[str, Any]) -> list[MetricDefinition]:
    return [
        one.model_copy(
            update={
                "metric": f"{one.metric}_s1",
                "definition": f"{one.metric} over the tuples of Stage1.",
                "definition_ko": f"Stage1 튜플로 구한 {one.metric}.",
            }
        )
        for one in (_plain(entry) if "s1" in entry.get("also", ()) else [])
    ]


def _over_baseline(entry: Mapping[str, Any]) -> list[MetricDefinition]:
    return [
        one.model_copy(
            update={
                "metric": f"{BASELINE}_{one.metric}",
                "group": "baseline",
                "definition": f"{one.metric} of the majority baseline.",
                "definition_ko": f"다수 극성 기준선의 {one.metric}.",
            }
        )
        for one in (_plain(entry) if "baseline" in entry.get("also", ()) else [])
    ]
