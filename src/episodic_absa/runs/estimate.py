"""Estimates what a run takes before anything is sent: calls by the settings, tokens by the characters of the texts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.llm.llm_connection import cost_usd, open_connection
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.runs.config.cells import Cell, build_cells, evaluated_cells
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.schemas.run import Condition
from episodic_absa.vocabulary import STAGE_OF_ROLE, Effort, Role, Rules

Column = Literal["lower", "estimate", "upper"]
_COLUMNS: Final[tuple[Column, ...]] = get_args(Column)
_HALF: Final = 0.5
"""The share of samples that is assumed where the answers decide: for calls, and for memory in prompts."""
_SLOT_TOKENS: Final = 162
"""Of an advisory in a prompt."""
_LATIN_CHARS_PER_TOKEN: Final = 4.0
_HANGUL_CHARS_PER_TOKEN: Final = 1.5


class _Tokens(NamedTuple):
    """The tokens of a request beside those of the text, and of its answer."""

    prompt: int
    answer: int


# Prompts: means over the shipped reviews, earlier answers included. Answers: means of a 1.5B model, rounded up.
_TOKENS: Final[Mapping[Rules, Mapping[Role, _Tokens]]] = {
    "seed": {
        "ate": _Tokens(520, 80),
        "atsa": _Tokens(621, 180),
        "validator": _Tokens(1052, 150),
        "epm": _Tokens(869, 200),
        "tan": _Tokens(925, 200),
        "cj": _Tokens(964, 200),
        "judge": _Tokens(1228, 350),
        "stage2_ate": _Tokens(969, 120),
        "stage2_atsa": _Tokens(962, 150),
        "stage2_validator": _Tokens(1524, 150),
    },
    "v3": {
        "joint": _Tokens(300, 70),
        "ate": _Tokens(220, 20),
        "atsa": _Tokens(300, 70),
        "validator": _Tokens(343, 40),
        "epm": _Tokens(364, 60),
        "tan": _Tokens(241, 40),
        "cj": _Tokens(294, 40),
        "judge": _Tokens(436, 60),
        "stage2_ate": _Tokens(317, 50),
        "stage2_atsa": _Tokens(345, 60),
        "stage2_validator": _Tokens(343, 50),
        "referee": _Tokens(300, 10),
    },
}


class ConditionCalls(NamedTuple):
    """How a condition analyses, and the calls of a sample; repairs of unusable answers are not counted."""

    rules: Rules
    effort: Effort
    stage1: float
    """As many as are expected, like those below."""
    debate: float
    stage2: float
    """With the referee, if the memory asks one."""
    least: int
    """Whatever the model answers."""
    most: int
    """If its answers lead to every possible call."""

    @property
    def total(self) -> float:
        """The calls of a whole sample."""
        return self.stage1 + self.debate + self.stage2


@dataclass(frozen=True)
class Bound:
    """One column of the estimate, for all cells together."""

    sent: int
    """Requests that leave this machine."""
    shared: int
    """Calls answered by an equal request, mostly of another cell."""
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """None: no listed price."""


@dataclass(frozen=True)
class RunEstimate:
    """What a run would take."""

    evaluated_n: int
    build_n: int
    samples_per_cell: int
    samples_per_build: int
    calls_per_sample: Mapping[str, ConditionCalls]
    """By the name of the evaluated condition."""
    calls_per_build_sample: ConditionCalls | None
    """The same for the condition that builds the stores; None: there are no builds."""
    lower: Bound
    """Equal requests are sent once, no memory is shown, and answers lead to no further call."""
    estimate: Bound
    """Answers lead to half of the further calls, and memory is shown in half of the samples, which then share less."""
    upper: Bound
    """No answer is shared, and answers lead to every possible call."""
    no_price: str
    """Why the cost is not known, "" if it is."""


class _Request(NamedTuple):
    """A request of a sample under one condition."""

    role: Role
    number: int
    """Among the requests of its role."""
    rules: Rules
    is_joint: bool
    is_certain: bool
    """Whether any answers lead to it."""
    is_vote: bool
    """Votes are numbered, not seeded: all seeds share them."""

    @property
    def may_see_memory(self) -> bool:
        return STAGE_OF_ROLE[self.role] in ("debate", "stage2")


class _Load(NamedTuple):
    """A number of calls and their tokens."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def plus(self, other: "_Load") -> "_Load":
        return _Load(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class _Part(NamedTuple):
    """The evaluated cells, or those that build stores."""

    cell_n: int
    sample_n: int
    text_tokens: float
    """Of all samples of a cell."""
    requests: Mapping[Condition, Sequence[_Request]]

    def load(self, request: _Request, times: float, *, shows_memory: bool = False) -> _Load:
        """Return the load of a request that every sample sends so many times."""
        tokens, calls = _TOKENS[request.rules][request.role], times * self.sample_n
        prompt = tokens.prompt + (_SLOT_TOKENS if shows_memory else 0)
        return _Load(calls, calls * prompt + times * self.text_tokens, calls * tokens.answer)


async def estimate_run(config: ExperimentConfig) -> RunEstimate:
    """Return what a run takes. Nothing is sent, analysed or written.

    Raises:
        ConfigError: a configured file cannot be read.
        DatasetError: a data or gold file cannot become samples.
    """
    data = ExperimentData(config)
    builds, evaluated = (_part(config, data, list(cells)) for cells in (build_cells(config), evaluated_cells(config)))
    totals = {column: _total(config, (builds, evaluated), column) for column in _COLUMNS}
    price, no_price = await _price(config.file.backbone, totals["upper"][0])
    of_builds, of_evaluated = (
        {condition.name: _calls(config, condition, requests) for condition, requests in part.requests.items()}
        for part in (builds, evaluated)
    )
    bounds = {column: _bound(*totals[column], price) for column in _COLUMNS}
    return RunEstimate(
        evaluated_n=evaluated.cell_n,
        build_n=builds.cell_n,
        samples_per_cell=evaluated.sample_n,
        samples_per_build=builds.sample_n,
        calls_per_sample=of_evaluated,
        calls_per_build_sample=next(iter(of_builds.values()), None),
        **bounds,
        no_price=no_price,
    )


def estimate_tokens(text: str) -> float:
    """Estimate the tokens of a text: models split Hangul into more tokens than Latin letters."""
    hangul_n = sum("가" <= character <= "힣" or "ㄱ" <= character <= "ㆎ" for character in text)
    return hangul_n / _HANGUL_CHARS_PER_TOKEN + (len(text) - hangul_n) / _LATIN_CHARS_PER_TOKEN


def _part(config: ExperimentConfig, data: ExperimentData, cells: Sequence[Cell]) -> _Part:
    texts = [labelled.sample.text for labelled in data.samples_of(cells[0])] if cells else []
    requests = {cell.condition: tuple(_requests(config, cell.condition)) for cell in cells}
    return _Part(len(cells), len(texts), sum(map(estimate_tokens, texts)), requests)


def _requests(config: ExperimentConfig, condition: Condition) -> Iterator[_Request]:
    """Yield the requests that a sample may take under a condition."""
    settings = config.file.pipeline.under(condition)
    is_joint = condition.rules == "v3" and settings.stage1.joint is not False
    if settings.effort == "reader":
        return
    is_certain = settings.effort != "adaptive"

    def request(role: Role, number: int = 0, *, is_certain: bool = True, is_vote: bool = False) -> _Request:
        return _Request(role, number, condition.rules, is_joint, is_certain, is_vote)

    first: tuple[Role, ...] = ("joint",) if is_joint else ("ate", "atsa")
    for number in range(settings.votes):
        for role in first:
            yield request(role, number, is_certain=is_certain, is_vote=settings.votes > 1)
    if settings.enable_validator:
        yield request("validator", is_certain=is_certain)
    if settings.enable_debate:
        for number in range(settings.debate.rounds):
            for speaker in settings.debate.order:
                yield request(speaker, number, is_certain=is_certain)
        yield request("judge", is_certain=is_certain)
    if settings.enable_stage2:
        yield request("stage2_ate", is_certain=is_certain)
        yield request("stage2_atsa", is_certain=is_certain)
        if settings.enable_validator and is_certain:
            yield request("stage2_validator", is_certain=condition.rules == "seed")
    asks_referee = config.file.episodic_memory.referee and condition.store_write and condition.decides_changes
    if asks_referee and (settings.enable_debate or settings.enable_stage2):
        yield request("referee", is_certain=False)


def _total(config: ExperimentConfig, parts: Iterable[_Part], column: Column) -> tuple[_Load, float]:
    """Return what is sent, and how many calls ask for it."""
    experiment, is_upper = config.file.experiment, column == "upper"
    seed_n, order_n = len(experiment.seeds), len(experiment.orders or ("the one of each seed",))
    sent, asked = _Load(), 0.0
    for part in parts:
        shared: dict[tuple[str, _Request], float] = {}
        for condition, requests in part.requests.items():
            may_show = column != "lower" and condition.is_exposed and condition.advice.withhold < 1
            scope = "" if config.file.cache.share == "all" else condition.name
            for request in requests:
                weight = 1.0 if request.is_certain or is_upper else _HALF if column == "estimate" else 0.0
                asked += weight * seed_n * order_n * part.sample_n
                shows = may_show and request.may_see_memory
                seeds = seed_n if is_upper or not request.is_vote else 1
                own = weight if is_upper else weight * _HALF if shows else 0.0
                sent = sent.plus(part.load(request, own * seeds * order_n, shows_memory=shows))
                shared[scope, request] = max(shared.get((scope, request), 0.0), (weight - own) * seeds)
        for (_, request), times in shared.items():
            sent = sent.plus(part.load(request, times))
    return sent, asked


def _calls(config: ExperimentConfig, condition: Condition, requests: Sequence[_Request]) -> ConditionCalls:
    stages: defaultdict[str, float] = defaultdict(float)
    for request in requests:
        # The referee belongs to no stage of its own here: it reads what Stage2 leaves.
        stage = STAGE_OF_ROLE[request.role]
        stages["stage2" if stage == "outcome" else stage] += 1.0 if request.is_certain else _HALF
    effort, least = config.file.pipeline.under(condition).effort, sum(request.is_certain for request in requests)
    means = (stages["stage1"], stages["debate"], stages["stage2"])
    return ConditionCalls(condition.rules, effort, *means, least, len(requests))


class _Price(NamedTuple):
    """Dollars per token, for prompts of this run's usual length."""

    per_token_in: float
    per_token_out: float


async def _price(backbone: BackboneSettings, load: _Load) -> tuple[_Price | None, str]:
    """Return the price of a token and, if there is none, why."""
    if facts_of(backbone).is_local:
        return _Price(0.0, 0.0), ""
    try:
        connection = open_connection(backbone.llm_settings())
    except (ConfigError, MissingExtraError) as error:
        return None, str(error)
    try:
        from pydantic_ai.usage import RequestUsage

        # For a call of average length: some models cost more per token in long prompts than in short ones.
        calls = max(load.calls, 1.0)
        tokens_in, tokens_out = max(round(load.tokens_in / calls), 1), max(round(load.tokens_out / calls), 1)
        for_in = cost_usd(connection, RequestUsage(input_tokens=tokens_in), backbone.model)
        for_out = cost_usd(connection, RequestUsage(input_tokens=tokens_in, output_tokens=tokens_out), backbone.model)
    finally:
        await connection.http_client.aclose()
    if for_in is None or for_out is None:
        return None, f"no listed price for {backbone.model} at {connection.shown_url}"
    return _Price(for_in / tokens_in, (for_out - for_in) / tokens_out), ""


def _bound(load: _Load, asked: float, price: _Price | None) -> Bound:
    cost = None if price is None else load.tokens_in * price.per_token_in + load.tokens_out * price.per_token_out
    return Bound(
        sent=round(load.calls),
        shared=round(asked) - round(load.calls),
        tokens_in=round(load.tokens_in),
        tokens_out=round(load.tokens_out),
        cost_usd=None if cost is None else round(cost, 6),
    )
