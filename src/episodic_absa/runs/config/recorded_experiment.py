"""The whole configuration of a cell, read back from its manifest."""

from pydantic import ValidationError

from episodic_absa.runs.config.experiment_config import ExperimentFile
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.serialization.quoted_value import reasons_of


def recorded_experiment(manifest: Manifest) -> ExperimentFile:
    """Return the experiment file that a cell was run with; the cell's order and seed stand in the manifest.

    Raises:
        ValidationError: this version of the package cannot read the configuration.
    """
    recorded = manifest.cfg_canonical
    experiment = {key: value for key, value in recorded["experiment"].items() if key not in ("order", "seed")}
    return ExperimentFile.model_validate({**recorded, "experiment": experiment})


def recorded_problem(manifest: Manifest) -> str:
    """Return why the recorded configuration cannot be read, an empty text if it can."""
    try:
        recorded_experiment(manifest)
    except ValidationError as error:
        return f"cfg_canonical: {reasons_of(error)}"
    return ""
