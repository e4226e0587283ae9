from pathlib import Path

from tests.schemas.json_schema_files import SCHEMA_FOLDER, json_schemas


def test_the_shipped_schema_files_are_those_of_the_models() -> None:
    shipped = {path.name: path.read_text("utf-8") for path in SCHEMA_FOLDER.glob("*.json")}
    assert shipped == dict(json_schemas()), "run `make schemas`"


def test_every_object_that_is_persisted_or_shown_has_a_schema_file() -> None:
    assert {Path(name).stem for name in json_schemas()} >= {
        "input_signature_v1_1",
        "episodic_memory_entry_v1_1",
        "advisory_v1_1",
        "evidence_v1_1",
        "advisory_constraints_v1_1",
        "advisory_bundle_v1_1",
        "advisory_bundle_meta_v1_1",
        "case_trace_v1_1",
    }
