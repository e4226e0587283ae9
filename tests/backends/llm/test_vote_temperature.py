"""The temperature of a vote: it reaches the server, and it keeps the answers of votes apart from all others."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.backends.llm.loopback_model import LoopbackModel, answer

from episodic_absa import Analyzer
from episodic_absa.backends.backend import Ask, Prompt, Request
from episodic_absa.backends.cache import compute_request_key
from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import AteInputs

TEXT = "The soup was cold."
KEY_BEFORE = "67ac86360529d6a7aa790ebecc3010941deefe889e841be1e0a31d431758b328"
"""What the request below hashed to before asks could have a temperature."""


class Colour(BaseModel):
    """A form that no change of our own forms reaches."""

    name: str


def request(**more: Any) -> Request:
    inputs = AteInputs(text="Blue.", language="en")
    return Request(Ask("ate", inputs, Prompt("p", "Name the colour.", "Blue."), Colour, seed=7, **more))


def test_without_a_temperature_of_its_own_an_ask_keeps_the_key_that_it_had() -> None:
    assert compute_request_key(request(), model="m") == KEY_BEFORE
    assert compute_request_key(request(temperature=None, condition="C2"), model="m") == KEY_BEFORE


def test_every_temperature_and_every_seed_has_a_key_of_its_own() -> None:
    asks = [request(), request(temperature=0.0), request(temperature=0.7), request(temperature=0.70001)]
    asks += [Request(Ask("ate", ask.ask.inputs, ask.ask.prompt, Colour, 8, "", ask.ask.temperature)) for ask in asks]
    assert len({compute_request_key(ask) for ask in asks}) == 8


def test_votes_reach_the_server_with_their_seeds_and_their_temperature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
    cold = '{"pairs": [{"quote": "cold", "term": "soup", "polarity": "negative"}]}'
    with LoopbackModel(answer(cold), answer('{"pairs": []}'), answer(cold)) as server:
        backend = BackboneSettings(provider="openai", model="m", base_url=server.base_url)
        settings = PipelineSettings(effort="one_call", votes=3, vote_temperature=0.3)
        arm: dict[str, Any] = {"condition": "C1", "conditions": "v3_0", "store": tmp_path / "store.jsonl"}
        with Analyzer(backend=backend, pipeline=settings, **arm) as analyzer:
            result = analyzer.analyze(TEXT)
        votes = sorted((body["seed"], body["temperature"]) for body in server.bodies)
        assert len({str(body["messages"]) for body in server.bodies}) == 1
        with Analyzer(backend=backend, pipeline=PipelineSettings(effort="one_call"), seed=5, **arm) as analyzer:
            analyzer.analyze(TEXT)
        alone = [(body["seed"], body["temperature"]) for body in server.bodies[3:]]
    assert votes == [(0, 0.3), (1, 0.3), (2, 0.3)]
    assert [(aspect.term, aspect.polarity) for aspect in result.aspects] == [("soup", "negative")]
    assert alone == [(5, 0.0)]
