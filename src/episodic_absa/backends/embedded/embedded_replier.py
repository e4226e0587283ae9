"""The Replier of the embedded engine: looks up the role, answers by rule, and replies with JSON like any model."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from episodic_absa.backends.backend import Reply, Request, Usage
from episodic_absa.backends.embedded.roles.ate import answer_ate
from episodic_absa.backends.embedded.roles.atsa import answer_atsa
from episodic_absa.backends.embedded.roles.cj import answer_cj
from episodic_absa.backends.embedded.roles.epm import answer_epm
from episodic_absa.backends.embedded.roles.judge import answer_judge
from episodic_absa.backends.embedded.roles.stage2_ate import answer_stage2_ate
from episodic_absa.backends.embedded.roles.stage2_atsa import answer_stage2_atsa
from episodic_absa.backends.embedded.roles.stage2_validator import answer_stage2_validator
from episodic_absa.backends.embedded.roles.tan import answer_tan
from episodic_absa.backends.embedded.roles.validator import answer_validator
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import Role

ENGINE_NAME: Final = "embedded:rules-1"

# Any: each role has its own inputs, and the Ask pairs a role with the right ones.
_ANSWERS: Final[dict[Role, Callable[[Any], BaseModel]]] = {
    "ate": answer_ate,
    "atsa": answer_atsa,
    "validator": answer_validator,
    "epm": answer_epm,
    "tan": answer_tan,
    "cj": answer_cj,
    "judge": answer_judge,
    "stage2_ate": answer_stage2_ate,
    "stage2_atsa": answer_stage2_atsa,
    "stage2_validator": answer_stage2_validator,
}


class EmbeddedReplier:
    """Answers all ten roles by rule: deterministic, offline, without a key. It is an engine, not a language model."""

    name = ENGINE_NAME
    honours_seed = False

    async def reply(self, request: Request) -> Reply:
        """Answer from the typed inputs of the question; its prompt is not read."""
        await asyncio.sleep(0)  # thousands of answers that never wait would let no interrupt through
        answer = _ANSWERS[request.ask.role](request.ask.inputs)
        return Reply(canonical_json(answer), Usage(0, 0, cost_usd=0.0), self.name)

    async def close(self) -> None:
        """Nothing is held open."""
