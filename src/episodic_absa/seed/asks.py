"""How the stages of the original rules ask a model."""

from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.vocabulary import Role

OutputT = TypeVar("OutputT", bound=BaseModel)


class Asks(Protocol):
    """Asks the roles of one sample."""

    async def ask(
        self, role: Role, inputs: AteInputs, context: list[tuple[str, Any]], output_model: type[OutputT]
    ) -> OutputT:
        """Return the answer of one role; `context` is what its prompt shows, in this order."""
        ...
