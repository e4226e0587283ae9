"""The seam between agents and whatever answers them.

Agents call `Backend.answer(Ask) -> Answer`: one typed question, one validated answer. Below it lies `Replier.reply`:
one request, one raw text. `RepairingBackend` joins the two: it parses, validates and asks again with the error. Cache,
replay, recording and fault injection wrap a Replier, because each attempt is cached on its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.answer_schemas import schema_text
from episodic_absa.backends.backend_facts import BackendFacts, PassedOnFacts
from episodic_absa.errors import NO_USAGE, BackendError, BackendResponseError, BackendUnavailableError
from episodic_absa.errors import Usage as Usage
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.vocabulary import Role

OutputT = TypeVar("OutputT", bound=BaseModel)
BackendErrorT = TypeVar("BackendErrorT", bound=BackendError)
MAX_ATTEMPTS: Final = 3
UNANSWERED: Final = "was still unanswered"
_QUOTED_REPLY_CHARS: Final = 4000
_ASKED_FOR: Final[dict[Role, str]] = {
    "ate": "aspects",
    "atsa": "the sentiment of each aspect",
    "validator": "structural risks",
    "joint": "aspects",
    "epm": "the first speech of the debate",
    "tan": "the second speech of the debate",
    "cj": "the third speech of the debate",
    "judge": "the verdict of the debate",
    "stage2_ate": "the second look at aspects",
    "stage2_atsa": "the second look at sentiments",
    "stage2_validator": "the second look at structural risks",
    "referee": "the better of two results",
}
"""What each question asks a model for, in words for messages."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered question: instructions first, so that prefix caches work, then this sample's input."""

    name: str
    system: str
    user: str
    states_form: bool = False
    """Whether the instructions state the form of the answer themselves; a schema in words would only repeat it."""


def _hold_place() -> None:
    """Stand in where nothing limits the asks under way."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[OutputT]):
    """One typed question."""

    role: Role
    inputs: AteInputs
    prompt: Prompt
    output_model: type[OutputT]
    seed: int = 0
    condition: str = ""
    """Used only by a cache that keeps conditions apart."""
    temperature: float | None = None
    """The sampling temperature of this ask; None: that of the backend."""
    on_wait: Callable[[], None] = field(default=_hold_place, compare=False, repr=False)
    """Called before the ask waits without a request of its own under way: for a retry, or for an equal request."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[OutputT]):
    """One validated answer and what it cost."""

    output: OutputT
    usage: Usage
    attempts: int
    model: str
    cached: bool = False
    waited_s: float = 0.0
    """Seconds in queues, in failed requests and in the pauses after them; the model did not work on this answer."""


@dataclass(slots=True)
class Setbacks:
    """The requests of one ask that brought no usable answer, for the error of whoever gives up."""

    count: int = 0
    last: str = ""
    """What the last of them came to."""
    usage: Usage = NO_USAGE
    """What failed requests used, as far as the server said so. Unusable replies are counted with the replies."""
    pending: str = UNANSWERED
    """Where the request under way has got to, for an ask that its time limit ends."""
    shared: "Setbacks | None" = None
    """Those of an equal request that this ask waited for; what it used counts there."""

    def note(self, event: str, usage: Usage = NO_USAGE) -> None:
        """Count one more request."""
        self.count += 1
        self.last = event
        self.usage = self.usage.plus(usage)


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt at an Ask, as a Replier sees it."""

    ask: Ask[Any]
    attempt: int = 1
    repair_note: str | None = None
    """From the second attempt on: the previous reply, what is wrong with it, and the schema once more."""
    deadline: float | None = None
    """When the whole ask ends, on the clock of the event loop; None: never."""
    setbacks: Setbacks = field(default_factory=Setbacks, compare=False, repr=False)

    @property
    def user_text(self) -> str:
        """The user message of this attempt."""
        return self.ask.prompt.user if self.repair_note is None else f"{self.ask.prompt.user}\n\n{self.repair_note}"


@dataclass(frozen=True, slots=True)
class Reply:
    """One raw text."""

    text: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cached: bool = False
    is_cut: bool = False
    """Whether the server said that the token limit cut the text off; a kept reply does not hold it."""
    wasted: Usage = NO_USAGE
    """What failed requests before this reply used. It belongs to this invocation, not to the answer."""
    waited_s: float = field(default=0.0, compare=False)
    """See `Answer.waited_s`."""


class Replier(BackendFacts, Protocol):
    """Answers one request with one text. Everything about a vendor stops here."""

    async def reply(self, request: Request) -> Reply:
        """Return the raw text; transport retries happen inside."""

    async def close(self) -> None:
        """Close connections and files."""


class Backend(BackendFacts, Protocol):
    """Answers one question with one typed value. A class with these members is a backend; it inherits nothing.

    `examples/custom_backend.py` shows the short way: a Replier of your own inside a `RepairingBackend`.

    Example:
        >>> from episodic_absa import Backend, BackboneSettings
        >>> from episodic_absa.backends.create_backend import create_backend
        >>> backend: Backend = create_backend(BackboneSettings())
        >>> backend.name
        'embedded:reader-1'
    """

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Return a validated answer, or raise a BackendError."""

    async def close(self) -> None:
        """Close connections and files."""


class RepairingBackend(PassedOnFacts):
    """The standard Backend: up to three attempts, the later ones with the error and the previous reply."""

    def __init__(
        self,
        replier: Replier,
        *,
        total_timeout_s: float | None = None,
        max_tokens: int | None = None,
        drop_answers: Callable[[Sequence[Request]], Awaitable[None]] | None = None,
    ) -> None:
        """Ask a replier.

        Args:
            replier: sends the requests.
            total_timeout_s: limits one ask with all attempts.
            max_tokens: the limit of one answer, for the advice about an answer that was cut off.
            drop_answers: called with the requests of an ask whose answers were all unusable, before it fails.
        """
        super().__init__(replier)
        self._replier = replier
        self._total_timeout_s = total_timeout_s
        self._max_tokens = max_tokens
        self._drop_answers = drop_answers

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Return the first reply that fits the output model, with tokens and cost summed over all attempts.

        Raises BackendError, with what was spent, after the last attempt or the total time limit.
        """
        spent = _Spent()
        try:
            async with asyncio.timeout(self._total_timeout_s) as limit:
                request = Request(ask, deadline=limit.when(), setbacks=spent.setbacks)
                return await self._attempt(request, spent)
        except BackendError as error:
            raise spent.charged_to(error) from error.__cause__
        except TimeoutError as error:
            late = BackendUnavailableError(
                f"{self.name} gave no valid answer to {question_of(ask.role)} "
                f"within {self._total_timeout_s or 'the given'} s (backbone.total_timeout_s): "
                f"{_last_words(spent.setbacks)}",
                backend=self.name,
                kind="timeout",
            )
            raise spent.charged_to(late) from error

    async def close(self) -> None:
        """Close the replier."""
        await self._replier.close()

    async def _attempt(self, request: Request, spent: "_Spent") -> Answer[Any]:
        ask = request.ask
        spent.requests.append(request)
        reply = await self._replier.reply(request)
        spent.replies.append(reply)
        try:
            output = parse_reply(reply.text, ask.output_model)
        except UnusableReplyError as error:
            if request.attempt == MAX_ATTEMPTS:
                if self._drop_answers is not None:
                    await self._drop_answers(spent.requests)
                raise BackendResponseError(
                    f"{self.name} did not answer {question_of(ask.role)} in the asked form "
                    f"after {MAX_ATTEMPTS} attempts: {error}{self._advice(reply)}",
                    backend=self.name,
                    raw=reply.text,
                    kind=error.kind,
                ) from error
            spent.setbacks.note(f"sent an answer that cannot be used: {error}{self._advice(reply)}")
            # The note is part of the next prompt, and so of its key in the cache: it holds nothing but text and error.
            note = _repair_note(reply.text, error, ask.output_model)
            return await self._attempt(replace(request, attempt=request.attempt + 1, repair_note=note), spent)
        model = reply.model or self.name
        return Answer(output, spent.usage, request.attempt, model, cached=reply.cached, waited_s=spent.waited_s)

    def _advice(self, reply: Reply) -> str:
        """Return what to do about an answer that the token limit cut off, "" for any other."""
        limit = self._max_tokens
        if not reply.is_cut and (limit is None or reply.usage.tokens_out < limit):
            return ""
        return "; it was cut off: raise backbone.max_tokens" + ("" if limit is None else f", now {limit}")


@dataclass(slots=True)
class _Spent:
    """What one call has taken so far."""

    requests: list[Request] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    setbacks: Setbacks = field(default_factory=Setbacks)

    @property
    def usage(self) -> Usage:
        """The sum over all requests; what a request without a reply costs is unknown."""
        is_known = len(self.replies) == len(self.requests)
        total = Usage(cost_usd=0.0 if is_known else None)
        for reply in self.replies:
            total = total.plus(reply.usage)
        return total

    @property
    def waited_s(self) -> float:
        """The waiting before all replies."""
        return sum(reply.waited_s for reply in self.replies)

    def charged_to(self, error: BackendErrorT) -> BackendErrorT:
        """Return the error with what was spent until it came."""
        error.attempts, error.usage = len(self.requests), self.usage.plus(self.setbacks.usage)
        return error


def _last_words(setbacks: Setbacks) -> str:
    seen = setbacks if setbacks.count or setbacks.shared is None else setbacks.shared
    if not seen.count:
        return f"its only request {seen.pending}"
    before = "one request" if seen.count == 1 else f"{seen.count} requests"
    words = f"{before} came to nothing, the last one: it {seen.last}"
    return words if seen.pending == UNANSWERED else f"{words}; the next one {seen.pending}"


def _repair_note(previous: str, error: UnusableReplyError, model: type[BaseModel]) -> str:
    # Half a surrogate pair cannot be sent.
    quoted = previous[:_QUOTED_REPLY_CHARS].encode("utf-8", "replace").decode()
    return (
        f"Your previous answer was:\n{quoted}\n\n"
        f"It cannot be used: {error}\n"
        f"Answer again with one JSON object that fits this schema, and nothing else:\n{schema_text(model)}"
    )


def question_of(role: Role) -> str:
    """Return what was asked, with the name under which files know it.

    Example:
        >>> question_of("joint")
        'the question for aspects (joint)'
    """
    return f"the question for {_ASKED_FOR[role]} ({role})"
