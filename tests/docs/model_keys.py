"""The keys of an experiment file and the fields of what is persisted, read off the models."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import PurePath
from typing import Any, Final, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from episodic_absa.runs.config import ExperimentFile
from episodic_absa.schemas.run_files.adoption import OverrideDecisionLine
from episodic_absa.schemas.run_files.case_trace import TraceLine
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.schemas.run_files.sample_record import SampleRecord, SamplesHeader, SampleTiming
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, TombstoneV1_3, VerdictV1_3

_PERSISTED: Final[tuple[tuple[str, type[BaseModel]], ...]] = (
    ("samples.jsonl", SamplesHeader),
    ("samples.jsonl", SampleRecord),
    ("outputs.jsonl", OutputLine),
    ("scorecards.jsonl", Scorecard),
    ("traces.jsonl", TraceLine),
    ("override_gate_debug.jsonl", OverrideDecisionLine),
    ("timings.jsonl", SampleTiming),
    ("manifest.json", Manifest),
    ("question.json", Question),
    ("integrity.json", CheckResult),
    ("episodic_store.jsonl", EpisodicMemoryEntryV1_3),
    ("episodic_store.jsonl", VerdictV1_3),
    ("episodic_store.jsonl", TombstoneV1_3),
)


class ModelKey(NamedTuple):
    """A key as a reader of the reference sees it."""

    name: str
    """With the names of the blocks around it: `data.limit`."""
    form: str
    default: str
    meaning: str


def config_keys(model: type[BaseModel] = ExperimentFile, blocks: str = "") -> Iterator[ModelKey]:
    """Yield every key that is no block, in the order of the models."""
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from config_keys(field.annotation, f"{blocks}{name}.")
        elif name == "build" and blocks:
            yield from config_keys(_only_model(field), f"{blocks}{name}.")
        else:
            form = _form(schema["properties"][name], schema.get("$defs", {}))
            yield ModelKey(f"{blocks}{name}", form, _default(field), _meanings(model).get(name, ""))


def line_fields() -> Iterator[tuple[str, str, list[ModelKey]]]:
    """Yield each persisted model with its file and its outermost fields."""
    for file, model in _PERSISTED:
        schema = model.model_json_schema(mode="validation")
        definitions = schema.get("$defs", {})
        fields = [
            ModelKey(name, _form(schema["properties"][name], definitions), "", _meanings(model).get(name, ""))
            for name in model.model_fields
        ]
        yield file, model.__name__, fields


def block_meanings(model: type[BaseModel] = ExperimentFile) -> dict[str, str]:
    """Return the docstring of each block of the file."""
    return {
        name: inspect.cleandoc(field.annotation.__doc__ or "").splitlines()[0]
        for name, field in model.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    }


def _only_model(field: FieldInfo) -> type[BaseModel]:
    (model,) = (kind for kind in get_args(field.annotation) if kind is not type(None))
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    return model


@cache
def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings below the fields of a model and of those that it extends."""
    meanings: dict[str, str] = {}
    for part in reversed(model.__mro__):
        if not issubclass(part, BaseModel) or part is BaseModel:
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
        assert isinstance(definition, ast.ClassDef)
        for field, after in zip(definition.body, definition.body[1:], strict=False):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                meanings[field.target.id] = " ".join(inspect.cleandoc(str(after.value.value)).split())
    return meanings


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "required"
    return f"`{_as_yaml(field.default)}`"


def _as_yaml(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_as_yaml, value))}]"
    return value.as_posix() if isinstance(value, PurePath) else str(value)


def _form(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Return what a value may be, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        is_object = definitions[name].get("type") == "object"
        return f"`{name}`" if is_object else _form(definitions[name], definitions)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_form(part, definitions) for part in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_form(schema['additionalProperties'], definitions)}"
    if kind == "array":
        return f"list of {_items(schema, definitions)}"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    form = "path" if schema.get("format") == "path" else words.get(kind, kind)
    return form + _range(schema)


def _items(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    parts = schema.get("prefixItems") or [schema["items"]]
    forms = dict.fromkeys(_form(part, definitions) for part in parts)
    return ("" if len(parts) == 1 else f"{len(parts)} × ") + " or ".join(forms)


def _range(schema: dict[str, Any]) -> str:
    bounds = [
        (schema.get("minimum"), "from {}"),
        (schema.get("exclusiveMinimum"), "above {}"),
        (schema.get("maximum"), "to {}"),
        (schema.get("exclusiveMaximum"), "below {}"),
    ]
    told = [words.format(f"{bound:g}") for bound, words in bounds if bound is not None]
    return f" {' '.join(told)}" if told else ""
