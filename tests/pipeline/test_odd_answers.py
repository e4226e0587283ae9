"""Schema-valid but odd model answers do no harm."""

import asyncio
from typing import Any

import pytest

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.errors import BackendResponseError
from episodic_absa.final_tuples import extract_tuples
from episodic_absa.pipeline.asking import holds_slot, render_context
from episodic_absa.schemas.absa import DebateSummary, SentimentItem, ValidatorOutput
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AnsweredAspect, AnsweredRisk, AteAnswer, ValidatorAnswer
from episodic_absa.seed.ate_processing import process_ate
from episodic_absa.seed.moderator import moderate
from episodic_absa.seed.validator_processing import process_validator


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


def test_a_term_of_punctuation_alone_is_no_target() -> None:
    found = ate("...", text="Terrible... never again")
    assert not found.aspects
    assert [drop.drop_reason for drop in found.drops] == ["filter_rejection"]


def test_one_place_named_twice_is_one_aspect() -> None:
    found = ate("service", "Service", "service", text="The service was slow.")
    assert [item.aspect_term for item in found.aspects] == ["service"]


def test_one_risk_named_twice_counts_once_with_its_gravest_severity() -> None:
    risks = tuple(AnsweredRisk(type="NEGATION", severity=severity) for severity in ("low", "high", "mid"))
    answer = ValidatorAnswer(structural_risks=risks, consistency_score=0.5)
    read = process_validator(answer, "not good", "en", aspect_n=2)
    assert [(risk.id, risk.severity) for risk in read.structural_risks] == [("r1", "high")]


def test_a_key_inside_another_value_is_no_memory_slot() -> None:
    rendered = render_context([("text", 'say "scope":{}'), ("risks", [{"scope": {"start": 0}}])])
    assert not holds_slot(rendered, ["scope"])
    assert holds_slot(render_context([("text", "t"), ("scope", {"start": 0})]), ["scope"])


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.8), (0.7, 0.85)])
def test_rule_m_takes_the_higher_confidence_of_the_two_stages(first: float, second: float) -> None:
    one = (SentimentItem(aspect_term="a", polarity="positive", confidence=first),)
    two = (
        SentimentItem(aspect_term="a", polarity="positive", confidence=0.1),
        SentimentItem(aspect_term="b", polarity="negative", confidence=second),
    )
    said = moderate(one, two, extract_tuples(two), ValidatorOutput(), DebateSummary())
    assert "M" in said.applied_rules
    assert (said.final_label, said.confidence) == ("mixed", max(first, second))
