"""Any model behind an API, through pydantic-ai: OpenAI and everything that speaks its protocol, Anthropic, Google.

One request in, one raw text out. Transport retries happen here and nowhere below: the vendors' own are switched off,
so that they never multiply. Repair attempts and the total time limit belong to `RepairingBackend`.
"""

import asyncio
import logging
import socket
import time
from collections import Counter
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from episodic_absa.backends.answer_schemas import has_free_keys, schema_text, schema_title, typed_schema
from episodic_absa.backends.backend import UNANSWERED, Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.llm.llm_connection import LlmConnection, cost_usd, needs_key, open_connection
from episodic_absa.backends.llm.llm_settings import LlmSettings
from episodic_absa.backends.llm.response_checks import Exchange, NoApiResponseError, is_token_count, watched_exchange
from episodic_absa.backends.llm.transport_retries import (
    Extra,
    Failure,
    behind,
    closed_port,
    failure_of,
    is_refused,
    no_api_response,
    odd_redirect,
    timed_out,
    unknown_host,
    wait_before_retry,
)
from episodic_absa.errors import NO_USAGE, BackendUnavailableError, ConfigError
from episodic_absa.serialization.redaction import redacted, without_keys

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

__all__ = ["LlmReplier", "LlmSettings"]

logger = logging.getLogger("episodic_absa.backends")
_RETRIES_OF_A_LASTING_FAILURE: Final = 1
_MODEL_NAME_CHARS: Final = 200
_NEXT_EXAMPLE: Final = '\n{"text"'
"""Where an answer ends: after it a small model may go on with a further example of the prompt's form."""


_REFUSED: Final[dict[Extra, tuple[int, str]]] = {
    "seed": (logging.WARNING, "%s refuses a sampling seed (%s); asking without"),
    "stop": (logging.INFO, "%s refuses stop words (%s); asking without"),
    "schema": (logging.WARNING, "%s refuses a JSON Schema (%s); the schema stands in the prompt from now on"),
}


class LlmReplier(RemoteFacts):
    """Asks one model.

    What its server refuses (a JSON Schema, a seed, stop words) is left out from then on, with one notice.

    Args:
        settings: the model and its address.
        in_flight: entered around every request, so that it limits those under way; a request that waits for its retry
            holds no place.
    """

    def __init__(self, settings: LlmSettings, in_flight: AbstractAsyncContextManager[object] | None = None) -> None:
        self.settings = settings
        self._places = nullcontext() if in_flight is None else in_flight
        self.name = f"{settings.provider}:{settings.model}"
        self._connection = open_connection(settings)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._extras: set[Extra] = {"schema"} if self._starts_with_schema() else set()
        if settings.provider != "anthropic":
            self._extras.add("seed")
        # Large models end their answers, and some of them refuse stop words.
        if settings.provider == "openai" and self._connection.host not in ("openai", "azure"):
            self._extras.add("stop")
        self.honours_seed = "seed" in self._extras
        self.needs_key = needs_key(settings)
        self._model_settings = self._build_model_settings()
        self._warned_of_cut_answers = False
        self._has_answered = False
        self._retried: Counter[str] = Counter()

    @property
    def base_url(self) -> str | None:
        """Where requests really go; None is the provider's own address."""
        return self._connection.base_url

    async def reply(self, request: Request) -> Reply:
        """Return the model's text; raise BackendUnavailableError when there is none after all retries."""
        retries, wasted = 0, NO_USAGE
        start = time.perf_counter()
        while True:
            extras = self._extras_for(request)
            request.setbacks.pending = "still waited for a free place (experiment.concurrency)"
            async with self._places:
                waited_s, started = time.perf_counter() - start, time.monotonic()
                request.setbacks.pending = UNANSWERED
                with watched_exchange() as exchange:
                    try:
                        outcome = await self._send(request, extras, exchange)
                    except asyncio.CancelledError:
                        request.setbacks.pending = f"had only {exchange.progress}" if exchange.progress else UNANSWERED
                        raise
            if isinstance(outcome, Reply):
                self._has_answered = True
                return replace(outcome, wasted=wasted, waited_s=waited_s)
            if self._drop_what_is_refused(extras, outcome):
                continue
            outcome = outcome.without_review(request.ask.inputs.text)
            wasted = wasted.plus(outcome.usage)
            request.setbacks.note(
                f"{outcome.event} after {time.monotonic() - started:.2g} s"
                + (f": {outcome.detail}" if outcome.detail else ""),
                outcome.usage,
            )
            if outcome.is_unreadable_output:
                # Equal requests get equal answers: only another prompt helps, and an attempt has one.
                return Reply("", outcome.usage, self.settings.model, wasted=wasted, waited_s=waited_s)
            wait_s = self._wait_or_give_up(outcome, retries, request.deadline, wasted)
            retries += 1
            self._tell_retry(outcome, retries, wait_s)
            request.ask.on_wait()
            await asyncio.sleep(wait_s)

    async def close(self) -> None:
        """Close the connection pool, and say how often requests were sent again."""
        for event, count in self._retried.items():
            if count > 1:
                logger.warning("%s %s: %d retries in all", self.name, event, count)
        self._retried.clear()
        await self._connection.http_client.aclose()

    def _wait_or_give_up(self, failure: Failure, retries: int, deadline: float | None, wasted: Usage) -> float:
        """Return how long to wait before the next retry; raise BackendUnavailableError if there is none."""
        if not failure.transient or retries >= self._most_retries(failure):
            raise self._unavailable(failure, retries, wasted)
        wait_s = wait_before_retry(failure, retries, self.settings.retry_base_s, is_limited=deadline is not None)
        if deadline is not None and wait_s >= (left_s := deadline - asyncio.get_running_loop().time()):
            wish = "asks to wait" if failure.asked_wait_s else "would be asked again in"
            late = f"{wish} {wait_s:.3g} s, and {max(left_s, 0):.3g} s of backbone.total_timeout_s are left"
            raise self._unavailable(failure, retries, wasted, late=late)
        return wait_s

    def _most_retries(self, failure: Failure) -> int:
        # A server that has answered before may come back: it is worth the usual retries.
        if failure.is_lasting and not self._has_answered:
            return min(self.settings.max_retries, _RETRIES_OF_A_LASTING_FAILURE)
        return self.settings.max_retries

    def _tell_retry(self, failure: Failure, retries: int, wait_s: float) -> None:
        """Log the first retry after each kind of failure; without it a missing server would cost a silent minute."""
        self._retried[failure.event] += 1
        logger.log(
            logging.WARNING if self._retried[failure.event] == 1 else logging.INFO,
            "%s %s; retry %d of %d in %.3g s",
            self.name,
            failure.event,
            retries,
            self._most_retries(failure),
            wait_s,
        )

    async def _send(self, request: Request, extras: frozenset[Extra], exchange: Exchange) -> Reply | Failure:
        import httpx2
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        connection = self._connected()
        ask = request.ask
        needs_schema_text = "schema" not in extras and not ask.prompt.states_form
        system = _with_schema(ask.prompt.system, ask.output_model) if needs_schema_text else ask.prompt.system
        messages = [ModelRequest(parts=[SystemPromptPart(system), UserPromptPart(request.user_text)])]
        parameters = self._parameters(ask.output_model, schema="schema" in extras)
        settings = self._settings_for(request, extras)
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                response = await model_request(
                    connection.model, messages, model_settings=settings, model_request_parameters=parameters
                )
        except TimeoutError:
            return timed_out(self.settings.timeout_s, exchange.progress)
        except UnicodeEncodeError:
            return Failure("cannot be asked", transient=False, detail="the prompt holds half a surrogate pair")
        except UserError as error:  # pydantic-ai knows that this model would refuse, such as too large a schema
            return Failure(
                "cannot be asked", transient=False, status=HTTPStatus.BAD_REQUEST, detail=redacted(error.message)
            )
        # The vendors' packages read a response unguarded: no answer of a server may end a run.
        except (
            *(ModelAPIError, UnexpectedModelBehavior, NoApiResponseError, httpx2.HTTPError, httpx2.InvalidURL),
            *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
        ) as error:
            return self._failure(error, exchange)
        return self._read(response, connection)

    def _settings_for(self, request: Request, extras: frozenset[Extra]) -> "ModelSettings":
        ask, settings = request.ask, self._model_settings
        if "seed" in extras:
            settings = {**settings, "seed": ask.seed}
        if "stop" in extras and ask.prompt.states_form:
            settings = {**settings, "stop_sequences": [_NEXT_EXAMPLE]}
        if ask.temperature is not None and self._connection.takes_temperature:
            settings = {**settings, "temperature": ask.temperature}
        return settings

    def _failure(self, error: Exception, exchange: Exchange) -> Failure:
        import httpx2
        from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError

        connection = self._connection
        if (no_response := behind(error, NoApiResponseError)) is not None:
            return no_api_response(no_response, secrets=connection.secrets)
        if behind(error, httpx2.InvalidURL) is not None:
            return odd_redirect()
        if self._is_closed_port(error):
            return closed_port(connection.shown_url, connection.start_command)
        if behind(error, socket.gaierror) is not None:
            return unknown_host(urlsplit(connection.shown_url).hostname or "")
        if isinstance(error, ModelHTTPError | ModelConnectionError):
            return failure_of(error, secrets=connection.secrets)
        return Failure(
            "sent an API response that cannot be read",
            transient=True,
            detail=type(error).__name__,
            usage=exchange.usage,
        )

    def _is_closed_port(self, error: BaseException) -> bool:
        # A local server that has answered before may only be restarting: it is worth the usual retries.
        return self._connection.is_local and not self._has_answered and is_refused(error)

    def _read(self, response: "ModelResponse", connection: LlmConnection) -> Reply | Failure:
        # A server knows the key and may repeat it; answers are cached, recorded and traced.
        text = without_keys(response.text or "")
        details = response.provider_details or {}
        model = redacted(response.model_name or self.settings.model)
        # llama.cpp names the weights file; a path on a host belongs in no record, and neither does an endless name.
        if model.startswith("/") or not model.isprintable() or len(model) > _MODEL_NAME_CHARS:
            model = self.settings.model
        spent = response.usage
        measured = bool(spent.input_tokens or spent.output_tokens)
        if measured and is_token_count(spent.input_tokens) and is_token_count(spent.output_tokens):
            usage = Usage(spent.input_tokens, spent.output_tokens, cost_usd(connection, spent, model))
        else:
            usage = Usage(cost_usd=None)
        if response.finish_reason == "content_filter" and not text:
            if "refusal" not in details:
                return Failure("was stopped by the provider's content filter", transient=False, usage=usage)
            text = without_keys(str(details["refusal"]))
        is_cut = response.finish_reason == "length"
        if is_cut and not self._warned_of_cut_answers:
            self._warned_of_cut_answers = True
            logger.warning("%s was cut off at backbone.max_tokens (%d)", self.name, self.settings.max_tokens)
        return Reply(text, usage, model, is_cut=is_cut)

    def _connected(self) -> LlmConnection:
        """A pool of sockets belongs to the event loop that opened them: another loop gets another pool."""
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            self._connection = open_connection(self.settings)
        self._loop = loop
        return self._connection

    def _starts_with_schema(self) -> bool:
        native = bool(self._connection.model.profile.get("supports_json_schema_output", False))
        if self.settings.output == "json_schema" and not native:
            raise ConfigError(
                f"{self.name} takes no JSON Schema; set backbone.output to auto or prompted", key="backbone.output"
            )
        return native and self.settings.output != "prompted"

    def _extras_for(self, request: Request) -> frozenset[Extra]:
        # Anthropic's schemas have no free keys: a dict field would come back empty, always.
        output_model: type[BaseModel] = request.ask.output_model
        is_lossy = self.settings.provider == "anthropic" and has_free_keys(output_model)
        return frozenset(self._extras - {"schema"} if is_lossy else self._extras)

    def _parameters(self, output_model: type[BaseModel], *, schema: bool) -> "ModelRequestParameters":
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        if not schema:
            return ModelRequestParameters(output_mode="text")
        strict = None
        if self.settings.provider == "openai":
            # Strict mode knows no free keys; servers other than OpenAI's hold to the schema without it.
            strict = self._connection.host in ("openai", "azure") and not has_free_keys(output_model)
        definition = OutputObjectDefinition(typed_schema(output_model), name=schema_title(output_model), strict=strict)
        return ModelRequestParameters(output_mode="native", output_object=definition)

    def _build_model_settings(self) -> "ModelSettings":
        settings: ModelSettings = {"max_tokens": self.settings.max_tokens}
        if self.settings.temperature is None:
            return settings
        if self._connection.takes_temperature:
            settings["temperature"] = self.settings.temperature
        else:
            logger.info("%s takes no temperature; none is sent", self.name)
        return settings

    def _drop_what_is_refused(self, sent: frozenset[Extra], failure: Failure) -> bool:
        """Return whether to ask again at once. The first of many failing requests logs the warning."""
        for extra, (level, notice) in _REFUSED.items():
            must_stay = extra == "schema" and self.settings.output != "auto"
            if extra in sent and failure.refuses(extra) and not must_stay:
                if extra in self._extras:
                    self._extras.remove(extra)
                    self.honours_seed = "seed" in self._extras
                    logger.log(level, notice, self.name, failure.event)
                return True
        return False

    def _unavailable(self, failure: Failure, retries: int, wasted: Usage, *, late: str = "") -> BackendUnavailableError:
        # What stands before the first ": " is equal for all failures of a kind; runs count causes by it.
        message = f"{self.name} {failure.event}"
        if details := "; ".join(filter(None, (failure.detail, late))):
            message += f": {details}"
        if retries:
            message += f" (after {retries} {'retry' if retries == 1 else 'retries'})"
        if advice := self._advice(failure):
            message += f"; {advice}"
        error = BackendUnavailableError(message, backend=self.name, kind=failure.kind)
        error.usage = wasted
        return error

    def _advice(self, failure: Failure) -> str:
        connection = self._connection
        if failure.advice:
            return failure.advice
        if failure.status in (401, 403):
            return f"check the key in {connection.key_variable}"
        if failure.status == 404:
            return (
                f"check the model (--backend, backbone.model: {self.settings.model}) and the address "
                f"(--base-url, backbone.base_url: {connection.shown_url})"
            )
        if failure.kind == "timeout":
            return "raise backbone.timeout_s if answers take longer"
        if failure.is_silent:
            return f"is {connection.shown_url} up?"
        return ""


def _with_schema(system: str, output_model: type[BaseModel]) -> str:
    return (
        f"{system}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{schema_text(output_model)}"
    )
