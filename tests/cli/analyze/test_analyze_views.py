"""What the pages of `analyze` show, with answers written by hand: every branch, and models that answer anything."""

import io
import re
from typing import Any, get_args

import pytest
from rich.cells import cell_len
from rich.console import Console

from episodic_absa import Analyzer
from episodic_absa.backends.backend import Answer, Ask, OutputT, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.cli.analyze.analysis_view import analysis_view
from episodic_absa.cli.analyze.analyze_progress import AnalyzeProgress
from episodic_absa.cli.analyze.explanation import reason_words
from episodic_absa.cli.analyze.explanation.explanation_view import explanation_view
from episodic_absa.pipeline.decision.changes import REASON_WORDS, WITNESS_WORDS
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run_files.candidate_record import WITNESSES, CandidateReason
from episodic_absa.vocabulary import AdoptReason, Effort, InjectionSkip, ModeratorRule, OverrideSkip

TEXT = "The battery lasts long, but the screen is [red]dark[/red] and the sound odd."
HOSTILE = "[bold]\x1b[2J\u202e"


def _edit(op: str, term: str, value: str | None = None, evidence: str | None = None) -> dict[str, Any]:
    return {"op": op, "target": {"aspect_ref": term}, "value": value, "evidence": evidence, "confidence": 0.8}


DARK = _edit("set_polarity", "screen", "negative", "[red]dark[/red]")
ANSWERS: dict[str, dict[str, Any]] = {
    "ate": {
        "aspects": [
            {"aspect_term": "battery", "confidence": 0.9, "rationale": HOSTILE},
            {"aspect_term": "screen", "confidence": 0.9},
            {"aspect_term": "sound", "confidence": 0.4},
            {"aspect_term": "camera" + HOSTILE},
        ]
    },
    "atsa": {
        "sentiments": [
            {"aspect_term": "battery", "polarity": "positive", "evidence": "lasts long", "confidence": 0.9},
            {"aspect_term": "lens", "polarity": "negative"},
        ]
    },
    "validator": {
        "structural_risks": [
            {"type": "EVIDENCE_GAP", "severity": "high", "scope": {"start": 24, "end": 27}, "description": HOSTILE}
        ],
        "correction_proposals": [{"aspect_term": "zoom", "proposal_type": "DROP_ASPECT", "rationale": "it is blurred"}],
        "consistency_score": 0.4,
        "suggested_label": "mixed",
    },
    "epm": {"proposed_edits": [DARK, _edit("set_polarity", "battery", "pozitiv", "never said")]},
    "tan": {"proposed_edits": [DARK]},
    "cj": {"proposed_edits": [DARK]},
    "judge": {
        "final_patch": [{key: DARK[key] for key in ("op", "target", "value")}],
        "final_tuples": [{"aspect_term": "screen", "polarity": "negative"}],
        "unresolved_conflicts": ["whose sound " + HOSTILE],
        "sentence_polarity": "mixed",
        "sentence_evidence_spans": ["lasts long"],
        "aspect_evidence": {"screen": "dark"},
        "rationale": HOSTILE + "dark is dark",
    },
    "stage2_ate": {"reviews": [{"aspect_term": "battery", "action": "keep", "reason": "it is there"}]},
    "stage2_atsa": {
        "reviews": [
            {"aspect_term": "battery", "action": "reduce_confidence", "reason": "long is vague"},
            {"aspect_term": "zoom", "action": "flip_polarity", "reason": HOSTILE + "no such thing"},
        ]
    },
    "stage2_validator": {"consistency_score": 0.9, "resolved_risk_ids": ["r1"], "suggested_label": None},
}


class Scripted(RemoteFacts):
    """Answers each role with what is written above, or in `changes`."""

    name = "scripted:" + HOSTILE
    honours_seed = False

    def __init__(self, **changes: dict[str, Any]) -> None:
        self._answers = ANSWERS | changes

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        output = ask.output_model.model_validate(self._answers[ask.role])
        return Answer(output, Usage(1000, 20, None if ask.role == "ate" else 0.5), 2, self.name, cached=True)

    async def close(self) -> None:
        pass


def analysed(pipeline: PipelineSettings | None = None, **changes: dict[str, Any]) -> SampleResult:
    """Analyse under seed rules, whose answers ANSWERS are; SHORT has those of rules v3."""
    with Analyzer(backend=Scripted(**changes), conditions="v1_2", pipeline=pipeline) as analyzer:
        return analyzer.analyze(TEXT)


def rendered(page: Any, columns: int) -> str:
    console = Console(
        file=io.StringIO(), width=columns, force_terminal=True, color_system=None, markup=False, highlight=False
    )
    with console.capture() as captured:
        console.print(page)
    return captured.get()


def told(page: Any, columns: int = 100) -> str:
    return " ".join(rendered(page, columns).split())


def test_the_table_shows_what_the_debate_changed_with_the_words_it_rests_on() -> None:
    result = analysed()
    page = told(analysis_view(result))
    assert "battery + positive 0.70 lasts long" in page
    assert "screen - negative 0.70 dark" in page
    assert "revised by stage2: risk_resolved" in page


def test_a_backfill_is_marked_and_dimmed() -> None:
    page = analysis_view(analysed())
    assert "sound ○ neutral 0.50 (backfilled: not judged)" in told(page)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard", _environ={})
    with console.capture() as captured:
        console.print(page)
    line = next(line for line in captured.get().splitlines() if "backfilled" in line)
    assert "\x1b[2m(backfilled: not judged)" in line


def test_the_explanation_leaves_nothing_out() -> None:
    page = told(explanation_view(analysed()))
    for words in (
        "camera[bold]\\x1b[2J\\u202e semantic_hallucination",
        "unmatched lens",
        "r1 EVIDENCE_GAP high “but” 24:27 [bold]\\x1b[2J\\u202e",
        "DROP_ASPECT zoom it is blurred",
        "suggests ± mixed, confidence 0.50; consistency 0.40",
        "set_polarity 0.80 screen → - negative “[red]dark[/red]”",
        "set_polarity 0.80 battery → pozitiv “never said” (not in the text)",
        "judge set_polarity screen → - negative",
        "screen - negative “dark”",
        "sentence ± mixed “lasts long”",
        "unresolved whose sound [bold]\\x1b[2J\\u202e",
        "chg_001 battery keep it is there",
        "chg_002 battery ✓ reduce_confidence long is vague",
        "chg_003 zoom ✗ no_matching_sentiment flip_polarity [bold]\\x1b[2J\\u202eno such thing",
        "resolved r1",
        "✗ proposal DROP_ASPECT zoom no_matching_aspect",
        "✓ atsa_review reduce_confidence battery chg_002",
        "screen - negative +0 -2.3, total 2.3, margin 2.3 APPLY",
        "needs weight 1.6 and margin 0.8; an L3 risk bars it",
        "outcome success yes, harm no",
        "Stage2 adopted: risk_resolved",
        "threshold 0.30 debate support 1, validator resolved 1, grounding 0, confidence gain 0.00",
        "B base stage",
        "10 (stage1 3, debate 4, stage2 3), 20 attempts, 10 cached",
        "10,000 in, 200 out; cost unknown",
    ):
        assert words in page


SHORT: dict[str, dict[str, Any]] = {
    "joint": {
        "pairs": [
            {"quote": "lasts long", "term": "battery", "polarity": "positive"},
            {"quote": "[red]dark[/red]", "term": "screen", "polarity": "positive"},
        ]
    },
    "validator": {"risks": []},
    "epm": {
        "judgements": [
            {"target": "battery", "quote": "dark", "polarity": "negative"},
            {"target": "screen", "quote": "[red]dark[/red]", "polarity": "negative"},
        ]
    },
    "tan": {"targets": [{"quote": "lasts long", "target": "battery"}, {"quote": "odd", "target": "screen"}]},
    "cj": {"wrong": []},
    "judge": {"decisions": [{"target": "screen", "quote": "dark", "decision": "negative"}]},
    "stage2_ate": {"verdicts": [], "add": [{"quote": "odd", "target": "zoom" + HOSTILE, "polarity": "negative"}]},
    "stage2_atsa": {"verdicts": [{"target": "battery", "quote": "lasts long", "verdict": "keep"}]},
    "stage2_validator": {"risks": []},
}


def analysed_under_v3(effort: Effort = "full", **changes: dict[str, Any]) -> SampleResult:
    backend, pipeline = Scripted(**(SHORT | changes)), PipelineSettings(reader=False, effort=effort)
    with Analyzer(backend=backend, conditions="v3_0", pipeline=pipeline) as analyzer:
        return analyzer.analyze(TEXT)


def test_under_v3_each_candidate_is_shown_with_its_decision_and_its_witnesses() -> None:
    page = told(explanation_view(analysed_under_v3()))
    candidates = page[page.index("Candidates") : page.index("Adoption")]
    for words in (
        "conservative; in from p 0.45 on",
        "battery + positive ✓ kept (it is likely enough)",
        "battery - negative ✗ left out (one agent alone names it)",
        "against EPM “dark”",
        "screen + positive ✗ dropped (it is not likely enough)",
        "screen - negative ✓ added (it is likely enough)",
        "for EPM “[red]dark[/red]” judge “dark”",
        "zoom[bold]\\x1b[2J\\u202e - negative ✗ left out (the text does not hold the term)",
    ):
        assert words in candidates


def test_under_v3_the_reader_states_its_probability() -> None:
    with Analyzer(backend=Scripted(**SHORT), conditions="v3_0") as analyzer:
        page = told(explanation_view(analyzer.analyze(TEXT)))
    assert re.search(r"reader p [01]\.\d\d", page)


def test_without_candidates_the_section_says_so_and_seed_rules_have_none() -> None:
    page = told(explanation_view(analysed_under_v3("one_call", joint={"pairs": []})))
    assert "candidates nobody names a pair" in page
    assert "Patch and override" not in page
    under_seed_rules = told(explanation_view(analysed()))
    assert "Candidates" not in under_seed_rules
    assert "Patch and override" in under_seed_rules


def test_the_explanation_of_one_call_says_what_was_not_asked() -> None:
    page = told(explanation_view(analysed_under_v3("one_call")))
    for words in ("validator switched off", "debate switched off", "stage2 not asked"):
        assert words in page


@pytest.mark.parametrize("columns", [30, 44, 80, 120])
def test_pages_of_rules_v3_stay_within_the_width_and_steer_nothing(columns: int) -> None:
    result = analysed_under_v3()
    for page in (analysis_view(result, number=12), explanation_view(result, number=12)):
        text = rendered(page, columns)
        assert max(map(cell_len, text.splitlines())) <= min(columns, 100)
        assert not set("\x1b\u202e") & set(text)


def test_every_reason_code_has_its_words() -> None:
    assert set(reason_words.INJECTION_SKIP_WORDS) == set(get_args(InjectionSkip))
    assert set(reason_words.ADOPT_WORDS) == set(get_args(AdoptReason))
    assert set(REASON_WORDS) == set(get_args(CandidateReason))
    assert set(WITNESS_WORDS) == set(WITNESSES)
    assert set(reason_words.MODERATOR_RULE_WORDS) == set(get_args(ModeratorRule))
    assert set(reason_words._OVERRIDE_WORDS) == {"", *get_args(OverrideSkip)}


@pytest.mark.parametrize(("seconds", "lines"), [(0.0, "analysed 1 of 3\nanalysed 2 of 3\n"), (3600.0, "")])
def test_without_a_terminal_only_what_takes_long_is_reported(
    capsys: pytest.CaptureFixture[str], seconds: float, lines: str
) -> None:
    with AnalyzeProgress(3, seconds_between_lines=seconds) as progress:
        for _ in range(3):
            with progress.after_one_more():
                pass
    assert capsys.readouterr() == ("", lines)
