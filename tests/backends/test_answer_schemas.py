"""The schemas that models are sent, and that request keys hash, stay as they are, whatever classes are called."""

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field
from tests.pipeline import builders

from episodic_absa import Analyzer
from episodic_absa.backends.answer_parsing import parse_reply
from episodic_absa.backends.answer_schemas import frozen_name, frozen_schemas, json_schema, schema_text, schema_title
from episodic_absa.backends.backend import Ask, Prompt, Request
from episodic_absa.backends.cache import compute_request_key
from episodic_absa.memory import EpisodicMemorySettings
from episodic_absa.schemas.answers import JointAnswer
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.pipeline_settings import PipelineSettings, Stage1Settings
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.serialization.canonical_json import canonical_json

b: Any = builders

PINNED = {
    "seed.ate": "e0b55e499c21947d860d02d417c3a8fcf171ffcd04eff73e4683c5a7167b5ec5",
    "seed.atsa": "908a373295f928c8eaa9ea8eb30165ef82e1d2b136c3c41abe40adf06d96a46c",
    "seed.validator": "a2e1eb020c98a452b44917273bd8fa2a7bde5ad1ad5281775aaf8f9f8d4000f1",
    "seed.turn": "be51a3815b943bba12cfdce26e39602635bccc4ed05f2cd334305c654c23c64e",
    "seed.judge": "ccbce51166e1cf45b1e813f385ce1df5c454ac1cabbb89e31a90424ef301b359",
    "seed.stage2_ate": "53377ba28668409d06ff82554ade33afd88e7ec2c42f18e9d6c0ff896f76dec8",
    "seed.stage2_atsa": "c2ae0773f9faae1681cdbfeea8f089fbc2134a6d088e2c9c278e7b80ed0472ef",
    "seed.stage2_validator": "9fbfb851c54d4a544cdc930eb54c5c516abcdd273781138d91820baa04b7cd70",
    "joint": "96219f8598c127e35946c45ff202448af1df2df51db5a4cd1d34f49b090ebb2c",
    "terms": "e5b116b3ac78d7bb79a5c56c0a51f901e5d94c27cfb8fbc74de1b9d8c4801759",
    "judgements": "5599daf429e2bc32dcbb118d258f2c1a8ee08b3aaa996c5b7e6707e6770137c7",
    "risks": "ceadcb55f44e2976edf7163f87dd44fc0080a43d86d90601532e1292bc7de862",
    "targets": "22affd5fbe35cea13152b5b7ac8cadaefeb64b853ac680153cc55be14c064209",
    "wrong_pairs": "f85489d10b8a1fa464634fe54ba27fb3306683941c18e25ac2c6708f73e771b4",
    "decisions": "1b5db5ac548f0cd87b3ac278d5bff855f80fbb17c12fa15397783fbe406d08a6",
    "target_verdicts": "d5326435b85fff9386b5d197f2d72ed84f8d7677aeb60ce3d3dd685de511a789",
    "pair_verdicts": "de44d11119bc43b143055d91dfb8d7cd8169e0f273f7d60694555580d8833a64",
    "referee": "8e0267ccc3eba9544247f8220f5a90cc1815b4af6c500e7eb8ecd6c435ad62b9",
}
"""The sha256 of each schema as version 0.2 hashed it into its request keys."""

ASKED_BY_SEED_RULES = {
    "ate": "seed.ate",
    "atsa": "seed.atsa",
    "validator": "seed.validator",
    "epm": "seed.turn",
    "tan": "seed.turn",
    "cj": "seed.turn",
    "judge": "seed.judge",
    "stage2_ate": "seed.stage2_ate",
    "stage2_atsa": "seed.stage2_atsa",
    "stage2_validator": "seed.stage2_validator",
}
ASKED_BY_DEFAULT_RULES = {
    "joint": "joint",
    "validator": "risks",
    "epm": "judgements",
    "tan": "targets",
    "cj": "wrong_pairs",
    "judge": "decisions",
    "stage2_ate": "target_verdicts",
    "stage2_atsa": "pair_verdicts",
    "stage2_validator": "risks",
    "referee": "referee",
}
TWO_ASKS = {"ate": "terms", "atsa": "judgements"}
"""What default rules ask instead of `joint` with `stage1.joint: false`."""


def asked_models(folder: Path, backend: Any, conditions: str, **pipeline: Any) -> dict[str, type[BaseModel]]:
    """Return the answer model of every ask of one analysed review."""
    with Analyzer(
        backend=backend,
        condition="C2",
        conditions=conditions,
        store=folder / "store.jsonl",
        pipeline=PipelineSettings(reader=False, **pipeline),  # the reader would refuse the scripted change
        memory=EpisodicMemorySettings(referee=conditions == "v3_0"),
    ) as analyzer:
        analyzer.analyze(b.TEXT)
    models: dict[str, type[BaseModel]] = {ask.role: ask.output_model for ask in backend.asks}
    return models


def key_of(model: type[BaseModel], attempt: int = 1) -> str:
    """Return the key of a request that differs from others in its answer model alone."""
    ask = Ask("joint", AteInputs(text="t", language="en"), Prompt("p", "system", "user"), model)
    return compute_request_key(Request(ask, attempt))


def shape(schema: Any, definitions: dict[str, Any] | None = None) -> Any:
    """Return what a schema demands: titles, descriptions and names of definitions left out."""
    if isinstance(schema, list):
        return [shape(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    definitions = schema.get("$defs", {}) if definitions is None else definitions
    if "$ref" in schema:
        return shape(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {
        key: [(name, shape(field, definitions)) for name, field in value.items()]
        if key == "properties"
        else shape(value, definitions)
        for key, value in schema.items()
        if key not in ("title", "description", "$defs")
    }


def test_the_frozen_schemas_are_those_of_0_2() -> None:
    hashed = {
        name: hashlib.sha256(canonical_json(schema).encode()).hexdigest() for name, schema in frozen_schemas().items()
    }
    assert hashed == PINNED


@pytest.mark.parametrize(
    ("conditions", "pipeline", "expected"),
    [
        ("v1_3", {}, ASKED_BY_SEED_RULES),
        ("v3_0", {}, ASKED_BY_DEFAULT_RULES),
        (
            "v3_0",
            {"stage1": Stage1Settings(joint=False)},
            {role: name for role, name in (ASKED_BY_DEFAULT_RULES | TWO_ASKS).items() if role != "joint"},
        ),
    ],
)
def test_every_ask_names_its_frozen_schema(
    tmp_path: Path, conditions: str, pipeline: dict[str, Any], expected: dict[str, str]
) -> None:
    if conditions == "v1_3":
        backend = b.ScriptedBackend(b.RISKY_ANSWERS)
    else:
        terms = {"ate": {"terms": ["food", "service"]}, "atsa": b.DEFAULT_ANSWERS["epm"]}
        backend = b.default_backend(terms, b.DEFAULT_RISKY, b.DEFAULT_FLIP, {"referee": {"better": "A"}})
    models = asked_models(tmp_path, backend, conditions, **pipeline)
    assert {role: frozen_name(model) for role, model in models.items()} == expected
    for model in models.values():
        # The class that reads a reply demands what the model was asked for, in the same order.
        assert shape(model.model_json_schema()) == shape(json_schema(model))


def test_the_tables_of_asks_know_every_schema() -> None:
    tables = (ASKED_BY_SEED_RULES, ASKED_BY_DEFAULT_RULES, TWO_ASKS)
    assert {name for table in tables for name in table.values()} == set(PINNED)


def test_renaming_and_describing_a_class_changes_no_key_and_no_request() -> None:
    class Item(FrozenModel):
        """Another word for a pair."""

        quote: str
        term: str
        polarity: str

    class Renamed(FrozenModel):
        """Moved, renamed and described otherwise."""

        frozen_schema: ClassVar[str] = "joint"
        items: tuple[Item, ...] = Field(alias="pairs")

    assert key_of(Renamed) == key_of(JointAnswer)
    assert json.dumps(json_schema(Renamed)) == json.dumps(json_schema(JointAnswer))
    assert schema_text(Renamed) == schema_text(JointAnswer)
    assert schema_title(Renamed) == schema_title(JointAnswer) == "JointAnswer"
    read = parse_reply('{"pairs": [{"quote": "great", "term": "food", "polarity": "positive"}]}', Renamed)
    assert read.items[0].term == "food"


def test_the_formula_of_the_key_is_that_of_0_2() -> None:
    assert key_of(JointAnswer) == "cab16d25d7d7e8cf957dbe4ad8965939f65f1a6571b7f7c3259680c356616927"
    assert key_of(JointAnswer, attempt=2) == "a60fce9e4e0ec51dd9b6976b2ef5a98f07dc52abe3bdbe2489c64ec1d31f8ebd"


def test_an_answer_of_a_users_own_is_asked_for_by_its_class() -> None:
    class Stars(FrozenModel):
        stars: int

    class MorePairs(JointAnswer):
        mood: str

    for model in (Stars, MorePairs):
        assert frozen_name(model) is None
        assert json_schema(model) == model.model_json_schema()
        assert schema_title(model) == model.__name__
    assert "mood" in schema_text(MorePairs)
    assert len({key_of(Stars), key_of(MorePairs), key_of(JointAnswer)}) == 3
