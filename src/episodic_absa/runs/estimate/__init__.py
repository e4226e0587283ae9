"""What a run takes, estimated before anything is sent."""

from episodic_absa.runs.estimate.dry_run import RunEstimate, estimate_run
from episodic_absa.runs.estimate.sample_loads import measure_loads

__all__ = [
    "RunEstimate",
    "estimate_run",
    "measure_loads",
]
