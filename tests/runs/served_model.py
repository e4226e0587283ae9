"""A server on loopback that says what the embedded engine would."""

from typing import Any, Self

from tests.backends.llm.loopback_model import Behaviour, LoopbackModel, answer
from tests.runs.small_grid import prompt_key


class Served(LoopbackModel):
    """Answers what the embedded engine would, and counts what is under way."""

    def __init__(self, texts: dict[str, str], delay_s: float) -> None:
        super().__init__(self._entry)
        self._texts, self._delay_s = texts, delay_s

    def _entry(self, body: dict[str, Any]) -> Behaviour:
        system, user = (message["content"] for message in body["messages"])
        return answer(self._texts[prompt_key(system, user)], delay_s=self._delay_s)

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def most_under_way(self) -> int:
        return max(sum(begun <= moment < begun + self._delay_s for begun in self.times) for moment in self.times)
