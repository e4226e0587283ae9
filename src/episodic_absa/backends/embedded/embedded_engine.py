"""The embedded engine: one set of weights, the texts read with it, and the answer of every role."""

import hashlib
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from episodic_absa.backends.embedded.model.trained_weights import SHIPPED, SHIPPED_WEIGHTS, TrainedWeights
from episodic_absa.backends.embedded.roles.ate import answer_ate
from episodic_absa.backends.embedded.roles.atsa import answer_atsa
from episodic_absa.backends.embedded.roles.cj import answer_cj
from episodic_absa.backends.embedded.roles.default_roles import DEFAULT_ROLES, joint_answer, referee_answer
from episodic_absa.backends.embedded.roles.epm import answer_epm
from episodic_absa.backends.embedded.roles.judge import answer_judge
from episodic_absa.backends.embedded.roles.stage2_ate import answer_stage2_ate
from episodic_absa.backends.embedded.roles.stage2_atsa import answer_stage2_atsa
from episodic_absa.backends.embedded.roles.stage2_validator import answer_stage2_validator
from episodic_absa.backends.embedded.roles.tan import answer_tan
from episodic_absa.backends.embedded.roles.validator import answer_validator
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.vocabulary import Language, Role

ENGINE_NAME: Final = "embedded:rules-1"
_READINGS_KEPT: Final = 512
_SOURCES: Final = (".py", ".yaml", ".json", ".gz")

# Any: each role has its own inputs, and the Ask pairs a role with the right ones.
ANSWERS: Final[dict[Role, Callable[[WeighedReading, Any], BaseModel]]] = {
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
    "joint": joint_answer,
    "referee": referee_answer,
}


class EmbeddedEngine:
    """Answers all roles by rules and small trained weights; threads may share one engine.

    Engines with the shipped weights share these, and each keeps its own readings.

    Example:
        >>> engine = EmbeddedEngine()
        >>> engine.answer("ate", AteInputs(text="The room was clean.", language="en")).aspects[0].aspect_term
        'room'
    """

    def __init__(self, weights: TrainedWeights = SHIPPED_WEIGHTS) -> None:
        self.weights = weights
        # All roles of a sample, and all conditions of a run, ask about the same texts.
        self._kept = lru_cache(maxsize=_READINGS_KEPT)(_reader(weights))

    def read(self, text: str, language: Language) -> WeighedReading:
        """Return the reading of a text; the most recent ones are kept."""
        return self._kept(text, language)

    def answer(self, role: Role, inputs: AteInputs, output_model: type[BaseModel] | None = None) -> Any:
        """Return a role's answer to its typed inputs: in the short form if its model is asked for, else as in v1."""
        short = DEFAULT_ROLES[role]
        answer = short.answer if output_model is short.model else ANSWERS[role]
        return answer(self.read(inputs.text, inputs.language), inputs)

    @property
    def kept_readings(self) -> int:
        """How many readings are kept at present."""
        return self._kept.cache_info().currsize

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 over rules, word lists and weights: engines with equal ones give equal answers."""
        return _fingerprint(self.weights.folder)


def _reader(weights: TrainedWeights) -> Callable[[str, Language], WeighedReading]:
    def read(text: str, language: Language) -> WeighedReading:
        return WeighedReading.of(read_text(text, language), weights)

    return read


def _fingerprint(weights: Path) -> str:
    paths = [path for path in Path(__file__).parent.rglob("*") if not path.is_relative_to(SHIPPED)]
    digest = hashlib.sha256()
    for path in sorted(paths) + sorted(weights.iterdir()):
        if path.suffix in _SOURCES:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
