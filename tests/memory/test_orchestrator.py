"""What the orchestrator reads, shows, records and stores under each condition."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError
from tests.memory.builders import moderated, risks
from tests.stored_lines import entries_of

import episodic_absa
from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError, LeakageError
from episodic_absa.memory import (
    DEBATE_SLOT,
    STAGE2_SLOT,
    EpisodicMemorySettings,
    EpisodicOrchestrator,
    MemoryStore,
    SlotAnswer,
    gate_signals,
    injection_for,
    load_catalogue,
    should_inject_advisory_with_reason,
    should_inject_memory_for_stage2_with_reason,
)
from episodic_absa.pipeline.composition import MEMORY_FORMS
from episodic_absa.schemas.absa import (
    AspectItem,
    Proposal,
    ReviewOutcome,
    SentimentItem,
    Span,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    ValidatorOutput,
)
from episodic_absa.schemas.run import MemoryMeta, StoreDecision
from episodic_absa.seed import SEED_FORM
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import DEBATE_CALLS, DebateCall, Polarity, RiskId, Severity, Split

CONDITIONS = ["C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen"]
RETRIEVING = CONDITIONS[1:]
MASKED = ["C1", "C2_silent", "C2_eval_only"]
EXPOSED = ["C2", "C2_frozen"]
WRITING = ["C2", "C2_silent"]
SCHEMAS = Path(episodic_absa.__file__).parent / "schemas" / "json"
TEXT = "The food was not fine at all"
NEG: tuple[RiskId, Severity] = ("NEGATION_SCOPE", "mid")


def stage1_of(
    *given_risks: tuple[RiskId, Severity], term: str = "food", polarity: Polarity = "positive", text: str = TEXT
) -> Stage1Result:
    at = max(text.find(term), 0)
    span = Span(start=at, end=at + len(term))
    return Stage1Result(
        ate=Stage1Ate(aspects=(AspectItem(aspect_term=term, span=span),)),
        atsa=Stage1Atsa(sentiments=(SentimentItem(aspect_term=term, span=span, polarity=polarity),)),
        validator=ValidatorOutput(
            structural_risks=risks(*given_risks),
            correction_proposals=(Proposal(aspect_term=term, proposal_type="FLIP_POLARITY"),) if given_risks else (),
        ),
    )


@contextmanager
def orchestrator(
    path: Path,
    name: str = "C2",
    *,
    version: str = "v1_3",
    chars_cap: int | None = None,
    visible_to: Sequence[DebateCall] = DEBATE_CALLS,
    **more: Any,
) -> Iterator[EpisodicOrchestrator]:
    with MemoryStore(path) as store:
        condition = load_condition(name, version)
        yield EpisodicOrchestrator(
            condition,
            store,
            form=MEMORY_FORMS[condition.rules],
            settings=EpisodicMemorySettings(**more),
            chars_cap=chars_cap,
            visible_to=visible_to,
        )


def read(
    memory: EpisodicOrchestrator,
    stage1: Stage1Result | None = None,
    *,
    text: str = TEXT,
    language: str | None = "en",
    sample_id: str | None = "now",
) -> SlotAnswer:
    stage1 = stage1 or stage1_of(NEG, term="service")
    return memory.get_slot_payload_for_current_sample(
        text, stage1.ate, stage1.atsa, stage1.validator, language, sample_id=sample_id
    )


def write(
    memory: EpisodicOrchestrator,
    uid: str,
    stage1: Stage1Result | None = None,
    *,
    after: tuple[tuple[RiskId, Severity], ...] | None = None,
    patched: Polarity | None = None,
    text: str = TEXT,
    language: str | None = "en",
    split: Split = "train",
    index: int = 0,
    seed: int = 7,
    used_in_eval: bool = False,
    **flags: Any,
) -> StoreDecision:
    stage1 = stage1 or stage1_of(NEG, text=text)
    sentiments = tuple(
        s if patched is None else s.model_copy(update={"polarity": patched}) for s in stage1.atsa.sentiments
    )
    adopted = after is not None or patched is not None
    outcome = ReviewOutcome(
        aspects=stage1.ate.aspects,
        sentiments=sentiments,
        structural_risks=stage1.validator.structural_risks if after is None else risks(*after),
        **flags,
    )
    return memory.append_episode_if_needed(
        text,
        uid,
        stage1,
        outcome,
        moderated(adopted=adopted),
        language_code=language,
        split=split,
        sample_index=index,
        seed=seed,
        used_in_eval=used_in_eval,
    )


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Build a store of three harmless episodes, u1 to u3."""
    path = tmp_path / "store.jsonl"
    with orchestrator(path, "C2", selective_storage=False) as memory:
        for n in (1, 2, 3):
            write(memory, f"u{n}", index=n)
    return path


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """Build a store with an episode that raised the risk, one of the same pair and one of another."""
    path = tmp_path / "failing.jsonl"
    with orchestrator(path, "C2", selective_storage=False) as memory:
        write(memory, "u1", stage1_of(NEG, polarity="positive"), patched="negative", after=(NEG, NEG))
        write(memory, "u2", stage1_of(NEG, polarity="negative"))
        write(memory, "u3", stage1_of(NEG, polarity="positive"))
    return path


# Reading


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_retrieves_once_or_never_and_shows_what_it_found_unless_masked(filled: Path, name: str) -> None:
    retrieving, exposed = name in RETRIEVING, name in EXPOSED
    with orchestrator(filled, name) as memory:
        slot, mode, meta = read(memory)
        without_debate = memory.empty_slot_without_debate()
    assert (meta.condition, mode) == (name, load_condition(name, "v1_3").memory_mode)
    assert (meta.retrieval_calls, meta.retrieved_k) == ((1, 3) if retrieving else (0, 0))
    assert set(meta.retrieved_ids) == ({"epi_000001", "epi_000002", "epi_000003"} if retrieving else set())
    assert [a["advisory_id"] for a in slot["retrieved"]] == [f"adv_{n:06d}" for n in (1, 2, 3)] * exposed
    assert (slot["warnings"], slot["memory_on"]) == ([], exposed)
    assert slot["meta"] == {
        "memory_mode": mode,
        "topk": 3 if retrieving else 0,
        "masked_injection": not exposed,
        "retrieval_executed": retrieving,
    }
    assert (meta.memory_mode, meta.exposed_to_debate, meta.exposed_to_stage2) == (mode, exposed, exposed)
    assert meta.memory_access_policy == {"debate": ("epm", "tan", "cj", "judge")}
    assert (meta.memory_block_reason, meta.memory_debate_slot_present_for) == ("", ())
    assert (meta.prompt_injection_chars, meta.stage2_memory_prompt_injection_chars) == (0, 0)
    empty, empty_mode, empty_meta = without_debate
    assert (empty["retrieved"], empty["warnings"], empty["meta"]["retrieval_executed"]) == ([], [], False)
    assert (empty_meta.retrieval_calls, empty_meta.retrieved_k, empty_meta.retrieved_ids) == (0, 0, ())
    assert empty_mode == mode
    for answer in (SlotAnswer(slot, mode, meta), without_debate):
        assert set(answer.slot) == {"schema_version", "memory_on", "retrieved", "warnings", "meta"}
        for value, schema in (
            (answer.slot, "advisory_bundle_v1_1"),
            (answer.meta.model_dump(mode="json"), "memory_meta"),
        ):
            jsonschema.validate(value, json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8")))


def test_an_alias_is_recorded_under_its_target(filled: Path) -> None:
    with orchestrator(filled, "C3") as memory:
        assert read(memory).meta.condition == "C2_silent"


def test_the_access_policy_names_the_calls_that_may_see_the_slot(filled: Path) -> None:
    with orchestrator(filled, visible_to=("epm", "judge")) as memory:
        assert read(memory).meta.memory_access_policy == {"debate": ("epm", "judge")}


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_flags_decide_whatever_the_condition_is_called(filled: Path, name: str) -> None:
    flags = load_condition(name, "v1_3")
    answers: list[SlotAnswer] = []
    decisions: list[StoreDecision] = []
    for called in ("C1", "C2"):
        path = filled.with_name(f"{called}.jsonl")
        path.write_bytes(filled.read_bytes())
        with MemoryStore(path) as store:
            memory = EpisodicOrchestrator(flags.model_copy(update={"name": called}), store, form=SEED_FORM)
            answers.append(read(memory))
            decisions.append(write(memory, "u9"))
    assert answers[0].slot == answers[1].slot
    assert answers[0].meta == answers[1].meta.model_copy(update={"condition": "C1"})
    assert decisions[0] == decisions[1]


def test_a_form_for_other_rules_than_those_of_the_condition_is_refused(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "store.jsonl") as store:
        with pytest.raises(ConfigError, match=r"C2 has rules seed, .* for v3; pass form=MEMORY_FORMS\['seed'\]"):
            EpisodicOrchestrator(load_condition("C2", "v1_3"), store)
        with pytest.raises(ConfigError, match=r"C2 has rules v3, .* for seed; pass form=MEMORY_FORMS\['v3'\]"):
            EpisodicOrchestrator(load_condition("C2", "v3_0"), store, form=SEED_FORM)


def test_the_first_condition_neither_opens_nor_creates_nor_reads_a_store(tmp_path: Path) -> None:
    missing, broken = tmp_path / "deep" / "store.jsonl", tmp_path / "store.jsonl"
    broken.write_text("not json\n", encoding="utf-8")
    for path in (missing, broken):
        with orchestrator(path, "C1") as memory:
            assert read(memory).meta.retrieval_calls == 0
            memory.empty_slot_without_debate()
            assert write(memory, "u1").store_decision == "skipped"
    assert list(tmp_path.iterdir()) == [broken]
    assert broken.read_text(encoding="utf-8") == "not json\n"


def test_a_sample_never_sees_its_own_episode(filled: Path) -> None:
    with orchestrator(filled) as memory:
        assert "epi_000002" not in read(memory, sample_id="u2").meta.retrieved_ids
        assert "epi_000002" in read(memory, sample_id="u4").meta.retrieved_ids
        assert "epi_000002" in read(memory, sample_id=None).meta.retrieved_ids


@pytest.mark.parametrize("topk", [1, 2, 3])
def test_topk_bounds_what_is_retrieved_and_is_told_in_the_bundle(filled: Path, topk: int) -> None:
    with orchestrator(filled, topk=topk) as memory:
        answer = read(memory)
    assert answer.meta.retrieved_k == len(answer.slot["retrieved"]) == topk
    assert answer.slot["meta"]["topk"] == topk


def test_an_empty_store_gives_an_empty_bundle_after_one_retrieval(tmp_path: Path) -> None:
    with orchestrator(tmp_path / "store.jsonl") as memory:
        answer = read(memory)
        debate, stage2, meta = injected(memory, stage1_of(NEG))
    assert (answer.meta.retrieval_calls, answer.meta.retrieved_k, answer.slot["retrieved"]) == (1, 0, [])
    assert answer.slot["meta"]["retrieval_executed"] is True
    assert debate == stage2 == {"text": "t"}, "the prompt of the first condition"
    assert meta.injection_skip_reason == meta.stage2_injection_skip_reason == "empty_bundle"
    assert meta.advisory_injection_gated is False


def test_every_retrieving_condition_retrieves_the_same_and_the_evaluating_reads_like_the_silent_one(
    failing: Path,
) -> None:
    answers = {}
    for name in RETRIEVING:
        with orchestrator(failing, name) as memory:
            answers[name] = read(memory)
    assert len({answer.meta.retrieved_ids for answer in answers.values()}) == 1
    evaluating, silent = answers["C2_eval_only"], answers["C2_silent"]
    assert evaluating.slot == silent.slot
    assert evaluating.meta.model_copy(update={"condition": "C2_silent"}) == silent.meta


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory_visible_to": ("epm", "moderator")},
        {"firewall": "off"},
        {"dangerous_advice": "delete"},
        {"memory_prompt_injection_chars_cap": -1},
        {"top_k": 3},
        {"topk": 0},
        {"topk": 4},
    ],
)
def test_a_setting_that_cannot_be_obeyed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ConfigError, ValidationError)):
        EpisodicMemorySettings(**wrong)


# OPFB in the orchestrator


@pytest.mark.parametrize("version", ["v1_2", "v1_3"])
def test_later_files_block_what_failed_and_say_so_in_the_meta(failing: Path, version: str) -> None:
    with orchestrator(failing, version=version) as memory:
        slot, _, meta = read(memory)
    assert meta.retrieved_k == 3
    assert [a["evidence"]["source_episode_ids"] for a in slot["retrieved"]] == [["epi_000003"]]
    assert len(slot["warnings"]) == 2
    assert (meta.memory_blocked_episode_n, meta.memory_blocked_advisory_n) == (1, 2)
    assert meta.memory_demoted_advisory_n == 0
    assert meta.memory_block_reason == "opposite_polarity_failed"


def test_the_first_file_demotes_what_failed(failing: Path) -> None:
    with orchestrator(failing, version="v1_1") as memory:
        slot, _, meta = read(memory)
    assert len(slot["retrieved"]) == 3
    assert slot["warnings"] == []
    assert sum("[Warning:" in a["message"] for a in slot["retrieved"]) == 2
    assert (meta.memory_blocked_advisory_n, meta.memory_demoted_advisory_n) == (0, 2)
    assert meta.memory_block_reason == ""


@pytest.mark.parametrize(("version", "advice", "shown"), [("v1_1", "block", 1), ("v1_2", "demote", 3)])
def test_the_experiment_may_override_the_dangerous_advice_of_the_file(
    failing: Path, version: str, advice: str, shown: int
) -> None:
    with orchestrator(failing, version=version, dangerous_advice=advice) as memory:
        assert len(read(memory).slot["retrieved"]) == shown


@pytest.mark.parametrize(("term", "expected"), [("food", 1), ("Food", 1), ("service", 0)])
def test_dangerous_pairs_about_a_current_aspect_are_counted(failing: Path, term: str, expected: int) -> None:
    with orchestrator(failing) as memory:
        assert read(memory, stage1_of(NEG, term=term)).meta.memory_dangerous_current_n == expected


def test_the_warning_speaks_the_language_of_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    text = "음식이 안 좋아요"
    stage1 = stage1_of(NEG, term="음식", text=text)
    with orchestrator(path, selective_storage=False) as memory:
        write(memory, "u1", stage1, patched="negative", after=(NEG, NEG), text=text, language="ko")
        entry = memory.store.get("epi_000001")
        answer = read(memory, stage1_of(NEG, term="가격", text=text), text=text, language="ko-KR")
    assert entry is not None
    principle = load_catalogue().get(entry.correction.principle_id)
    assert principle is not None
    assert answer.slot["warnings"] == [principle.anti_pattern_ko]


# Lexical query


@pytest.mark.parametrize(
    ("version", "use_lexical", "lexical"),
    [("v1_1", None, 0.0), ("v1_2", None, 0.5), ("v1_1", True, 0.5), ("v1_2", False, 0.0)],
)
def test_relevance_uses_the_risks_and_proposals_of_stage1_only_where_lexical_is_on(
    tmp_path: Path, version: str, use_lexical: bool | None, lexical: float
) -> None:
    path = tmp_path / "store.jsonl"
    with orchestrator(path, version=version, use_lexical=use_lexical, selective_storage=False) as memory:
        stage1 = stage1_of(NEG)
        plain = stage1.validator.model_copy(update={"correction_proposals": ()})
        write(memory, "u1", stage1.model_copy(update={"validator": plain}))
        answer = read(memory)
    (advisory,) = answer.slot["retrieved"]
    assert advisory["relevance_score"] == pytest.approx(0.7 + 0.3 * lexical, abs=1e-6)


# Firewall in the orchestrator


def test_the_firewall_drops_and_counts_advice_that_names_an_aspect_or_a_judged_term_of_the_sample(filled: Path) -> None:
    stage1 = stage1_of(NEG, term="service")
    judged = SentimentItem(aspect_term="risk", polarity="negative")
    judging = stage1.model_copy(update={"atsa": Stage1Atsa(sentiments=(*stage1.atsa.sentiments, judged))})
    for leaking in (stage1_of(NEG, term="risk"), judging):
        with orchestrator(filled) as memory:
            slot, _, meta = read(memory, leaking)
        assert (slot["retrieved"], meta.firewall_dropped_n, meta.retrieved_k) == ([], 3, 3)
        with orchestrator(filled, firewall="strict") as memory:
            read(memory)
            with pytest.raises(LeakageError):
                read(memory, leaking)


@pytest.mark.parametrize("name", MASKED)
def test_where_injection_is_masked_no_advisory_is_built_that_could_be_dropped_or_blocked(
    failing: Path, name: str
) -> None:
    with orchestrator(failing, name, firewall="strict") as memory:
        meta = read(memory, stage1_of(NEG, term="risk")).meta
    assert meta.firewall_dropped_n == 0
    assert (meta.memory_blocked_advisory_n, meta.memory_demoted_advisory_n) == (0, 0)
    assert meta.memory_block_reason == ""


# Injection per condition


def injected(
    memory: EpisodicOrchestrator, stage1: Stage1Result, cap: int | None = None
) -> tuple[dict[str, Any], dict[str, Any], MemoryMeta]:
    answer = read(memory, stage1)
    signals = gate_signals(stage1.ate, stage1.atsa, stage1.validator)
    debate = injection_for(
        DEBATE_SLOT,
        answer.slot,
        answer.meta,
        should_inject_advisory_with_reason(signals),
        catalogue=memory.catalogue,
        chars_cap=cap,
    )
    stage2 = injection_for(
        STAGE2_SLOT,
        answer.slot,
        debate.meta,
        should_inject_memory_for_stage2_with_reason(signals),
        catalogue=memory.catalogue,
        chars_cap=cap,
    )
    return debate.into({"text": "t"}), stage2.into({"text": "t"}), stage2.meta


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("has_signals", [True, False])
def test_only_exposed_conditions_with_a_signal_put_memory_into_a_context(
    filled: Path, name: str, has_signals: bool
) -> None:
    with orchestrator(filled, name) as memory:
        debate, stage2, meta = injected(memory, stage1_of(*[NEG] * has_signals, term="service"))
    exposed, shown = name in EXPOSED, name in EXPOSED and has_signals
    assert list(debate) == ["text"] + ["DEBATE_CONTEXT__MEMORY"] * shown
    assert list(stage2) == ["text"] + ["STAGE2_REVIEW_CONTEXT__MEMORY"] * shown
    assert (meta.prompt_injection_chars > 0) is (meta.stage2_memory_prompt_injection_chars > 0) is shown
    skip = "" if shown else "gate_closed" if exposed else "not_exposed"
    assert meta.injection_skip_reason == meta.stage2_injection_skip_reason == skip
    reasons = ("validator",) if has_signals else ()
    assert meta.injection_trigger_reasons == meta.stage2_memory_gate_reasons == reasons
    assert meta.injection_trigger_reason == meta.stage2_memory_gate_reason == (reasons[0] if reasons else None)
    assert meta.advisory_injection_gated is (skip == "gate_closed")
    assert (meta.advisory_expects is not None) is shown


def test_the_two_gates_decide_independently(filled: Path) -> None:
    with orchestrator(filled) as memory:
        debate, stage2, meta = injected(memory, stage1_of(term="service", polarity="neutral"))
    assert list(debate) == ["text"]
    assert list(stage2) == ["text", "STAGE2_REVIEW_CONTEXT__MEMORY"]
    assert meta.injection_skip_reason == "gate_closed"
    assert meta.stage2_memory_injected is True
    assert meta.stage2_memory_gate_reason == "neutral_only"


@pytest.mark.parametrize("cap", [0, 20, 700, 1000, 5000])
def test_the_cap_of_the_settings_holds_in_both_slots(filled: Path, cap: int) -> None:
    with orchestrator(filled, chars_cap=cap) as memory:
        debate, stage2, meta = injected(memory, stage1_of(NEG, term="service"), cap)
    assert meta.prompt_injection_chars <= cap
    assert meta.prompt_injection_chars == meta.stage2_memory_prompt_injection_chars
    assert debate.get("DEBATE_CONTEXT__MEMORY") == stage2.get("STAGE2_REVIEW_CONTEXT__MEMORY")
    if cap < 100:
        assert debate == stage2 == {"text": "t"}
        assert meta.injection_skip_reason == meta.stage2_injection_skip_reason == "char_cap"
    if cap == 5000:
        assert len(debate["DEBATE_CONTEXT__MEMORY"]["retrieved"]) == 3


# Writing


@pytest.mark.parametrize("name", CONDITIONS)
def test_only_writing_conditions_append(filled: Path, name: str) -> None:
    before = filled.read_bytes()
    with orchestrator(filled, name, selective_storage=False) as memory:
        decision = write(memory, "u9")
    if name in WRITING:
        assert (decision.store_decision, decision.store_reason_tags) == ("stored", ("gate_disabled",))
        assert decision.episode_id == "epi_000004"
        assert canonical_json(decision.episode).encode() == entries_of(filled)[-1]
        assert filled.read_bytes().startswith(before)
        assert len(entries_of(filled)) == 4
    else:
        assert decision == StoreDecision(store_decision="skipped", store_skip_reason="store_write_disabled")
        assert filled.read_bytes() == before


def test_the_storage_gate_keeps_novel_and_risky_samples_and_skips_the_rest(tmp_path: Path) -> None:
    plain = stage1_of(polarity="positive")
    with orchestrator(tmp_path / "store.jsonl") as memory:
        first = write(memory, "u1", plain)
        second = write(memory, "u2", plain)
        third = write(memory, "u3", stage1_of(NEG))
        fourth = write(memory, "u4", stage1_of(NEG))
        assert len(memory.store) == 3
    assert (first.store_decision, first.store_reason_tags, first.episode_id) == ("stored", ("novelty",), "epi_000001")
    assert second == StoreDecision(store_decision="skipped", store_skip_reason="no_gate_passed")
    assert (set(third.store_reason_tags), third.episode_id) == ({"failure_asset", "novelty"}, "epi_000002")
    assert (fourth.store_reason_tags, fourth.episode_id) == (("failure_asset",), "epi_000003")


def test_without_the_storage_gate_everything_is_stored_and_names_its_sample(tmp_path: Path) -> None:
    plain = stage1_of(polarity="positive")
    with orchestrator(tmp_path / "store.jsonl", selective_storage=False) as memory:
        more: dict[str, Any] = {"split": "valid", "seed": 42, "used_in_eval": True}
        decisions = [write(memory, f"u{n}", plain, index=n, **more) for n in range(3)]
    assert [d.store_reason_tags for d in decisions] == [("gate_disabled",)] * 3
    assert [d.episode_id for d in decisions] == ["epi_000001", "epi_000002", "epi_000003"]
    named = {"source_id": "u2", "created_from_split": "valid", "used_in_eval": True, "sample_index": 2, "seed": 42}
    episode = decisions[2].episode
    assert episode is not None
    assert episode.provenance.model_dump() == named | {"version": "1.1", "has_gold": False}


@pytest.mark.parametrize(
    ("code", "text", "language"),
    [
        ("en-US", "맛 food", "en"),
        ("KO_kr", "the food", "ko"),
        ("fr-CA", "맛 food", "other"),
        (None, "the food", "en"),
        ("unknown", "food 맛", "ko"),
    ],
)
def test_the_stored_language_is_the_effective_one(tmp_path: Path, code: str | None, text: str, language: str) -> None:
    with orchestrator(tmp_path / "store.jsonl") as memory:
        write(memory, "u1", stage1_of(NEG, text=text), text=text, language=code)
        entry = memory.store.get("epi_000001")
    assert entry is not None
    assert entry.input_signature.language == language
    assert entry.input_signature.num_aspects == 1


def test_the_stored_signature_is_that_of_the_text_and_of_the_kept_aspects(tmp_path: Path) -> None:
    text = "The food was not fine, but the service was quick and the staff was kind to everybody."
    aspects = tuple(AspectItem(aspect_term=term) for term in ("food", "service", "staff"))
    sentiments = (
        SentimentItem(aspect_term="food", polarity="negative"),
        SentimentItem(aspect_term="", polarity="positive"),
    )
    validator = ValidatorOutput(structural_risks=risks(NEG))
    stage1 = Stage1Result(ate=Stage1Ate(aspects=aspects), atsa=Stage1Atsa(sentiments=sentiments), validator=validator)
    with orchestrator(tmp_path / "store.jsonl") as memory:
        write(memory, "u1", stage1, text=text, language="en-GB")
    (line,) = entries_of(tmp_path / "store.jsonl")
    assert json.loads(line)["input_signature"] == {
        "schema_version": "1.1",
        "language": "en",
        "detected_structure": ["negation", "contrast"],
        "contrast_marker": "but",
        "has_negation": True,
        "num_aspects": 3,
        "length_bucket": "medium",
    }


def test_no_stored_line_holds_the_text(filled: Path) -> None:
    stored = filled.read_text(encoding="utf-8")
    for words in ("was not fine", "not fine at all", "The food"):
        assert words not in stored


def test_a_text_that_quotes_the_catalogue_raises_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    quoted = load_catalogue().lookup("NEGATION_SCOPE", "abstain", "neutral").text_en
    with orchestrator(path) as memory:
        with pytest.raises(LeakageError):
            write(memory, "u1", text=f"food: {quoted}")
        assert len(memory.store) == 0
        assert not path.exists() or path.read_bytes() == b""
        assert write(memory, "u2").episode_id == "epi_000001"


def test_every_stored_line_obeys_the_json_schema_of_an_entry(failing: Path) -> None:
    schema = json.loads((SCHEMAS / "episodic_memory_entry_v1_3.json").read_text(encoding="utf-8"))
    for line in entries_of(failing):
        jsonschema.validate(json.loads(line), schema)


def test_an_episode_is_retrieved_by_the_next_sample(tmp_path: Path) -> None:
    with orchestrator(tmp_path / "store.jsonl") as memory:
        assert read(memory, sample_id="u1").meta.retrieved_ids == ()
        write(memory, "u1")
        assert read(memory, sample_id="u2").meta.retrieved_ids == ("epi_000001",)
