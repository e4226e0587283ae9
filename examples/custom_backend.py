"""A model of your own behind the seam: it gets two texts and gives back one. All the rest stays as it is."""

import json
from typing import Any

from episodic_absa import Analyzer
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts

JUDGED = {"battery": "positive", "screen": "negative"}


class MyReplier(RemoteFacts):
    """One request, one text. A text that does not fit is asked for again, with the error, up to three times."""

    name = "mine:toy"
    honours_seed = False

    async def reply(self, request: Request) -> Reply:
        """Ask the model; a real one would be awaited with these two texts."""
        return Reply(my_model(request.ask.role, request.ask.prompt.system, request.user_text))

    async def close(self) -> None:
        """Nothing is open."""


def my_model(role: str, system: str, user: str) -> str:
    """Stand for any model. This one knows two words; a real one reads in `system` what JSON its role answers."""
    seen = [term for term in JUDGED if term in json.loads(user)["text"]]
    answers: dict[str, Any] = {
        "ate": {"aspects": [{"aspect_term": term} for term in seen]},
        "atsa": {"sentiments": [{"aspect_term": term, "polarity": JUDGED[term]} for term in seen]},
        "judge": {"rationale": f"{len(system)} characters of instructions"},
    }
    for critic in ("validator", "stage2_validator"):
        answers[critic] = {"consistency_score": 1.0}
    for speaker in ("epm", "tan", "cj"):
        answers[speaker] = {"proposed_edits": []}
    return json.dumps(answers.get(role, {"reviews": []}))


with Analyzer(backend=RepairingBackend(MyReplier())) as analyzer:
    result = analyzer.analyze("The battery lasts long, but the screen is too dark.")
for item in result.final_result.final_tuples:
    print(item.aspect_term, item.polarity, sep="\t")
print(f"{len(result.calls)} calls to {result.calls[0].model}")
