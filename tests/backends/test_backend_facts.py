"""Backends state what they are, wrappers pass it on, and nothing outside backends/ compares a provider's name."""

import ast
import asyncio
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import episodic_absa
from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import BACKEND_FORMS, BackendFacts, Provider, RemoteFacts
from episodic_absa.backends.cache import CachingReplier, ResponseCache
from episodic_absa.backends.create_backend import BackboneSettings, create_backend
from episodic_absa.backends.embedded import ENGINE_NAME, EmbeddedReplier
from episodic_absa.backends.limited_backend import LimitedBackend
from episodic_absa.backends.provider_facts import (
    PROVIDERS,
    facts_of,
    key_variables_for,
    needs_key_for,
    shipped_fingerprint,
)
from episodic_absa.backends.replay import RecordedReply, RecordedUsage, RecordingReplier, ReplayReplier
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AteAnswer
from episodic_absa.serialization.jsonl import json_line

PACKAGE = Path(episodic_absa.__file__).parent
FACTS = ("name", "fingerprint", "is_local", "is_reproducible", "needs_key", "honours_seed", "shares_the_reader")


class Unlike(RemoteFacts):
    """Every fact differs from the default, so that a wrapper cannot pass by chance."""

    name = "unlike:1"
    fingerprint = "f" * 64
    is_local = True
    is_reproducible = True
    needs_key = True
    honours_seed = False
    shares_the_reader = True

    async def reply(self, request: Request) -> Reply:
        return Reply(request.user_text)

    async def close(self) -> None:
        pass


def stated(backend: BackendFacts) -> dict[str, object]:
    return {fact: getattr(backend, fact) for fact in FACTS}


@pytest.mark.parametrize("wrapper", ["repairing", "caching", "recording"])
def test_a_wrapper_states_what_the_replier_behind_it_states(wrapper: str, tmp_path: Path) -> None:
    behind = Unlike()
    wrapped: BackendFacts
    if wrapper == "repairing":
        wrapped = RepairingBackend(behind)
    elif wrapper == "caching":
        cache = ResponseCache.in_memory()
        wrapped = CachingReplier(behind, cache, provider="p", model="m", base_url=None, parameters={}, share="all")
    else:
        wrapped = RecordingReplier(behind, tmp_path / "recording.jsonl")
    assert stated(wrapped) == stated(behind)


def test_the_embedded_engine_and_a_recording_are_local_and_reproducible(tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"
    recording.write_bytes(b"")
    for replier in (EmbeddedReplier(), ReplayReplier(recording)):
        assert (replier.is_local, replier.is_reproducible, replier.needs_key) == (True, True, False)
        assert len(replier.fingerprint) == 64


@pytest.mark.parametrize(
    ("models", "is_shared"), [([], False), ([ENGINE_NAME], True), (["m"], False), ([ENGINE_NAME, "m"], False)]
)
def test_a_recording_shares_the_reader_if_the_engine_gave_every_answer(
    models: list[str], is_shared: bool, tmp_path: Path
) -> None:
    recording = tmp_path / "recording.jsonl"
    usage = {"tokens_in": 0, "tokens_out": 0, "cost_usd": None}
    replies = [
        RecordedReply(
            key=model,
            role="ate",
            prompt_name="ate.v1",
            seed=0,
            attempt=1,
            text="",
            model=model,
            usage=RecordedUsage.model_validate(usage),
        )
        for model in models
    ]
    recording.write_text("".join(json_line(reply) for reply in replies), "utf-8")
    assert ReplayReplier(recording).shares_the_reader is is_shared


def test_a_model_behind_a_server_is_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    backend = create_backend(BackboneSettings(provider="openai", model="m"))
    facts = (backend.fingerprint, backend.is_local, backend.is_reproducible, backend.needs_key)
    assert facts == (None, False, False, True)
    asyncio.run(backend.close())
    own = create_backend(BackboneSettings(provider="openai", model="m", base_url="http://127.0.0.1:9/v1"))
    assert not own.needs_key
    asyncio.run(own.close())


def test_settings_state_the_same_before_there_is_a_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert set(PROVIDERS) == set(get_args(Provider))
    for provider in get_args(Provider):
        if provider == "python":
            continue  # stands for a backend that a program passed in
        model = "reader-1" if provider == "embedded" else "m"
        recording = tmp_path / "r.jsonl" if provider == "replay" else None
        backbone = BackboneSettings(provider=provider, model=model, recording=recording)
        is_server = provider not in ("embedded", "replay")
        assert facts_of(backbone).is_local is facts_of(backbone).is_reproducible is not is_server
        assert needs_key_for(backbone) is is_server
        assert bool(key_variables_for(backbone)) is is_server
        assert (shipped_fingerprint(backbone) is not None) is (provider == "embedded")
    own = BackboneSettings(provider="openai", model="m", base_url="vllm")
    assert not needs_key_for(own)
    assert shipped_fingerprint(BackboneSettings()) == EmbeddedReplier().fingerprint


def test_the_short_forms_name_every_provider() -> None:
    assert BACKEND_FORMS == "embedded, openai:MODEL, anthropic:MODEL, google:MODEL or replay:FILE"


def _compared_words(path: Path) -> set[str]:
    compares = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Compare)]
    constants = [node for compare in compares for node in ast.walk(compare) if isinstance(node, ast.Constant)]
    return {node.value for node in constants if isinstance(node.value, str)}


def test_no_provider_is_compared_by_name_outside_backends() -> None:
    outside = [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "backends")]
    assert len(outside) > 100
    compared = {str(path): _compared_words(path) & {*get_args(Provider), "embedded:reader-1"} for path in outside}
    assert not {path: words for path, words in compared.items() if words}


class Late(Unlike):
    """A replier whose request waited."""

    async def reply(self, request: Request) -> Reply:
        await asyncio.sleep(0)  # lets another ask find the place taken
        return replace(await super().reply(request), waited_s=2.0)


def test_the_cache_keeps_none_of_the_waiting() -> None:
    async def ask_twice() -> tuple[Reply, Reply]:
        cache = ResponseCache.in_memory()
        replier = CachingReplier(Late(), cache, provider="p", model="m", base_url=None, parameters={}, share="all")
        request = Request(Ask("ate", AteInputs(text="x", language="en"), Prompt("ate", "s", "u"), AteAnswer))
        return await replier.reply(request), await replier.reply(request)

    first, second = asyncio.run(ask_twice())
    assert (first.cached, first.waited_s) == (False, 2.0)
    assert (second.cached, second.waited_s) == (True, 0.0)


def test_waiting_for_a_free_place_is_told() -> None:
    async def ask_both() -> list[float]:
        backend = LimitedBackend(RepairingBackend(Late()), 1)
        ask = Ask("ate", AteInputs(text="x", language="en"), Prompt("ate", "s", '{"aspects": []}'), AteAnswer)
        return [answer.waited_s for answer in await asyncio.gather(backend.answer(ask), backend.answer(ask))]

    first, second = asyncio.run(ask_both())
    assert first >= 2.0
    assert second > 2.0
