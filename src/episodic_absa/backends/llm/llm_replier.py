"""Any model behind an API, through pydantic-ai: OpenAI and everything that speaks its protocol, Anthropic, Google.

One request in, one raw text out. Transport retries happen here and nowhere below: the vendors' own are switched off,
so that they never multiply. Repair attempts and the total time limit belong to `RepairingBackend`.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from episodic_absa.backends.answer_parsing import schema_text
from episodic_absa.backends.backend import Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.llm.answer_schema import answer_schema, has_free_keys
from episodic_absa.backends.llm.llm_connection import LlmConnection, NoApiResponseError, needs_key, open_connection
from episodic_absa.backends.llm.llm_settings import LlmSettings
from episodic_absa.backends.llm.prices import cost_usd
from episodic_absa.backends.llm.transport_retries import Failure, failure_of, timed_out, wait_before_retry
from episodic_absa.errors import BackendUnavailableError, ConfigError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

__all__ = ["LlmReplier", "LlmSettings"]

logger = logging.getLogger("episodic_absa.backends")
_SHOWN_PAGE_CHARS: Final = 2000


@dataclass(frozen=True, slots=True)
class _Extras:
    """What a request carries beyond its messages; servers differ in what they accept."""

    schema: bool
    seed: bool


class LlmReplier(RemoteFacts):
    """Asks one model. What its server refuses (a JSON Schema, a seed) is left out from then on, with one notice."""

    def __init__(self, settings: LlmSettings) -> None:
        self.settings = settings
        self.name = f"{settings.provider}:{settings.model}"
        self._connection = open_connection(settings)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._extras = _Extras(schema=self._starts_with_schema(), seed=settings.provider != "anthropic")
        self.honours_seed = self._extras.seed
        self.needs_key = needs_key(settings)
        self._parameters: dict[tuple[type[BaseModel], bool], ModelRequestParameters] = {}
        self._model_settings = self._build_model_settings()
        self._warned_of_cut_answers = False

    @property
    def base_url(self) -> str | None:
        """Where requests really go; None is the provider's own address."""
        return self._connection.base_url

    async def reply(self, request: Request) -> Reply:
        """Return the model's text; raise BackendUnavailableError when there is none after all retries."""
        retries = 0
        start = time.perf_counter()
        while True:
            extras = self._extras_for(request)
            waited_s = time.perf_counter() - start
            outcome = await self._send(request, extras)
            if isinstance(outcome, Reply):
                return replace(outcome, waited_s=waited_s)
            if self._drop_what_is_refused(extras, outcome):
                continue
            if not outcome.transient or retries == self.settings.max_retries:
                raise self._unavailable(outcome, retries)
            wait_s = wait_before_retry(outcome, retries, self.settings.retry_base_s)
            retries += 1
            # Without this line a missing server would cost a silent minute.
            logger.warning(
                "%s %s; retry %d of %d in %.3g s",
                self.name,
                outcome.event,
                retries,
                self.settings.max_retries,
                wait_s,
            )
            await asyncio.sleep(wait_s)

    async def close(self) -> None:
        """Close the connection pool."""
        await self._connection.http_client.aclose()

    async def _send(self, request: Request, extras: _Extras) -> Reply | Failure:
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import (
            ModelAPIError,
            ModelConnectionError,
            ModelHTTPError,
            UnexpectedModelBehavior,
            UserError,
        )
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        connection = self._connected()
        ask = request.ask
        needs_schema_text = not extras.schema and not ask.prompt.states_form
        system = _with_schema(ask.prompt.system, ask.output_model) if needs_schema_text else ask.prompt.system
        messages = [ModelRequest(parts=[SystemPromptPart(system), UserPromptPart(request.user_text)])]
        parameters = self._parameters_for(ask.output_model, schema=extras.schema)
        settings: ModelSettings = self._model_settings
        if extras.seed:
            settings = {**settings, "seed": ask.seed}
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                response = await model_request(
                    connection.model, messages, model_settings=settings, model_request_parameters=parameters
                )
        except TimeoutError:
            return timed_out(self.settings.timeout_s)
        except NoApiResponseError as error:
            return _unusable(error.page)
        except (ModelHTTPError, ModelConnectionError) as error:
            page = NoApiResponseError.page_behind(error)
            return failure_of(error, secret=connection.key) if page is None else _unusable(page)
        except UserError as error:  # pydantic-ai knows that this model would refuse, such as too large a schema
            return Failure("cannot be asked", transient=False, status=HTTPStatus.BAD_REQUEST, detail=error.message)
        # pydantic-ai reads a completion without choices, or with odd ones, unguarded.
        except (ModelAPIError, UnexpectedModelBehavior, IndexError, AttributeError, TypeError) as error:
            return _unusable(NoApiResponseError.page_behind(error) or str(error))
        return self._read(response, connection)

    def _read(self, response: "ModelResponse", connection: LlmConnection) -> Reply | Failure:
        text = response.text or ""
        details = response.provider_details or {}
        if response.finish_reason == "content_filter" and not text:
            if "refusal" not in details:
                return Failure("was stopped by the provider's content filter", transient=False)
            text = str(details["refusal"])
        if response.finish_reason == "length" and not self._warned_of_cut_answers:
            self._warned_of_cut_answers = True
            logger.warning("%s was cut off at backbone.max_tokens (%d)", self.name, self.settings.max_tokens)
        model = response.model_name or self.settings.model
        if model.startswith("/"):  # llama.cpp names the weights file; a path on a host belongs in no record
            model = self.settings.model
        spent = response.usage
        measured = bool(spent.input_tokens or spent.output_tokens)
        cost = cost_usd(connection, spent, model) if measured else None
        return Reply(text, Usage(spent.input_tokens, spent.output_tokens, cost), model)

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

    def _extras_for(self, request: Request) -> _Extras:
        # Anthropic's schemas have no free keys: a dict field would come back empty, always.
        output_model: type[BaseModel] = request.ask.output_model
        lossy = self.settings.provider == "anthropic" and has_free_keys(output_model)
        return replace(self._extras, schema=False) if lossy else self._extras

    def _parameters_for(self, output_model: type[BaseModel], *, schema: bool) -> "ModelRequestParameters":
        known = self._parameters.get((output_model, schema))
        if known is None:
            known = self._build_parameters(output_model, schema=schema)
            self._parameters[output_model, schema] = known
        return known

    def _build_parameters(self, output_model: type[BaseModel], *, schema: bool) -> "ModelRequestParameters":
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        if not schema:
            return ModelRequestParameters(output_mode="text")
        strict = None
        if self.settings.provider == "openai":
            # Strict mode knows no free keys; servers other than OpenAI's hold to the schema without it.
            strict = self._connection.host in ("openai", "azure") and not has_free_keys(output_model)
        definition = OutputObjectDefinition(answer_schema(output_model), name=output_model.__name__, strict=strict)
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

    def _drop_what_is_refused(self, sent: _Extras, failure: Failure) -> bool:
        """Return whether to ask again at once. The first of many failing requests logs the warning."""
        if sent.seed and failure.refuses_seed:
            if self._extras.seed:
                self._extras = replace(self._extras, seed=False)
                self.honours_seed = False
                logger.warning("%s refuses a sampling seed (%s); asking without", self.name, failure.event)
            return True
        if sent.schema and failure.refuses_schema and self.settings.output == "auto":
            if self._extras.schema:
                self._extras = replace(self._extras, schema=False)
                logger.warning(
                    "%s refuses a JSON Schema (%s); the schema stands in the prompt from now on",
                    self.name,
                    failure.event,
                )
            return True
        return False

    def _unavailable(self, failure: Failure, retries: int) -> BackendUnavailableError:
        message = f"{self.name} {failure.event}"
        if failure.detail:
            message += f": {failure.detail}"
        if retries:
            message += f" (after {retries} retries)"
        if advice := self._advice(failure):
            message += f"; {advice}"
        return BackendUnavailableError(message, backend=self.name, kind=failure.kind)

    def _advice(self, failure: Failure) -> str:
        connection = self._connection
        if failure.status in (401, 403):
            return f"check the key in {connection.key_variable}"
        if failure.status == 404:
            return f"check backbone.model ({self.settings.model}) and backbone.base_url ({connection.shown_url})"
        if failure.kind == "timeout":
            return "raise backbone.timeout_s if answers take longer"
        if failure.status is None and failure.transient:
            return f"is {connection.shown_url} up?"
        return ""


def _with_schema(system: str, output_model: type[BaseModel]) -> str:
    return (
        f"{system}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{schema_text(output_model)}"
    )


def _unusable(page: str) -> Reply:
    """Return a page that is no API response as an unreadable reply that no model sent."""
    # A stray {} in an HTML page would pass for an empty answer.
    shown = page[:_SHOWN_PAGE_CHARS].translate({ord("{"): "(", ord("}"): ")"})
    return Reply(f"[the server sent no API response] {shown}".rstrip(), from_model=False)
