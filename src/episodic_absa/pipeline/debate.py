"""The debate of rules v2: three speakers who do not hear each other, and a judge who hears their claims."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

from episodic_absa.pipeline.asking import Asking, first_error
from episodic_absa.pipeline.shown_values import Context, shown_pairs, shown_targets, slot_entry
from episodic_absa.pipeline.speakers import PERSONAS, TARGETS_SPEAKER
from episodic_absa.pipeline.translation import (
    edits_of_judgements,
    edits_of_targets,
    edits_of_wrong_pairs,
    judge_of_decisions,
)
from episodic_absa.schemas.absa import (
    DebateOutput,
    DebateRound,
    DebateSummary,
    DebateTurn,
    ProposedEdit,
    Sample,
    Stage1Result,
)
from episodic_absa.schemas.answers import DecisionsAnswer, JudgementsAnswer, TargetsAnswer, WrongPairsAnswer
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import JudgeInputs, MemorySlot, SpeakerInputs
from episodic_absa.seed.atsa_processing import PolarityCounts
from episodic_absa.seed.debate import TOPIC, DebateRun, summarise
from episodic_absa.seed.review_context import TermMap, stage1_terms
from episodic_absa.vocabulary import DebateCall, Language, Speaker


class SlimDebate:
    """Runs the speakers side by side, then the judge.

    Each speaker is asked what only it can witness: EPM judges the targets without seeing Stage1's polarities, TAN names
    the targets without seeing Stage1's, CJ sees the pairs and lists those that are wrong. From the second round on they
    see the claims of the round before. A speaker or a judge whose answer cannot be read is silent. With `targets_only`
    TAN alone is asked.
    """

    def __init__(self, settings: PipelineSettings, slot_name: str, *, targets_only: bool = False) -> None:
        self._settings = settings.debate
        self._slot_name = slot_name
        self._targets_only = targets_only
        self._order = tuple(
            speaker for speaker in settings.debate.order if speaker == TARGETS_SPEAKER or not targets_only
        )

    async def run(
        self, sample: Sample, language: Language, stage1: Stage1Result, slot: MemorySlot | None, asking: Asking
    ) -> DebateRun:
        """Return the debate about one first analysis; `slot` is the memory to show, or None.

        Raises:
            BackendError: a speaker or the judge cannot be asked. All speakers of a round end first, so that the
                recorded cost is the same.
        """
        ask = _SlimAsks(sample, language, stage1, asking)
        rounds: list[DebateRound] = []
        for index in range(1, self._settings.rounds + 1):
            claims = tuple(_claims(rounds[-1].turns, ask.terms)) if rounds else ()
            outcomes = await asyncio.gather(
                *(
                    ask.speaker(speaker, index, claims, self._memory(slot, speaker, language))
                    for speaker in self._order
                ),
                return_exceptions=True,
            )
            turns = tuple(outcome for outcome in outcomes if not isinstance(outcome, BaseException))
            if len(turns) < len(outcomes):
                raise first_error(*outcomes)
            rounds.append(DebateRound(round_index=index, turns=turns))
        spoken = [turn for debate_round in rounds for turn in debate_round.turns]
        summary, counts = DebateSummary(), PolarityCounts()
        if not self._targets_only:
            summary, counts = await ask.judge(spoken, self._memory(slot, "judge", language))
        personas = tuple(PERSONAS[speaker] for speaker in self._order)
        return DebateRun(DebateOutput(topic=TOPIC, personas=personas, rounds=tuple(rounds), summary=summary), counts)

    def _memory(
        self, slot: MemorySlot | None, call: DebateCall, language: Language
    ) -> tuple[MemorySlot | None, Context]:
        shown = slot if call in self._settings.memory_visible_to else None
        return shown, slot_entry(self._slot_name, shown, language)


class _SlimAsks:
    """The asks of one sample's debate."""

    def __init__(self, sample: Sample, language: Language, stage1: Stage1Result, asking: Asking) -> None:
        self._sample = sample
        self._language = language
        self._stage1 = stage1
        self._asking = asking
        self._sentiments = stage1.atsa.sentiments
        self._pairs = shown_pairs(self._sentiments)
        self.terms = TermMap(list(stage1_terms(stage1)), sample.text)

    async def speaker(
        self, speaker: Speaker, index: int, claims: Sequence[str], memory: tuple[MemorySlot | None, Context]
    ) -> DebateTurn:
        """Return one turn, as edits of Stage1's pairs."""
        shown, entry = memory
        inputs = SpeakerInputs(
            text=self._sample.text,
            language=self._language,
            stage1=self._stage1,
            memory=shown,
            speaker=speaker,
            persona=PERSONAS[speaker],
            round_index=index,
        )
        last: Context = [*([("claims", list(claims))] if claims else []), *entry]
        edits = await _TURNS[speaker](self, inputs, last)
        return DebateTurn(agent=speaker, proposed_edits=edits)

    async def judge(
        self, turns: Sequence[DebateTurn], memory: tuple[MemorySlot | None, Context]
    ) -> tuple[DebateSummary, PolarityCounts]:
        """Return the judge's decisions about the claims."""
        shown, entry = memory
        inputs = JudgeInputs(
            text=self._sample.text, language=self._language, stage1=self._stage1, turns=tuple(turns), memory=shown
        )
        claims = list(dict.fromkeys(_claims(turns, self.terms)))
        context: Context = [
            ("text", self._sample.text),
            ("pairs", self._pairs),
            ("claims", claims),
            *entry,
        ]
        answer = await self._asking.ask_witness("judge", inputs, context, DecisionsAnswer)
        decisions = answer or DecisionsAnswer(decisions=())
        return summarise(judge_of_decisions(decisions, self._sentiments, self.terms, self._sample.text))

    async def epm(self, inputs: SpeakerInputs, last: Context) -> tuple[ProposedEdit, ...]:
        context: Context = [("text", self._sample.text), ("targets", shown_targets(self._sentiments)), *last]
        answer = await self._asking.ask_witness("epm", inputs, context, JudgementsAnswer)
        return edits_of_judgements(answer.judgements, self._sentiments, self.terms) if answer else ()

    async def tan(self, inputs: SpeakerInputs, last: Context) -> tuple[ProposedEdit, ...]:
        context: Context = [("text", self._sample.text), *last]
        answer = await self._asking.ask_witness("tan", inputs, context, TargetsAnswer)
        return edits_of_targets(answer, self._sentiments, self.terms, self._sample.text) if answer else ()

    async def cj(self, inputs: SpeakerInputs, last: Context) -> tuple[ProposedEdit, ...]:
        context: Context = [("text", self._sample.text), ("pairs", self._pairs), *last]
        answer = await self._asking.ask_witness("cj", inputs, context, WrongPairsAnswer)
        return edits_of_wrong_pairs(answer, self._sentiments, self.terms) if answer else ()


_Turn = Callable[[_SlimAsks, SpeakerInputs, Context], Awaitable[tuple[ProposedEdit, ...]]]
_TURNS: Final[dict[Speaker, _Turn]] = {"epm": _SlimAsks.epm, "tan": _SlimAsks.tan, "cj": _SlimAsks.cj}


def _claims(turns: Sequence[DebateTurn], terms: TermMap) -> Iterator[str]:
    """Yield what the speakers would change, one short line each."""
    for turn in turns:
        for edit in turn.proposed_edits:
            term = terms.of(edit.target)
            if term and edit.op == "set_polarity":
                yield f"{turn.agent}: {term} {edit.value}"
            elif term and edit.op == "drop_tuple":
                yield f"{turn.agent}: {term} drop"
