"""Stage2: verdicts on Stage1 that do not depend on the debate, then the risks of the final pairs."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.errors import UnrecordedRequestError
from episodic_absa.language import NOTHING_READ, PolarityCounts, norm, read_action, read_polarity
from episodic_absa.pipeline.asking import Asking, first_error
from episodic_absa.pipeline.shown_values import Context, shown_pairs, slot_entry
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.named_terms import meant_polarity, meant_term, split_name
from episodic_absa.pipeline.stage1.risks import remaining_risks, unchecked_risks
from episodic_absa.schemas.absa import (
    AspectItem,
    AspectVerdict,
    SentimentItem,
    SentimentVerdict,
    Validator2Output,
)
from episodic_absa.schemas.answers import (
    PairVerdict,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetVerdict,
    TargetVerdictsAnswer,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot, ReviewInputs, Validator2Inputs
from episodic_absa.vocabulary import AteAction, AtsaAction

_LONGEST_REASON: Final = 400
_NO_QUOTE: Final = "no words of the text are quoted"
_MOST_VERDICTS: Final = 400
"""Of each kind: both together must fit the three digits of a change id."""


class Verdicts(NamedTuple):
    """The verdicts on targets and on pairs, numbered by change ids."""

    ate: tuple[AspectVerdict, ...] = ()
    atsa: tuple[SentimentVerdict, ...] = ()
    polarity_counts: PolarityCounts = NOTHING_READ
    """How the polarity words of the verdicts were read."""


class Stage2:
    """Runs the Stage2 agents."""

    def __init__(self, settings: PipelineSettings, slot_name: str) -> None:
        self._validates = settings.enable_validator
        self._slot_name = slot_name

    async def give_verdicts(self, first: FirstAnalysis, slot: MemorySlot | None, asking: Asking) -> Verdicts:
        """Return the verdicts on targets and pairs; neither agent sees the debate or the other's answer.

        Raises:
            BackendError: an agent gave no valid answer. Both calls end first, so that the recorded cost is the same.
        """
        inputs = ReviewInputs(text=first.text, language=first.language, stage1=first.result, memory=slot)
        last = slot_entry(self._slot_name, slot, first.language)
        shown: Context = [("text", first.text), ("targets", first.shown_targets), *last]
        ate, atsa = await asyncio.gather(
            asking.ask_witness("stage2_ate", inputs, shown, TargetVerdictsAnswer),
            asking.ask_witness(
                "stage2_atsa",
                inputs,
                [("text", first.text), ("pairs", first.shown_pairs), *last],
                PairVerdictsAnswer,
            ),
            return_exceptions=True,
        )
        if isinstance(ate, BaseException) or isinstance(atsa, BaseException):
            raise first_error(ate, atsa)
        # An answer that cannot be read is no verdict.
        return verdicts_of(ate or TargetVerdictsAnswer(verdicts=()), atsa or PairVerdictsAnswer(verdicts=()), first)

    async def validate(
        self,
        first: FirstAnalysis,
        aspects: Sequence[AspectItem],
        sentiments: Sequence[SentimentItem],
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Validator2Output:
        """Return the risks of the final pairs. They are recorded and decide nothing.

        A replay whose decisions differ from those of the recorded run may lack the question: it counts as unasked.
        """
        if not self._validates:
            return Validator2Output()
        inputs = Validator2Inputs(
            text=first.text,
            language=first.language,
            stage1=first.result,
            memory=slot,
            patched_aspects=tuple(aspects),
            patched_sentiments=tuple(sentiments),
        )
        shown: Context = [
            ("text", first.text),
            ("pairs", shown_pairs(sentiments)),
            *slot_entry(self._slot_name, slot, first.language),
        ]
        try:
            answer = await asking.ask_witness("stage2_validator", inputs, shown, RisksAnswer)
        except UnrecordedRequestError:
            answer = None
        if answer is None:
            return unchecked_risks(first.result)
        risks = first.result.validator.structural_risks
        return remaining_risks(answer, first.text, first.language, risks, target_n=len(aspects))


class _PairVerdict(NamedTuple):
    name: str
    action: AtsaAction
    word: str | None
    """The polarity that the pair should have, as the model wrote it."""
    quote: str


def verdicts_of(ate: TargetVerdictsAnswer, atsa: PairVerdictsAnswer, first: FirstAnalysis) -> Verdicts:
    """Return the answers as verdicts: those on targets, then those on pairs, then the pairs that Stage2 adds."""
    targets = [named for verdict in ate.verdicts if (named := _on_target(verdict, first)) is not None]
    pairs = [judged for verdict in atsa.verdicts if (judged := _on_pair(verdict, first)) is not None]
    pairs += [
        _PairVerdict(split_name(pair.target).name, "add", pair.polarity, pair.quote)
        for pair in ate.add
        if meant_term(pair.target, first.terms) is None
    ]
    targets, pairs = targets[:_MOST_VERDICTS], pairs[:_MOST_VERDICTS]
    counts = NOTHING_READ
    sentiment_verdicts: list[SentimentVerdict] = []
    for number, pair in enumerate(pairs, start=len(targets) + 1):
        polarity = None
        if pair.word is not None:
            reading = read_polarity(pair.word)
            polarity, counts = reading.polarity, counts.after(reading)
        sentiment_verdicts.append(
            SentimentVerdict(
                change_id=f"chg_{number:03d}",
                aspect_term=pair.name,
                action=pair.action,
                revised_polarity=polarity,
                reason=f'"{pair.quote}"'[:_LONGEST_REASON] if pair.quote else _NO_QUOTE,
            )
        )
    aspect_verdicts = tuple(
        AspectVerdict(change_id=f"chg_{number:03d}", aspect_term=name, action=action, reason=_NO_QUOTE)
        for number, (name, action) in enumerate(targets, start=1)
    )
    return Verdicts(aspect_verdicts, tuple(sentiment_verdicts), counts)


def _on_target(verdict: TargetVerdict, first: FirstAnalysis) -> tuple[str, AteAction] | None:
    """Return the target and the action; None if the word of the verdict or the name cannot be read."""
    action, term = read_action(verdict.verdict), meant_term(verdict.target, first.terms)
    name = split_name(verdict.target).name if term is None else term
    if action in (None, "flip") or (term is None and not norm(name)):
        return None
    return name, "keep" if action == "keep" else "drop"


def _on_pair(verdict: PairVerdict, first: FirstAnalysis) -> _PairVerdict | None:
    """Return the verdict on one pair, None if its word cannot be read.

    A verdict that a pair is wrong, without saying what is right, is a flip without a polarity.
    """
    term, polarity = meant_term(verdict.target, first.terms), read_polarity(verdict.verdict).polarity
    current = None if term is None else meant_polarity(verdict.target, first.polarities(term))
    action: AtsaAction
    match read_action(verdict.verdict):
        case "keep":
            action = "keep"
        case "drop":
            action = "drop"
        case "flip" | "wrong":
            action = "flip_polarity"
        case None if polarity is None:
            return None
        case None:
            action = "keep" if current is None or polarity == current else "flip_polarity"
    name = split_name(verdict.target).name if term is None else term
    return _PairVerdict(name, action, polarity if action == "flip_polarity" else None, verdict.quote)
