"""Short ways to write Stage1 results, debates and scripted backends. Loaded by path; holds no test."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

from episodic_absa.backends.backend import Answer, Ask, OutputT, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.conditions import load_condition
from episodic_absa.memory import EpisodicMemorySettings, EpisodicOrchestrator, MemoryStore
from episodic_absa.pipeline.composition import MEMORY_FORMS
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.pipeline.stage1 import FirstAnalysis
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.reader.reading import TextLabel
from episodic_absa.reader.readings import Reading, ReadPair
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import (
    AspectItem,
    AspectVerdict,
    DebateOutput,
    DebateRound,
    DebateSummary,
    DebateTurn,
    EditTarget,
    JudgeTuple,
    PatchEdit,
    Persona,
    Proposal,
    ProposedEdit,
    Sample,
    SentimentItem,
    SentimentVerdict,
    Span,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    StructuralRisk,
    ValidatorOutput,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.seed import build_review_context
from episodic_absa.seed.patch import PatchResult, apply_patch
from episodic_absa.vocabulary import Language, Rules

TEXT = "The food was great, the service was slow and the price was fair."
EVERY_ROLE = (
    "ate",
    "atsa",
    "validator",
    "epm",
    "tan",
    "cj",
    "judge",
    "stage2_ate",
    "stage2_atsa",
    "stage2_validator",
)


def span_of(term: str, text: str = TEXT) -> Span | None:
    start = text.find(term)
    return Span(start=start, end=start + len(term)) if term and start >= 0 else None


def aspect(term: str, text: str = TEXT, confidence: float = 0.8) -> AspectItem:
    return AspectItem(aspect_term=term, span=span_of(term, text), confidence=confidence)


def sentiment(
    term: str, polarity: Any, confidence: float = 0.6, *, text: str = TEXT, backfilled: bool = False, evidence: str = ""
) -> SentimentItem:
    return SentimentItem(
        aspect_term=term,
        span=span_of(term, text),
        polarity=polarity,
        confidence=confidence,
        evidence=evidence,
        is_backfilled=backfilled,
        neutral_reason="missing_atsa_for_aspect" if backfilled else None,
    )


def risk(
    risk_type: Any = "EVIDENCE_GAP", severity: Any = "mid", scope: tuple[int, int] | None = None, number: str = "r1"
) -> StructuralRisk:
    where = None if scope is None else Span(start=scope[0], end=scope[1])
    return StructuralRisk(id=number, type=risk_type, severity=severity, scope=where)


def proposal(kind: Any, term: str, revised: tuple[int, int] | None = None) -> Proposal:
    where = None if revised is None else Span(start=revised[0], end=revised[1])
    return Proposal(aspect_term=term, proposal_type=kind, revised_span=where)


def stage1_of(
    aspects: Iterable[AspectItem] = (),
    sentiments: Iterable[SentimentItem] = (),
    risks: Iterable[StructuralRisk] = (),
    proposals: Iterable[Proposal] = (),
) -> Stage1Result:
    return Stage1Result(
        ate=Stage1Ate(aspects=tuple(aspects)),
        atsa=Stage1Atsa(sentiments=tuple(sentiments)),
        validator=ValidatorOutput(structural_risks=tuple(risks), correction_proposals=tuple(proposals)),
    )


def first_of(stage1: Stage1Result, text: str = TEXT, language: Language = "en") -> FirstAnalysis:
    return FirstAnalysis(text, language, stage1)


def edit(
    op: Any, ref: str, value: str | None = None, polarity: str | None = None, term: str | None = None
) -> ProposedEdit:
    return ProposedEdit(op=op, target=EditTarget(aspect_ref=ref, aspect_term=term, polarity=polarity), value=value)


def ruling(op: Any, ref: str, value: str | None = None, polarity: str | None = None) -> PatchEdit:
    return PatchEdit(op=op, target=EditTarget(aspect_ref=ref, polarity=polarity), value=value)


def judged(term: str, polarity: Any) -> JudgeTuple:
    return JudgeTuple(aspect_ref=term, aspect_term=term, polarity=polarity)


def debate_of(
    turns: Mapping[str, Sequence[ProposedEdit]] | None = None,
    patch: Sequence[PatchEdit] = (),
    tuples: Sequence[JudgeTuple] = (),
    spans: Sequence[str] = ("great",),
    evidence: Mapping[str, str] | None = None,
    sentence_polarity: Any = None,
) -> DebateOutput:
    spoken = tuple(
        DebateTurn.model_validate({"agent": name, "proposed_edits": tuple(edits)})
        for name, edits in (turns or {}).items()
    )
    return DebateOutput(
        topic="t",
        personas=(Persona(name="EPM", role="r", goal="g"),),
        rounds=(DebateRound(round_index=1, turns=spoken),),
        summary=DebateSummary(
            final_patch=tuple(patch),
            final_tuples=tuple(tuples),
            sentence_evidence_spans=tuple(spans),
            aspect_evidence=dict(evidence or {}),
            sentence_polarity=sentence_polarity,
        ),
    )


def ate_verdict(action: Any, term: str, revised: tuple[int, int] | None = None, number: int = 1) -> AspectVerdict:
    where = None if revised is None else Span(start=revised[0], end=revised[1])
    return AspectVerdict(
        change_id=f"chg_{number:03d}", aspect_term=term, action=action, revised_span=where, reason="because"
    )


def atsa_verdict(action: Any, term: str, polarity: Any = None, number: int = 2) -> SentimentVerdict:
    return SentimentVerdict(
        change_id=f"chg_{number:03d}", aspect_term=term, action=action, revised_polarity=polarity, reason="because"
    )


def patched(
    stage1: Stage1Result,
    ate: Sequence[AspectVerdict] = (),
    atsa: Sequence[SentimentVerdict] = (),
    debate: DebateOutput | None = None,
    text: str = TEXT,
    settings: PipelineSettings | None = None,
) -> PatchResult:
    built = build_review_context(stage1, debate, text)
    return apply_patch(stage1, ate, atsa, debate, built, text, settings or PipelineSettings())


def pairs_of(sentiments: Iterable[SentimentItem]) -> list[tuple[str, str | None]]:
    return [(one.aspect_term, one.polarity) for one in sentiments]


PLAIN_ANSWERS: dict[str, dict[str, Any]] = {
    "ate": {"aspects": [{"aspect_term": "food"}, {"aspect_term": "service"}]},
    "atsa": {
        "sentiments": [
            {"aspect_term": "food", "polarity": "positive", "evidence": "great", "confidence": 0.8},
            {"aspect_term": "service", "polarity": "negative", "evidence": "slow", "confidence": 0.7},
        ]
    },
    "validator": {"consistency_score": 0.9},
    "epm": {"proposed_edits": []},
    "tan": {"proposed_edits": []},
    "cj": {"proposed_edits": []},
    "judge": {"sentence_evidence_spans": ["great"]},
    "stage2_ate": {"reviews": []},
    "stage2_atsa": {"reviews": []},
    "stage2_validator": {"consistency_score": 0.9},
}
"""A sample on which nobody has anything to object."""

RISKY_ANSWERS: dict[str, dict[str, Any]] = {
    "validator": {
        "consistency_score": 0.4,
        "structural_risks": [{"type": "POLARITY_MISMATCH", "severity": "high", "scope": {"start": 0, "end": 8}}],
    }
}
"""Opens both gates and is worth storing."""

OVERRIDING_ANSWERS: dict[str, dict[str, Any]] = {
    "epm": {"proposed_edits": [{"op": "set_polarity", "target": {"aspect_ref": "service"}, "value": "positive"}]},
    "tan": {"proposed_edits": [{"op": "set_polarity", "target": {"aspect_ref": "service"}, "value": "positive"}]},
    "judge": {
        "final_patch": [{"op": "set_polarity", "target": {"aspect_ref": "service"}, "value": "positive"}],
        "sentence_evidence_spans": ["slow"],
    },
}
"""Turns the service round: 0.5 + 0.5 + 0.8 reach t0's 1.6."""

DEFAULT_ANSWERS: dict[str, dict[str, Any]] = {
    "joint": {
        "pairs": [
            {"quote": "great", "term": "food", "polarity": "positive"},
            {"quote": "slow", "term": "service", "polarity": "negative"},
        ]
    },
    "validator": {"risks": [], "label": "mixed"},
    "epm": {
        "judgements": [
            {"target": "food", "quote": "great", "polarity": "positive"},
            {"target": "service", "quote": "slow", "polarity": "negative"},
        ]
    },
    "tan": {"targets": [{"quote": "great", "target": "food"}, {"quote": "slow", "target": "service"}]},
    "cj": {"wrong": []},
    "judge": {"decisions": [], "label": "mixed"},
    "stage2_ate": {
        "verdicts": [{"target": "food", "verdict": "keep"}, {"target": "service", "verdict": "keep"}],
        "add": [],
    },
    "stage2_atsa": {
        "verdicts": [
            {"target": "food", "quote": "great", "verdict": "keep"},
            {"target": "service", "quote": "slow", "verdict": "keep"},
        ]
    },
    "stage2_validator": {"risks": [], "label": "mixed"},
}
"""Under rules v3: a sample on which nobody has anything to object."""

DEFAULT_RISKY: dict[str, dict[str, Any]] = {
    "validator": {"risks": [{"quote": "The food", "type": "POLARITY_MISMATCH"}], "label": "mixed"}
}
"""Opens both gates and is worth storing."""

DEFAULT_FLIP: dict[str, dict[str, Any]] = {
    "epm": {"judgements": [{"target": "service", "quote": "slow", "polarity": "positive"}]},
    "judge": {"decisions": [{"target": "service", "quote": "slow", "decision": "positive"}], "label": "positive"},
}
"""EPM and the judge turn the service round."""


class TableReader:
    """Has a view of each term of a table, and of no other unless `otherwise` is given.

    Args:
        views: by term.
        finds: the pairs that it finds by itself.
        otherwise: its view of every other term.
        label: what it makes of the whole text.
    """

    def __init__(
        self,
        views: Mapping[str, ReaderView] = MappingProxyType({}),
        *,
        finds: Mapping[str, ReaderView] = MappingProxyType({}),
        otherwise: ReaderView | None = None,
        label: TextLabel | None = None,
    ) -> None:
        self._views, self._finds, self._otherwise, self._label = {**finds, **views}, finds, otherwise, label

    def reads(self, language: str) -> bool:
        return language in ("en", "ko")

    def view(self, text: str, language: str, term: str) -> ReaderView | None:
        assert text
        return self._views.get(term, self._otherwise) if self.reads(language) else None

    def read(self, text: str, language: Language | None = None) -> Reading:
        if not self.reads(language or "en"):
            return Reading("other")
        starts = {term: text.find(term) for term in self._finds}
        pairs = tuple(
            ReadPair(term, start, start + len(term), view.polarity, view.p_of(view.polarity), "other")
            for term, start in starts.items()
            if start >= 0
            for view in (self._finds[term],)
        )
        return Reading(language or "en", pairs, label=self._label, label_p=0.0 if self._label is None else 0.9)


class ScriptedBackend(RemoteFacts):
    """Answers every role from a table and remembers what it was asked."""

    name = "scripted"
    honours_seed = False

    def __init__(
        self,
        answers: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        failing: Callable[[Ask[Any]], Exception | None] | None = None,
    ) -> None:
        self.answers: dict[str, Mapping[str, Any]] = {**PLAIN_ANSWERS, **(answers or {})}
        self.asks: list[Ask[Any]] = []
        self.failing = failing

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        self.asks.append(ask)
        error = self.failing(ask) if self.failing else None
        if error is not None:
            raise error
        await asyncio.sleep(0)
        return Answer(ask.output_model.model_validate(self.answers[ask.role]), Usage(3, 2, 0.5), 1, "scripted")

    async def close(self) -> None:
        return None

    @property
    def roles(self) -> list[str]:
        return [ask.role for ask in self.asks]

    def asked(self, role: str) -> Ask[Any]:
        return next(ask for ask in self.asks if ask.role == role)


def memory_of(store: Path, condition: str = "C1", **options: Any) -> MemoryView:
    return MemoryView(orchestrator_of(store, condition, **options))


def orchestrator_of(
    store: Path,
    condition: str = "C1",
    *,
    source: str = "v1_3",
    pipeline: PipelineSettings | None = None,
    **settings: Any,
) -> EpisodicOrchestrator:
    pipeline = pipeline or PipelineSettings()
    chosen = load_condition(condition, source)
    return EpisodicOrchestrator(
        chosen,
        MemoryStore(store),
        form=MEMORY_FORMS[chosen.rules],
        settings=EpisodicMemorySettings(**settings),
        chars_cap=pipeline.memory_prompt_injection_chars_cap,
        visible_to=pipeline.debate.memory_visible_to,
    )


def run_sample(
    backend: ScriptedBackend,
    store: Path,
    *,
    condition: str = "C1",
    text: str = TEXT,
    uid: str = "u1",
    settings: PipelineSettings | None = None,
    memory: Mapping[str, Any] | None = None,
    slot_name: str = "DEBATE_CONTEXT__MEMORY",
    language_code: str | None = None,
    rules: Rules = "seed",
    reader: TextReader | None = None,
    referee: bool = False,
) -> SampleResult:
    agent = SupervisorAgent(backend, settings, debate_slot_name=slot_name, rules=rules, reader=reader, referee=referee)
    sample = Sample(uid=uid, text=text, language_code=language_code)
    with closing(orchestrator_of(store, condition, pipeline=settings, **(memory or {}))) as orchestrator:
        return asyncio.run(agent.run(sample, MemoryView(orchestrator)))


def run_default_sample(backend: ScriptedBackend, store: Path, **more: Any) -> SampleResult:
    """Run a sample under rules v3 in a condition of v3_0."""
    memory = {"source": "v3_0", **more.pop("memory", {})}
    return run_sample(backend, store, rules="v3", memory=memory, **more)


def default_backend(*answers: Mapping[str, Mapping[str, Any]], **more: Any) -> ScriptedBackend:
    """Return a backend whose short answers differ from DEFAULT_ANSWERS where later tables say so."""
    merged: dict[str, Mapping[str, Any]] = dict(DEFAULT_ANSWERS)
    for table in answers:
        merged |= table
    return ScriptedBackend(merged, **more)


def filled_store(store: Path, text: str = TEXT) -> Path:
    """Write one episode that yields an advisory for every sample shaped like TEXT."""
    result = run_sample(ScriptedBackend(RISKY_ANSWERS), store, condition="C2_silent", text=text, uid="teacher")
    assert result.store.store_decision == "stored"
    return store


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
