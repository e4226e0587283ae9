"""Targets: what a model answers, from the raw text to the result of a sample."""

import asyncio
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel
from tests.torture.fuzzing.outcome import Target

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.conditions import load_condition
from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.pipeline.composition import build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.roles import ROLE_SPECS
from episodic_absa.pipeline.stage1 import pairs_of, targets_of
from episodic_absa.schemas.absa import AspectItem, Sample
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    JointAnswer,
    JudgementsAnswer,
    PairVerdictsAnswer,
    RefereeAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.seed_answers import AteAnswer, AtsaAnswer, ValidatorAnswer
from episodic_absa.seed import process_ate, process_atsa, process_validator
from episodic_absa.vocabulary import Language

_FULL: Final = tuple(
    dict.fromkeys(spec.answer for role, spec in ROLE_SPECS.items() if role not in ("joint", "referee"))
)
_SHORT: Final = (
    JointAnswer,
    TermsAnswer,
    JudgementsAnswer,
    TargetsAnswer,
    WrongPairsAnswer,
    DecisionsAnswer,
    TargetVerdictsAnswer,
    PairVerdictsAnswer,
    RisksAnswer,
    RefereeAnswer,
)
_ROLES: Final = tuple(ROLE_SPECS)
_TEXT: Final = "The soup was cold, but the bread was warm. 직원은 친절했지만 방은 좁았어요."
_BETWEEN: Final = b"\n---\n"
_ARMS: Final = (("C2", "v3_0"), ("C2", "v1_3"), ("one_call_votes", "v3_0"), ("adaptive", "v3_0"))


def _read_full_answer(data: bytes, _folder: Path) -> None:
    _parse(data, _FULL)


def _read_items_answer(data: bytes, _folder: Path) -> None:
    _parse(data, _SHORT)


def _parse(data: bytes, models: tuple[type[BaseModel], ...]) -> None:
    """Read an answer to the question that the first byte chooses, and require that a file can hold it."""
    model = models[data[0] % len(models)] if data else models[0]
    answer = parse_reply(data[1:].decode("utf-8", "replace"), model)
    answer.model_dump_json()


def _repair_spans(data: bytes, _folder: Path) -> None:
    """Process answers about a text: the first line is the text, the others answer as ATE, ATSA and validator."""
    text, *replies = data.decode("utf-8", "replace").split("\n")
    text = unicodedata.normalize("NFC", text)
    language: Language = "ko" if len(data) % 2 else "en"
    repairs = len(data) % 3 > 0
    ate, atsa, validator = (*replies, "", "", "")[:3]
    try:
        named = parse_reply(ate, AteAnswer)
    except UnusableReplyError:
        pairs = parse_reply(ate, JointAnswer).pairs
        aspects = targets_of([pair.term for pair in pairs], text, language, with_spans=repairs).aspects
        pairs_of(pairs, aspects, text)
    else:
        judged = parse_reply(atsa, AtsaAnswer) if atsa else AtsaAnswer(sentiments=())
        aspects = process_ate(named, text, language, span_repair=repairs).aspects
        process_atsa(judged, aspects, text)
    for aspect in aspects:
        _check_span(aspect, text)
    if validator:
        found = parse_reply(validator, ValidatorAnswer)
        process_validator(found, text, language, aspect_n=len(aspects))


def _check_span(aspect: AspectItem, text: str) -> None:
    span = aspect.span
    assert span is None or 0 <= span.start < span.end <= len(text), "a span lies outside its text"


class Talker(RemoteFacts):
    """Gives every role the reply in its place among the given ones, and another one when it is asked again."""

    name = "fuzzed:model"
    honours_seed = False

    def __init__(self, replies: list[bytes]) -> None:
        self._replies = [reply.decode("utf-8", "replace") for reply in replies]

    async def reply(self, request: Request) -> Reply:
        place = _ROLES.index(request.ask.role) + request.attempt - 1
        return Reply(self._replies[place % len(self._replies)])

    async def close(self) -> None:
        """Nothing is open."""


def _analyse(data: bytes, folder: Path) -> None:
    """Analyse a review with a model that answers what the parts of the input say, one part per role."""
    condition = _condition(*_ARMS[data[0] % len(_ARMS)] if data else _ARMS[0])
    asyncio.run(_analysed(condition, data[1:].split(_BETWEEN), folder / "store.jsonl"))


async def _analysed(condition: Condition, replies: list[bytes], store: Path) -> None:
    # The reader and the embedded engine take seconds to load; answers do not reach them.
    settings = PipelineSettings(reader=False)
    backend = RepairingBackend(Talker(replies))
    pipeline = build_pipeline(backend=backend, condition=condition, store=store, settings=settings)
    try:
        sample = Sample(uid="r1", text=_TEXT, split="valid")
        result = await pipeline.supervisor.run(sample, MemoryView(pipeline.memory, sample_index=0, seed=0), seed=0)
    finally:
        await pipeline.close()
    result.final_result.model_dump_json()


@cache
def _condition(name: str, version: str) -> Condition:
    return load_condition(name, version)


_UNUSABLE: Final = (EpisodicAbsaError, UnusableReplyError)
ANSWER_TARGETS: Final = (
    Target("answers", _read_full_answer, inputs=20_000, permitted=_UNUSABLE),
    Target("item_answers", _read_items_answer, inputs=20_000, permitted=_UNUSABLE),
    Target("span_repair", _repair_spans, inputs=16_000, permitted=_UNUSABLE),
    Target("pipeline", _analyse, inputs=3_000, leaves=frozenset({"store.jsonl", "store.sqlite"})),
)
