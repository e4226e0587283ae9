"""Puts the memory into a LangGraph agent: one node recalls, one answers, one remembers (pip install langgraph)."""

import sys
from typing import TypedDict

from episodic_absa import Advice, AgentMemory, Situation

try:
    from langgraph.graph import END, START, StateGraph
except ImportError:
    sys.exit("this example needs LangGraph; install it with: pip install langgraph")

TICKETS = [
    ("t1", "Please do not cancel my order, I only asked about the delivery.", "question"),
    ("t2", "I did not want to cancel anything, when does it arrive?", "question"),
    ("t3", "We did not cancel the order, so why was it not delivered?", "question"),
]
"""A name, a text, and what the customer said later."""


class Ticket(TypedDict, total=False):
    """What flows through the graph."""

    name: str
    text: str
    told_later: str
    situation: Situation
    advice: Advice
    first: str
    final: str


memory = AgentMemory(*sys.argv[1:] or ["memory/tickets.jsonl"])


def recall(ticket: Ticket) -> Ticket:
    situation = Situation.of_text(ticket["text"], risks={"negation_scope"})
    return {"situation": situation, "advice": memory.recall(situation, case_id=ticket["name"])}


def answer(ticket: Ticket) -> Ticket:
    """Stand in for a model whose prompt holds `advice.as_prompt()`."""
    first = "cancel" if "cancel" in ticket["text"].lower() else "question"
    return {"first": first, "final": "question" if ticket["advice"] else first}


def remember(ticket: Ticket) -> Ticket:
    is_accepted = ticket["final"] == ticket["told_later"]
    if ticket["final"] != ticket["first"]:
        memory.remember(ticket["situation"], "changed", "better" if is_accepted else "worse")
    else:
        memory.remember(ticket["situation"], "kept", "unclear" if is_accepted else "worse")
    return {}


graph = StateGraph(Ticket)
graph.add_node("recall", recall)
graph.add_node("answer", answer)
graph.add_node("remember", remember)
graph.add_edge(START, "recall")
graph.add_edge("recall", "answer")
graph.add_edge("answer", "remember")
graph.add_edge("remember", END)
agent = graph.compile()

with memory:
    for name, text, told_later in TICKETS:
        done = agent.invoke({"name": name, "text": text, "told_later": told_later})
        print(name, done["final"], *done["advice"].messages, *done["advice"].warnings, sep=" | ")
