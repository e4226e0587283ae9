"""Where an answer ends, and what becomes of one that the server itself cannot read."""

from typing import Any

import pytest
from tests.backends.llm.asking import REVIEW, SCREEN, answered, make_ask
from tests.backends.llm.loopback_model import LoopbackModel, answer, failure

from episodic_absa.backends.backend import Prompt
from episodic_absa.schemas.seed_answers import AteAnswer

NEXT_EXAMPLE = ['\n{"text"']


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-ours")


def ask(server: LoopbackModel, *, states_form: bool = True) -> list[dict[str, Any]]:
    prompt = Prompt("v3/joint.en", "Name the pairs.", REVIEW, states_form=states_form)
    answered(server, make_ask(AteAnswer, prompt=prompt))
    return server.bodies


def test_a_prompt_with_examples_ends_the_answer_where_a_further_example_begins() -> None:
    with LoopbackModel(answer(SCREEN)) as server:
        assert ask(server)[0]["stop"] == NEXT_EXAMPLE
    with LoopbackModel(answer(SCREEN)) as server:
        assert "stop" not in ask(server, states_form=False)[0]


def test_a_server_that_refuses_stop_words_is_asked_without_them() -> None:
    with LoopbackModel(failure(400, "Unsupported parameter: 'stop'"), answer(SCREEN)) as server:
        bodies = ask(server)
    assert [body.get("stop") for body in bodies] == [NEXT_EXAMPLE, None]


def test_an_answer_that_its_own_server_cannot_read_is_an_attempt_with_another_prompt_next() -> None:
    trouble = failure(500, "The model produced output that does not match the expected peg-native format")
    with LoopbackModel(trouble, answer(SCREEN)) as server:
        first, second = ask(server)
    assert first["messages"][0] == second["messages"][0]
    asked_again = second["messages"][1]["content"]
    assert asked_again.startswith(first["messages"][1]["content"])
    assert "It cannot be used" in asked_again
    assert "peg-native" not in asked_again


def test_other_server_errors_are_retried_with_the_same_prompt() -> None:
    with LoopbackModel(failure(500, "out of memory"), answer(SCREEN)) as server:
        first, second = ask(server)
    assert first == second
