"""The embedded engine with somebody in it who changes something.

The engine itself proposes no change; tests of what follows from changes need one.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.runs.small_grid import Around

from episodic_absa.backends.backend import Reply, Request
from episodic_absa.reader.reader import default_reader

OPPOSITE = {"positive": "negative", "negative": "positive", "neutral": "positive"}
Change = Callable[[str, dict[str, Any], Any], None]


class ChangingReplier(Around):
    """Passes every answer through a change, which is given the role, the answer and the inputs."""

    def __init__(self, change: Change, *, is_its_own_reader: bool = False) -> None:
        super().__init__()
        self._is_its_own_reader = is_its_own_reader
        self._change = change

    @property
    def shares_the_reader(self) -> bool:
        """Whether the reader is no witness, as where the engine alone answers."""
        return self._is_its_own_reader

    async def reply(self, request: Request) -> Reply:
        reply = await super().reply(request)
        answer = json.loads(reply.text)
        self._change(request.ask.role, answer, request.ask.inputs)
        return replace(reply, text=json.dumps(answer))


def erring(errors: Mapping[str, str]) -> Change:
    """Return an error of Stage1 under the default rules that debate and Stage2 take back.

    Args:
        errors: by text, a word that is no target and is named as one.
    """

    def err(role: str, answer: dict[str, Any], inputs: Any) -> None:
        word = errors.get(inputs.text)
        if word is None:
            return
        if role == "joint":
            # Of the polarity that the reader would give it, so that nothing but the target is in doubt.
            view = default_reader().view(inputs.text, inputs.language, word)
            answer["pairs"].append({"quote": word, "term": word, "polarity": view.polarity if view else "neutral"})
        elif role == "tan" and "targets" in answer:
            answer["targets"] = [target for target in answer["targets"] if target["target"] != word]
        elif role == "stage2_ate" and "verdicts" in answer:
            for verdict in answer["verdicts"]:
                verdict["verdict"] = "drop" if verdict["target"] == word else verdict["verdict"]
        elif role == "judge" and "decisions" in answer:
            answer["decisions"].append({"target": word, "quote": "", "decision": "drop"})

    return err


def turned_by_memory(role: str, answer: dict[str, Any], inputs: Any) -> None:
    """Turn the first pair round wherever the original rules show memory."""
    items = [item for item in inputs.stage1.atsa.sentiments if item.polarity] if hasattr(inputs, "stage1") else []
    if getattr(inputs, "memory", None) is None or not items:
        return
    term, other = items[0].aspect_term, OPPOSITE[items[0].polarity]
    turn = {"op": "set_polarity", "target": {"aspect_ref": term, "polarity": items[0].polarity}, "value": other}
    if role in ("epm", "tan", "cj") and "proposed_edits" in answer:
        answer["proposed_edits"] = [{**turn, "evidence": items[0].evidence or None, "confidence": 0.9}]
    elif role == "judge" and "final_patch" in answer:
        answer["final_patch"] = [turn]
        for pair in answer["final_tuples"]:
            pair["polarity"] = other if pair["aspect_term"] == term else pair["polarity"]
    elif role == "stage2_atsa" and "reviews" in answer:
        for review in answer["reviews"][:1]:
            review |= {"action": "flip_polarity", "revised_polarity": other, "reason": "memory was shown"}
    elif role == "stage2_validator" and "resolved_risk_ids" in answer:
        answer |= {"resolved_risk_ids": answer["remaining_risk_ids"], "remaining_risk_ids": []}
        answer |= {"consistency_score": 1.0, "final_consistency_score": 1.0}
