"""Connects a model of your own: it gets two texts and returns one. Everything else stays as it is."""

import json
from typing import Any

from episodic_absa import Analyzer
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts

JUDGED = {"battery": "positive", "screen": "negative"}


class MyReplier(RemoteFacts):
    """Answers one request with one text. A text that does not fit is asked for again, up to three times."""

    name = "mine:toy"
    honours_seed = False

    async def reply(self, request: Request) -> Reply:
        """Return the model's text; a real model would be awaited here."""
        return Reply(my_model(request.ask.role, request.ask.prompt.system, request.user_text))

    async def close(self) -> None:
        """Close nothing: this model holds no connection."""


def my_model(role: str, system: str, user: str) -> str:
    """Answer like any model. This one knows two words; a real one reads in `system` which JSON to answer."""
    terms = [term for term in JUDGED if term in json.loads(user)["text"]]
    answers: dict[str, Any] = {
        "ate": {"aspects": [{"aspect_term": term} for term in terms]},
        "atsa": {"sentiments": [{"aspect_term": term, "polarity": JUDGED[term]} for term in terms]},
        "judge": {"rationale": f"{len(system)} characters of instructions"},
    }
    for validator in ("validator", "stage2_validator"):
        answers[validator] = {"consistency_score": 1.0}
    for speaker in ("epm", "tan", "cj"):
        answers[speaker] = {"proposed_edits": []}
    return json.dumps(answers.get(role, {"reviews": []}))


with Analyzer(backend=RepairingBackend(MyReplier())) as analyzer:
    result = analyzer.analyze("The battery lasts long, but the screen is too dark.")
for pair in result.final_result.final_tuples:
    print(pair.aspect_term, pair.polarity, sep="\t")
print(f"{len(result.calls)} calls to {result.calls[0].model}")
