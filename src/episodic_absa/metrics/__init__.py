"""Metrics of a run: pure functions over scorecards. Nothing in this package reads the files of a run."""

from episodic_absa.metrics.cell_metrics import compute_cell_metrics
from episodic_absa.metrics.definitions import MetricDefinition, all_definitions, definition_of
from episodic_absa.metrics.memory_growth import GrowthLine, compute_growth
from episodic_absa.metrics.metric_value import MetricGroup, MetricKind, MetricValue
from episodic_absa.metrics.per_sample.pair_errors import PairErrors, pair_errors
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS, sample_value
from episodic_absa.metrics.stability import Stability, compute_stability
from episodic_absa.schemas.run_files.manifest import Majority

__all__ = [
    "PAIRED_METRICS",
    "GrowthLine",
    "Majority",
    "MetricDefinition",
    "MetricGroup",
    "MetricKind",
    "MetricValue",
    "PairErrors",
    "Stability",
    "all_definitions",
    "compute_cell_metrics",
    "compute_growth",
    "compute_stability",
    "definition_of",
    "pair_errors",
    "sample_value",
]
