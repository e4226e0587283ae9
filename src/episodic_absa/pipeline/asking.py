"""Renders a role's inputs into its prompt, asks, and keeps the record of every call of a sample."""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from episodic_absa.backends.backend import Ask, Backend, Prompt, Usage
from episodic_absa.errors import BackendError, BackendResponseError
from episodic_absa.pipeline.prompt_files import PROMPT_FILES, PromptFiles
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.run_files.sample_record import CallRecord
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import STAGE_OF_ROLE, Role

OutputT = TypeVar("OutputT", bound=BaseModel)


class Draw(NamedTuple):
    """One of several samples of the same question."""

    seed: int
    temperature: float


@dataclass
class Asking:
    """Asks the roles of one sample and records every call."""

    backend: Backend
    slot_names: Sequence[str]
    """The prompt keys that hold memory."""
    seed: int = 0
    condition: str = ""
    prompts: PromptFiles = PROMPT_FILES["seed"]
    calls: list[CallRecord] = field(default_factory=list)

    async def ask(
        self,
        role: Role,
        inputs: AteInputs,
        context: Sequence[tuple[str, Any]],
        output_model: type[OutputT],
        *,
        draw: Draw | None = None,
    ) -> OutputT:
        """Ask one role; `context` is what its prompt shows, in this order. `draw` asks for one of several samples."""
        prompt = Prompt(
            self.prompts.name(role, inputs.language),
            self.prompts.instructions(role, inputs.language),
            render_context(context),
            states_form=self.prompts.states_form,
        )
        seed, temperature = (self.seed, None) if draw is None else draw
        ask = Ask(role, inputs, prompt, output_model, seed=seed, condition=self.condition, temperature=temperature)
        started_at, start = datetime.now(UTC), time.perf_counter()
        place = len(self.calls)
        self.calls.append(self._record(ask, place, started_at, start, error="cancelled"))
        try:
            answer = await self.backend.answer(ask)
        except BackendError as error:
            self.calls[place] = self._record(
                ask,
                place,
                started_at,
                start,
                usage=error.usage,
                attempts=error.attempts,
                error=type(error).__name__,
            )
            raise
        self.calls[place] = self._record(
            ask,
            place,
            started_at,
            start,
            usage=answer.usage,
            model=answer.model,
            attempts=answer.attempts,
            cached=answer.cached,
            waited_s=answer.waited_s,
        )
        return answer.output

    async def ask_witness(
        self, role: Role, inputs: AteInputs, context: Sequence[tuple[str, Any]], output_model: type[OutputT]
    ) -> OutputT | None:
        """Ask one role whose opinion the result can do without; None if no attempt gave an answer that can be read."""
        try:
            return await self.ask(role, inputs, context, output_model)
        except BackendResponseError:
            return None

    def _record(
        self,
        ask: Ask[Any],
        place: int,
        started_at: datetime,
        start: float,
        *,
        usage: Usage | None = None,
        model: str | None = None,
        attempts: int = 0,
        cached: bool = False,
        waited_s: float = 0.0,
        error: str | None = None,
    ) -> CallRecord:
        usage = usage or Usage()
        latency_ms = round((time.perf_counter() - start) * 1000, 3)
        return CallRecord(
            stage=STAGE_OF_ROLE[ask.role],
            agent=ask.role,
            call_index=place,
            prompt_hash=hashlib.sha256(f"{ask.prompt.system}\0{ask.prompt.user}".encode()).hexdigest(),
            memory_slot_present=holds_slot(ask.prompt.user, self.slot_names),
            model=model or self.backend.name,
            attempts=attempts,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            cost_usd=usage.cost_usd,
            cached=cached,
            latency_ms=latency_ms,
            # An ask that joins an equal request waits no longer than it lasts itself.
            waited_ms=min(latency_ms, round(waited_s * 1000, 3)),
            started_at=started_at.isoformat(),
            error=error,
        )


def render_context(context: Sequence[tuple[str, Any]]) -> str:
    """Render the context as one JSON object whose keys keep their order: what varies most comes last."""
    return "{" + ",".join(f"{canonical_json(key)}:{canonical_json(value)}" for key, value in context) + "}"


def holds_slot(rendered: str, slot_names: Sequence[str]) -> bool:
    """Return whether a rendered prompt has a memory slot as a key. Text cannot fake one: it is a JSON string."""
    if not any(f"{canonical_json(name)}:{{" in rendered for name in slot_names):
        return False
    keys = json.loads(rendered)
    return any(name in keys for name in slot_names)


def first_error(*outcomes: object) -> BaseException:
    """Return the error to raise: one that concerns the run before a BackendError, which fails this sample only."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    return min(errors, key=lambda error: isinstance(error, BackendError))
