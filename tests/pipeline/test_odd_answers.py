"""Schema-valid but odd model answers do no harm."""

import asyncio
from typing import Any

import pytest

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.errors import BackendResponseError
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AnsweredAspect, AteAnswer
from episodic_absa.seed import process_ate


class Nesting(RemoteFacts):
    """A model that loops."""

    name = "nesting"
    honours_seed = False

    async def reply(self, _request: Request) -> Reply:
        return Reply('{"aspects":' + "[" * 5000, model="nesting")

    async def close(self) -> None:
        return


def test_a_reply_nested_without_end_is_repaired_and_then_fails_its_sample_only() -> None:
    with pytest.raises(UnusableReplyError):
        parse_reply('{"aspects":' + "[" * 5000 + "]" * 5000 + "}", AteAnswer)
    ask: Ask[Any] = Ask("ate", AteInputs(text="t", language="en"), Prompt("ate.v1", "s", "u"), AteAnswer)
    with pytest.raises(BackendResponseError) as failed:
        asyncio.run(RepairingBackend(Nesting()).answer(ask))
    assert failed.value.kind == "json_parse_error"


def test_a_fence_with_very_many_blank_lines_is_read_in_linear_time() -> None:
    with pytest.raises(UnusableReplyError):
        parse_reply("```json" + "\n" * 400_000, AteAnswer)


def ate(*terms: str, text: str) -> Any:
    answer = AteAnswer(aspects=tuple(AnsweredAspect(aspect_term=term) for term in terms))
    return process_ate(answer, text, "en", span_repair=True)
