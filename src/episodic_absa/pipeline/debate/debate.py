"""The debate: three speakers who do not hear each other, and a judge who hears what they would change."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from episodic_absa.pipeline.asking import Asking, first_error
from episodic_absa.pipeline.debate.recorded_debate import recorded_summary, recorded_turn
from episodic_absa.pipeline.debate.speakers import PERSONAS
from episodic_absa.pipeline.decision.claims import (
    Claim,
    Ruling,
    claims_of_cj,
    claims_of_epm,
    claims_of_tan,
    ruling_of,
)
from episodic_absa.pipeline.shown_values import Context, slot_entry
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.schemas.absa import DebateOutput, DebateRound, DebateSummary, DebateTurn
from episodic_absa.schemas.answers import DecisionsAnswer, JudgementsAnswer, TargetsAnswer, WrongPairsAnswer
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import JudgeInputs, MemorySlot, SpeakerInputs
from episodic_absa.vocabulary import DebateCall, Speaker

TOPIC: Final = "Which targets does the writer judge, and how?"


class Debated(NamedTuple):
    """What was claimed, and the record of it."""

    claims: tuple[Claim, ...] = ()
    record: DebateOutput | None = None
    """None if there was no debate."""


class Debate:
    """Runs the speakers side by side, then the judge.

    Each speaker is asked what only it can witness: EPM judges the targets without seeing Stage1's polarities, TAN names
    the targets without seeing Stage1's, CJ sees the pairs and lists those that are wrong. From the second round on they
    see the claims of the round before. A speaker or a judge whose answer cannot be read is silent.
    """

    def __init__(self, settings: PipelineSettings, slot_name: str) -> None:
        self._settings = settings.debate
        self._slot_name = slot_name
        self._order = settings.debate.order

    async def run(self, first: FirstAnalysis, slot: MemorySlot | None, asking: Asking) -> Debated:
        """Return the debate about a first analysis; `slot` is the memory to show, or None.

        Raises:
            BackendError: a speaker or the judge cannot be asked. All speakers of a round end first, so that the
                recorded cost is the same.
        """
        rounds: list[DebateRound] = []
        claims: list[Claim] = []
        last: Sequence[Claim] = ()
        for index in range(1, self._settings.rounds + 1):
            outcomes = await asyncio.gather(
                *(self._ask_speaker(speaker, index, first, last, slot, asking) for speaker in self._order),
                return_exceptions=True,
            )
            turns = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
            if len(turns) < len(outcomes):
                raise first_error(*outcomes)
            recorded = (
                recorded_turn(speaker, turn, first.terms.aspect_terms)
                for speaker, turn in zip(self._order, turns, strict=True)
            )
            rounds.append(DebateRound(round_index=index, turns=tuple(recorded)))
            last = [claim for turn in turns for claim in turn]
            claims += last
        spoken = [turn for debate_round in rounds for turn in debate_round.turns]
        summary, ruling = await self._ask_judge(first, claims, spoken, slot, asking)
        personas = tuple(PERSONAS[speaker] for speaker in self._order)
        record = DebateOutput(topic=TOPIC, personas=personas, rounds=tuple(rounds), summary=summary)
        return Debated((*claims, *ruling.claims), record)

    async def _ask_speaker(
        self,
        speaker: Speaker,
        index: int,
        first: FirstAnalysis,
        last: Sequence[Claim],
        slot: MemorySlot | None,
        asking: Asking,
    ) -> tuple[Claim, ...]:
        """Return what one speaker claims; `last` is what was claimed in the round before."""
        memory = self._visible(slot, speaker)
        inputs = SpeakerInputs(
            text=first.text,
            language=first.language,
            stage1=first.result,
            memory=memory,
            speaker=speaker,
            persona=PERSONAS[speaker],
            round_index=index,
        )
        earlier = list(_asked_changes(last))
        more: Context = [
            *([("claims", earlier)] if earlier else []),
            *slot_entry(self._slot_name, memory, first.language),
        ]
        text: Context = [("text", first.text)]
        match speaker:
            case "epm":
                shown = [*text, ("targets", first.shown_targets), *more]
                judged = await asking.ask_witness("epm", inputs, shown, JudgementsAnswer)
                return tuple(claims_of_epm(judged, first)) if judged else ()
            case "tan":
                named = await asking.ask_witness("tan", inputs, [*text, *more], TargetsAnswer)
                return tuple(claims_of_tan(named, first)) if named else ()
            case "cj":
                shown = [*text, ("pairs", first.shown_pairs), *more]
                wrong = await asking.ask_witness("cj", inputs, shown, WrongPairsAnswer)
                return tuple(claims_of_cj(wrong, first)) if wrong else ()

    async def _ask_judge(
        self,
        first: FirstAnalysis,
        claims: Sequence[Claim],
        turns: Sequence[DebateTurn],
        slot: MemorySlot | None,
        asking: Asking,
    ) -> tuple[DebateSummary, Ruling]:
        """Return the judge's decisions about the claims."""
        memory = self._visible(slot, "judge")
        inputs = JudgeInputs(
            text=first.text, language=first.language, stage1=first.result, turns=tuple(turns), memory=memory
        )
        shown: Context = [
            ("text", first.text),
            ("pairs", first.shown_pairs),
            ("claims", list(dict.fromkeys(_asked_changes(claims)))),
            *slot_entry(self._slot_name, memory, first.language),
        ]
        answer = await asking.ask_witness("judge", inputs, shown, DecisionsAnswer) or DecisionsAnswer(decisions=())
        ruling = ruling_of(answer, first)
        return recorded_summary(answer, ruling, first.text), ruling

    def _visible(self, slot: MemorySlot | None, call: DebateCall) -> MemorySlot | None:
        return slot if call in self._settings.memory_visible_to else None


def _asked_changes(claims: Iterable[Claim]) -> Iterator[str]:
    """Yield what the speakers would change, one short line each."""
    for claim in claims:
        if claim.term and claim.asks_for_change:
            yield f"{claim.who}: {claim.term} {'drop' if claim.is_target is False else claim.polarity}"
