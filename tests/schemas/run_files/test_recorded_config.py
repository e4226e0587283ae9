"""The excerpt that readers take from a recorded configuration follows the experiment file."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from episodic_absa.runs.config import ExperimentFile
from episodic_absa.schemas.run_files.manifest import RecordedConfig

WRITTEN_BY_THE_RUN = {"experiment.order", "experiment.seed"}


def keys_of(model: type[BaseModel], place: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield place + name
        kind: Any = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from keys_of(kind, f"{place}{name}.")


def test_every_recorded_key_is_one_of_the_experiment_file() -> None:
    assert set(keys_of(RecordedConfig)) - WRITTEN_BY_THE_RUN <= set(keys_of(ExperimentFile))


def test_an_experiment_file_is_read_back_by_its_excerpt() -> None:
    data = {"allowed_roots": ["."], "train_file": "train.csv", "valid_file": "valid.csv"}
    file = ExperimentFile.model_validate({"run_id": "toy", "data": data, "eval": {"count_backfilled": True}})
    config = RecordedConfig.model_validate(file.model_dump(mode="json"))
    assert (config.out, config.data.train_file) == (file.out, file.data.train_file)
    assert config.data.process_split == file.data.process_split
    assert config.eval.count_backfilled is True
    assert config.pipeline.ev_weights == file.pipeline.ev_weights
    assert config.experiment.seed is None
