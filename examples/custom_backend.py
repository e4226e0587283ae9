"""Connects a model of your own: it gets two texts and returns one. Everything else stays as it is."""

import json
from typing import Any

from episodic_absa import Analyzer
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts

JUDGED = {"battery": ("positive", "lasts long"), "screen": ("negative", "too dark")}


class MyReplier(RemoteFacts):
    """Answers one request with one text. A text that does not fit is asked for again, up to three times."""

    name = "mine:toy"
    honours_seed = False

    async def reply(self, request: Request) -> Reply:
        """Return the model's text. A real model is awaited here, and gets `request.ask.prompt.system` as well."""
        return Reply(my_model(request.ask.role, request.user_text))

    async def close(self) -> None:
        """Close nothing: this model holds no connection."""


def my_model(role: str, user: str) -> str:
    """Answer like any model. This one knows two words; a real one reads in its instructions which JSON to answer."""
    known = {term: words for term, words in JUDGED.items() if term in json.loads(user)["text"]}
    answers: dict[str, Any] = {
        "joint": {
            "pairs": [{"quote": quote, "term": term, "polarity": polarity} for term, (polarity, quote) in known.items()]
        },
        "validator": {"risks": []},
        "epm": {"judgements": []},
        "tan": {"targets": [{"quote": quote, "target": term} for term, (_, quote) in known.items()]},
        "cj": {"wrong": []},
        "judge": {"decisions": [], "label": "mixed"},
    }
    return json.dumps(answers.get(role, {"verdicts": []}))


with Analyzer(backend=RepairingBackend(MyReplier())) as analyzer:
    result = analyzer.analyze("The battery lasts long, but the screen is too dark.")
for pair in result.final_result.final_tuples:
    print(pair.aspect_term, pair.polarity, sep="\t")
print(f"{len(result.calls)} calls to {result.calls[0].model}")
