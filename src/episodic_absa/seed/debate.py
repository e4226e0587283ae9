"""Runs the debate: speakers propose edits in turn, then the judge decides."""

from itertools import product
from typing import Final, NamedTuple

from episodic_absa.language import PolarityCounts, read_label, read_polarity
from episodic_absa.schemas.absa import (
    DebateOutput,
    DebateRound,
    DebateSummary,
    DebateTurn,
    JudgeTuple,
    Persona,
    Stage1Result,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import JudgeInputs, MemorySlot, SpeakerInputs
from episodic_absa.schemas.seed_answers import JudgeAnswer, TurnAnswer
from episodic_absa.seed.review_context import edit_line
from episodic_absa.seed.shown_values import Asks, Context, debate_context
from episodic_absa.vocabulary import DebateCall, Language, Speaker

TOPIC: Final = "Which targets does the writer judge, and how?"
PERSONAS: Final[dict[Speaker, Persona]] = {
    "epm": Persona(name="EPM", role="Evidence-Polarity Mapper", goal="find the exact words that support each polarity"),
    "tan": Persona(name="TAN", role="Target-Aspect Normalizer", goal="see that every target is the right Stage1 term"),
    "cj": Persona(name="CJ", role="Consistency Judge", goal="see that the tuples fit each other and the sentence"),
}
"""Who speaks, as the prompts introduce them."""
_AS_ANSWERED: Final = (
    "final_patch",
    "unresolved_conflicts",
    "sentence_evidence_spans",
    "aspect_evidence",
    "rationale",
)


class DebateRun(NamedTuple):
    """The debate, and how the judge's polarity words were read."""

    output: DebateOutput | None = None
    """None if the pipeline has no debate."""
    polarity_counts: PolarityCounts = PolarityCounts()


class Debate:
    """Runs the rounds and the judge."""

    def __init__(self, settings: PipelineSettings, slot_name: str) -> None:
        self._enabled = settings.enable_debate
        self._settings = settings.debate
        self._slot_name = slot_name

    async def run(
        self, text: str, language: Language, stage1: Stage1Result, slot: MemorySlot | None, asking: Asks
    ) -> DebateRun:
        """Return the debate about a first analysis; `slot` is the memory to show, or None.

        Raises:
            BackendError: a speaker or the judge gave no valid answer.
        """
        if not self._enabled:
            return DebateRun()
        shown = debate_context(text, stage1)
        order = self._settings.order
        history: list[str] = []
        turns: list[DebateTurn] = []
        for round_index, speaker in product(range(1, self._settings.rounds + 1), order):
            persona, memory = PERSONAS[speaker], self._visible(slot, speaker)
            context: Context = [
                *shown,
                ("persona", persona.model_dump(mode="json")),
                ("history", list(history)),
                *self._slot_entry(memory),
            ]
            inputs = SpeakerInputs(
                text=text,
                language=language,
                stage1=stage1,
                turns=tuple(turns),
                memory=memory,
                speaker=speaker,
                persona=persona,
                round_index=round_index,
            )
            answer = await asking.ask(speaker, inputs, context, TurnAnswer)
            turns.append(DebateTurn(agent=speaker, proposed_edits=answer.proposed_edits))
            history += [edit_line(round_index, speaker, edit) for edit in answer.proposed_edits]
        memory = self._visible(slot, "judge")
        judge_inputs = JudgeInputs(text=text, language=language, stage1=stage1, turns=tuple(turns), memory=memory)
        judge_context: Context = [*shown, ("history", history), *self._slot_entry(memory)]
        judge_answer = await asking.ask("judge", judge_inputs, judge_context, JudgeAnswer)
        summary, counts = summarise(judge_answer)
        rounds = tuple(
            DebateRound(round_index=index, turns=tuple(turns[(index - 1) * len(order) : index * len(order)]))
            for index in range(1, self._settings.rounds + 1)
        )
        personas = tuple(PERSONAS[speaker] for speaker in order)
        return DebateRun(DebateOutput(topic=TOPIC, personas=personas, rounds=rounds, summary=summary), counts)

    def _visible(self, slot: MemorySlot | None, call: DebateCall) -> MemorySlot | None:
        return slot if call in self._settings.memory_visible_to else None

    def _slot_entry(self, memory: MemorySlot | None) -> Context:
        return [] if memory is None else [(self._slot_name, memory)]


def summarise(answer: JudgeAnswer) -> tuple[DebateSummary, PolarityCounts]:
    """Return the judge's answer as a summary, and how its polarity words were read."""
    tuples: list[JudgeTuple] = []
    counts = PolarityCounts()
    for answered in answer.final_tuples:
        reading = read_polarity(answered.polarity)
        counts = counts.after(reading)
        if reading.polarity is not None:
            tuples.append(JudgeTuple(**answered.model_dump(exclude={"polarity"}), polarity=reading.polarity))
    as_answered = {name: getattr(answer, name) for name in _AS_ANSWERED}
    label = read_label(answer.sentence_polarity)
    return DebateSummary(**as_answered, final_tuples=tuple(tuples), sentence_polarity=label), counts
