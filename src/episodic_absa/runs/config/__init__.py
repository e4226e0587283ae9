"""The experiment: its file, its data, its cells and the hash that names a cell's configuration."""

from episodic_absa.runs.config.cells import Cell, all_cells, cell_named, evaluated_cells, require_stores, start_stores
from episodic_absa.runs.config.cfg_hash import commit_of, resource_hashes
from episodic_absa.runs.config.experiment_config import ExperimentConfig, ExperimentFile, load_experiment
from episodic_absa.runs.config.experiment_data import ExperimentData

__all__ = [
    "Cell",
    "ExperimentConfig",
    "ExperimentData",
    "ExperimentFile",
    "all_cells",
    "cell_named",
    "commit_of",
    "evaluated_cells",
    "load_experiment",
    "require_stores",
    "resource_hashes",
    "start_stores",
]
