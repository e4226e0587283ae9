"""Gives a plain agent loop a memory: recall before a decision, remember after it. No model, no key, no sentiment."""

import sys

from episodic_absa import Advice, AgentMemory, Situation

TICKETS = [
    ("t1", "Please do not cancel my order, I only asked about the delivery.", "question"),
    ("t2", "I never wanted to cancel anything, when does it arrive?", "question"),
    ("t3", "We did not cancel the order, so why was it not delivered?", "question"),
    ("t4", "Cancel my order, please.", "cancel"),
    ("t5", "주문을 취소하지 않았어요.", "question"),
    ("t6", "저는 취소 안 했어요.", "question"),
]
"""A name, a text, and what the customer said later: the agent does not see it before it answers."""


def first_answer(text: str) -> str:
    """Answer like any model. This one looks for a word."""
    return "cancel" if "cancel" in text.lower() or "취소" in text else "question"


def second_look(situation: Situation, first: str, advice: Advice) -> str:
    """Answer again, with `advice.as_prompt()` in the prompt. This stand-in for a model follows any advice."""
    return "question" if advice and "negation" in situation.structures else first


with AgentMemory(*sys.argv[1:] or ["memory/tickets.jsonl"]) as memory:
    for ticket, text, told_later in TICKETS:
        situation = Situation.of_text(text, risks={"negation_scope"})
        advice = memory.recall(situation, case_id=ticket)
        first = first_answer(text)
        final = second_look(situation, first, advice)
        if final != first:
            memory.remember(situation, "changed", "better" if final == told_later else "worse", case_id=ticket)
        else:
            memory.remember(situation, "kept", "unclear" if final == told_later else "worse", case_id=ticket)
        print(ticket, final, *advice.messages, *advice.warnings, sep=" | ")
