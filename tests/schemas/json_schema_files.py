"""Writes the shipped JSON Schema files from the models: `make schemas`. A test fails when they are stale."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    EpisodicMemoryEntryV1_1,
    EvidenceV1_1,
    InputSignatureV1_1,
)
from episodic_absa.schemas.memory_v1_2 import (
    AdvisoryBundleV1_2,
    AdvisoryV1_2,
    ChangeOutcomeV1_2,
    EpisodicMemoryEntryV1_2,
    TallyV1_2,
    VerdictV1_2,
)
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.case_trace import CaseTraceV1_1
from episodic_absa.schemas.run_files.certificate import Certificate
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.schemas.stored.memory_v1_3 import AnswerV1_3, EpisodicMemoryEntryV1_3, TombstoneV1_3, VerdictV1_3

SCHEMA_FOLDER: Final = Path(str(files("episodic_absa"))) / "schemas" / "json"
_MODELS: Final[tuple[type[BaseModel], ...]] = (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryBundleV1_2,
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    AdvisoryV1_2,
    AnswerV1_3,
    CaseTraceV1_1,
    Certificate,
    ChangeOutcomeV1_2,
    EpisodicMemoryEntryV1_1,
    EpisodicMemoryEntryV1_2,
    EpisodicMemoryEntryV1_3,
    EvidenceV1_1,
    InputSignatureV1_1,
    MemoryMeta,
    Scorecard,
    TallyV1_2,
    TombstoneV1_3,
    VerdictV1_2,
    VerdictV1_3,
)


def json_schemas() -> Mapping[str, str]:
    """Return file name and content of every schema."""
    return {
        f"{_snake_case(model.__name__)}.json": json.dumps(
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                **model.model_json_schema(mode="serialization"),
            },
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
        for model in _MODELS
    }


def write_json_schemas(folder: Path = SCHEMA_FOLDER) -> None:
    """Write every schema file."""
    folder.mkdir(exist_ok=True)
    for name, content in json_schemas().items():
        (folder / name).write_text(content, encoding="utf-8")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


if __name__ == "__main__":
    write_json_schemas()
