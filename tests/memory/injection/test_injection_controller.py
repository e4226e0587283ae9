"""Bundle, injection and cap: what a slot holds, when it is merged, and how it shrinks."""

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import episodic_absa
from episodic_absa.conditions import load_condition
from episodic_absa.memory import (
    DEBATE_SLOT,
    STAGE2_SLOT,
    GateDecision,
    Injection,
    InjectionController,
    SlotTarget,
    injection_for,
    load_catalogue,
)
from episodic_absa.memory.injection.prompt_slot import shrink_to_cap
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryV1_1,
    AnchorStatsV1_1,
    EvidenceV1_1,
)
from episodic_absa.schemas.memory_v1_2 import AnyBundle
from episodic_absa.schemas.run import Condition, MemoryMeta
from episodic_absa.seed import SEED_FORM
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import MemoryMode, Strength

CATALOGUE = load_catalogue()
SCHEMA = json.loads(
    (Path(episodic_absa.__file__).parent / "schemas" / "json" / "advisory_bundle_v1_1.json").read_text(encoding="utf-8")
)
BRACKET = " [risk: L3; action: abstain; risk change: same; conflict resolved: n/a]"
DEMOTED = " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]"
CONDITIONS = ["C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen"]
TEXT = "Find the predicate that the negating word governs and judge only what lies inside that scope."


def advisory(
    n: int = 1,
    *,
    strength: Strength = "weak",
    relevance: float = 0.5,
    text: str = TEXT,
    tail: str = BRACKET,
    principle: str = "P-NEG-01",
) -> AdvisoryV1_1:
    return AdvisoryV1_1(
        advisory_id=f"adv_{n:06d}",
        advisory_type="consistency_anchor",
        message=text + tail,
        strength=strength,
        relevance_score=relevance,
        evidence=EvidenceV1_1(
            source_episode_ids=(f"epi_{n:06d}",),
            risk_tags=("NEGATION_SCOPE",),
            principle_id=principle,
            stats=AnchorStatsV1_1(historical_count=3, consistency_score=1 / 3, variance=0.25),
        ),
    )


def bundle(*advisories: AdvisoryV1_1, warnings: tuple[str, ...] = ()) -> AdvisoryBundleV1_1:
    return AdvisoryBundleV1_1(
        memory_on=True,
        retrieved=advisories,
        warnings=warnings,
        meta=AdvisoryBundleMetaV1_1(memory_mode="on", topk=3, masked_injection=False, retrieval_executed=True),
    )


def chars(value: AnyBundle | Mapping[str, Any]) -> int:
    return len(canonical_json(value))


def payload(name: str, *given: Any, topk: int = 3, cap: int | None = None, **more: Any) -> dict[str, Any]:
    """Return the slot of a condition of seed rules."""
    controller = InjectionController(topk=topk, chars_cap=cap, form=SEED_FORM)
    return controller.build_slot_payload(load_condition(name, "v1_3"), *given, **more)


def both_slots(slot: dict[str, Any], cap: int | None) -> tuple[Injection, Injection]:
    first = injection_for(DEBATE_SLOT, slot, meta(), OPEN, catalogue=CATALOGUE, chars_cap=cap)
    return first, injection_for(STAGE2_SLOT, slot, first.meta, OPEN, catalogue=CATALOGUE, chars_cap=cap)


def meta(*, debate: bool = True, stage2: bool = True) -> MemoryMeta:
    return MemoryMeta(
        condition="Any",
        memory_mode="on",
        retrieval_calls=1,
        retrieved_k=1,
        retrieved_ids=("epi_000001",),
        exposed_to_debate=debate,
        exposed_to_stage2=stage2,
        memory_access_policy={"debate": ("epm", "tan", "cj", "judge")},
    )


OPEN: GateDecision[Any] = GateDecision(allowed=True, reason="conflict", reasons=("conflict", "validator"))
SLOTS = (DEBATE_SLOT, STAGE2_SLOT)
CLOSED: GateDecision[Any] = GateDecision(allowed=False, reason=None, reasons=())


def inject(
    target: SlotTarget,
    given_bundle: AdvisoryBundleV1_1,
    *,
    given_meta: MemoryMeta | None = None,
    gate: GateDecision[Any] = OPEN,
    cap: int | None = None,
) -> Injection:
    slot = given_bundle.model_dump(mode="json")
    return injection_for(target, slot, given_meta or meta(), gate, catalogue=CATALOGUE, chars_cap=cap)


# The bundle per condition


@pytest.mark.parametrize(
    ("name", "memory_on", "mode", "topk", "masked", "executed"),
    [
        ("C1", False, "off", 0, True, False),
        ("C2", True, "on", 2, False, True),
        ("C2_silent", False, "silent", 2, True, True),
        ("C2_eval_only", False, "silent", 2, True, True),
        ("C2_frozen", True, "on", 2, False, True),
    ],
)
def test_the_bundle_of_a_condition_agrees_with_its_flags(
    name: str, memory_on: bool, mode: str, topk: int, masked: bool, executed: bool
) -> None:
    advisories, warnings = (advisory(1), advisory(2)), ("Stop.",)
    slot = payload(name, advisories, warnings, topk=2)
    assert slot["schema_version"] == "1.1"
    assert slot["memory_on"] is memory_on
    assert slot["meta"] == {
        "memory_mode": mode,
        "topk": topk,
        "masked_injection": masked,
        "retrieval_executed": executed,
    }
    assert slot["retrieved"] == ([] if masked else [a.model_dump(mode="json") for a in advisories])
    assert slot["warnings"] == ([] if masked else ["Stop."])


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("debate_enabled", [True, False])
def test_every_bundle_has_one_shape_and_obeys_the_json_schema(name: str, debate_enabled: bool) -> None:
    slot = payload(name, [advisory()], ["Stop."], debate_enabled=debate_enabled)
    assert json.loads(json.dumps(slot)) == slot
    jsonschema.validate(slot, SCHEMA)
    assert set(slot) == {"schema_version", "memory_on", "retrieved", "warnings", "meta"}
    assert set(slot["meta"]) == {"memory_mode", "topk", "masked_injection", "retrieval_executed"}


@pytest.mark.parametrize("name", CONDITIONS)
def test_without_debate_the_bundle_says_that_nothing_was_retrieved(name: str) -> None:
    slot = payload(name, debate_enabled=False)
    assert slot["meta"]["retrieval_executed"] is False
    assert slot["meta"]["topk"] == (0 if name == "C1" else 3)
    assert slot["retrieved"] == []
    assert slot["warnings"] == []


@pytest.mark.parametrize("mode", ["off", "on", "silent"])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("retrieving", [True, False])
def test_the_bundle_reads_flags_never_names(mode: MemoryMode, masked: bool, retrieving: bool) -> None:
    condition = Condition(
        name="C1",
        memory_mode=mode,
        retrieval_execute=retrieving,
        injection_mask=masked,
        store_write=False,
        exposed_to_debate=False,
        exposed_to_stage2=False,
        dangerous_advice="block",
        use_lexical=True,
    )
    slot = InjectionController(topk=1, form=SEED_FORM).build_slot_payload(condition, [advisory()], ["Stop."])
    assert slot["memory_on"] is (mode == "on" and not masked)
    assert slot["meta"]["topk"] == (1 if retrieving else 0)
    assert slot["meta"]["retrieval_executed"] is retrieving
    assert (slot["retrieved"] == []) is masked
    assert (slot["warnings"] == []) is masked


# Injection: skip reasons, characters, the last key


RECORDED = {
    DEBATE_SLOT: ("injection_skip_reason", "prompt_injection_chars"),
    STAGE2_SLOT: ("stage2_injection_skip_reason", "stage2_memory_prompt_injection_chars"),
}


@pytest.mark.parametrize("target", SLOTS)
@pytest.mark.parametrize(
    ("exposed", "gate_open", "filled", "fits"), list(product([True, False], repeat=4)), ids=lambda flag: "NY"[flag]
)
def test_the_skip_reasons_are_tested_in_their_order(
    target: SlotTarget, exposed: bool, gate_open: bool, filled: bool, fits: bool
) -> None:
    given_bundle = bundle(advisory()) if filled else bundle()
    is_debate = target == DEBATE_SLOT
    injection = inject(
        target,
        given_bundle,
        given_meta=meta(debate=exposed or not is_debate, stage2=exposed or is_debate),
        gate=OPEN if gate_open else CLOSED,
        cap=None if fits else 0,
    )
    tests = (("not_exposed", exposed), ("gate_closed", gate_open), ("empty_bundle", filled), ("char_cap", fits))
    reason = next((name for name, holds in tests if not holds), "")
    recorded = injection.meta.model_dump()
    for slot, (reason_field, chars_field) in RECORDED.items():
        is_shown = slot == target and not reason
        assert recorded[reason_field] == (reason if slot == target else "")
        assert recorded[chars_field] == (chars(given_bundle) if is_shown else 0)
    assert (injection.slot is None) is bool(reason)
    assert (injection.into({"text": "t"}) == {"text": "t"}) is bool(reason)
    assert injection.meta.stage2_memory_injected is (not is_debate and not reason)
    assert injection.meta.advisory_expects == (None if reason else "change")
    assert injection.meta.advisory_injection_gated is (is_debate and reason == "gate_closed")


@pytest.mark.parametrize("target", SLOTS)
def test_each_slot_looks_at_its_own_exposure(target: SlotTarget) -> None:
    only_debate, only_stage2 = meta(stage2=False), meta(debate=False)
    assert (inject(target, bundle(advisory()), given_meta=only_debate).slot is not None) is (target == DEBATE_SLOT)
    assert (inject(target, bundle(advisory()), given_meta=only_stage2).slot is not None) is (target == STAGE2_SLOT)


@pytest.mark.parametrize(
    ("target", "key"),
    [(DEBATE_SLOT, "DEBATE_CONTEXT__MEMORY"), (STAGE2_SLOT, "STAGE2_REVIEW_CONTEXT__MEMORY")],
)
def test_the_bundle_itself_becomes_the_last_key_of_the_context(target: SlotTarget, key: str) -> None:
    given_bundle = bundle(advisory(1), advisory(2), warnings=("Stop.",))
    context = {"text": "t", "aspect_terms": ["food"]}
    merged = inject(target, given_bundle).into(context)
    assert list(merged) == ["text", "aspect_terms", key]
    assert merged[key] == given_bundle.model_dump(mode="json")
    assert context == {"text": "t", "aspect_terms": ["food"]}
    assert list(inject(SlotTarget(target.stage, "MEMO"), given_bundle).into({})) == ["MEMO"]


def test_warnings_alone_make_a_slot_but_expect_nothing() -> None:
    injection = inject(DEBATE_SLOT, bundle(warnings=("Stop.",)))
    assert injection.slot is not None
    assert injection.meta.prompt_injection_chars > 0
    assert injection.meta.advisory_expects is None


@pytest.mark.parametrize("exposed", [True, False])
def test_the_gate_reasons_are_recorded_whether_or_not_anything_is_shown(exposed: bool) -> None:
    debate = inject(DEBATE_SLOT, bundle(advisory()), given_meta=meta(debate=exposed)).meta
    assert debate.injection_trigger_reason == "conflict"
    assert debate.injection_trigger_reasons == ("conflict", "validator")
    gate: GateDecision[Any] = GateDecision(allowed=True, reason="alignment", reasons=("alignment", "neutral_only"))
    stage2 = inject(STAGE2_SLOT, bundle(advisory()), given_meta=meta(stage2=exposed), gate=gate).meta
    assert stage2.stage2_memory_gate_reason == "alignment"
    assert stage2.stage2_memory_gate_reasons == ("alignment", "neutral_only")


@pytest.mark.parametrize(
    ("principles", "expects"),
    [
        (("P-NEG-01",), "change"),
        (("P-GEN-01",), "hold"),
        (("P-GEN-01", "P-NEG-01", "P-CON-01"), "hold"),
        (("P-CON-01", "P-GEN-01", "P-STB-01"), "change"),
    ],
)
@pytest.mark.parametrize("target", SLOTS)
def test_what_is_expected_is_what_the_top_ranked_advisory_expects(
    target: SlotTarget, principles: tuple[str, ...], expects: str
) -> None:
    given_bundle = bundle(*(advisory(i, principle=p) for i, p in enumerate(principles, 1)))
    assert inject(target, given_bundle).meta.advisory_expects == expects


@pytest.mark.parametrize(("debate_gate", "stage2_gate"), list(product([OPEN, CLOSED], repeat=2)))
def test_both_slots_are_decided_one_after_the_other_on_the_same_bundle(
    debate_gate: GateDecision[Any], stage2_gate: GateDecision[Any]
) -> None:
    given_bundle = bundle(advisory())
    first = inject(DEBATE_SLOT, given_bundle, gate=debate_gate)
    second = inject(STAGE2_SLOT, given_bundle, given_meta=first.meta, gate=stage2_gate)
    shown = debate_gate.allowed or stage2_gate.allowed
    assert second.meta.prompt_injection_chars == (chars(given_bundle) if debate_gate.allowed else 0)
    assert second.meta.stage2_memory_prompt_injection_chars == (chars(given_bundle) if stage2_gate.allowed else 0)
    assert second.meta.advisory_injection_gated is (not debate_gate.allowed)
    assert second.meta.stage2_memory_injected is stage2_gate.allowed
    assert second.meta.advisory_expects == ("change" if shown else None)
    if debate_gate.allowed and stage2_gate.allowed:
        assert first.slot == second.slot == given_bundle.model_dump(mode="json")


# The cap


def test_characters_are_those_of_the_compact_json() -> None:
    given_bundle = bundle(advisory(text="'안', '못'이 어느 서술어에 걸리는지 먼저 찾아라."), warnings=("멈춰라.",))
    document = given_bundle.model_dump(mode="json")
    document["retrieved"][0]["evidence"]["stats"]["consistency_score"] = 0.333333
    compact = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert inject(DEBATE_SLOT, given_bundle).meta.prompt_injection_chars == len(compact)


@pytest.mark.parametrize("target", SLOTS)
def test_a_bundle_of_exactly_the_cap_fits_and_one_more_does_not(target: SlotTarget) -> None:
    given_bundle = bundle(advisory(), warnings=("Stop.",))
    assert inject(target, given_bundle, cap=chars(given_bundle)).slot is not None
    assert inject(target, given_bundle, cap=chars(given_bundle) - 1).slot is None


@pytest.mark.parametrize("tail", [BRACKET, BRACKET + DEMOTED])
def test_then_the_principle_is_shortened_at_a_word_boundary_and_the_brackets_stay(tail: str) -> None:
    given_bundle = bundle(advisory(tail=tail), warnings=("Stop.",))
    for less in range(1, len(TEXT) - 40):
        shrunk = shrink_to_cap(given_bundle, chars(given_bundle) - less)
        assert shrunk is not None
        assert chars(shrunk) <= chars(given_bundle) - less
        (kept,) = shrunk.retrieved
        assert kept.message.endswith(tail)
        part = kept.message.removesuffix(tail)
        if shrunk.warnings == given_bundle.warnings:
            assert 40 <= len(part) < len(TEXT)
        assert_is_a_cut(part, TEXT)


def assert_is_a_cut(part: str, whole: str) -> None:
    words = part.rstrip(" .…").split(" ")
    assert words == whole.rstrip(".").split(" ")[: len(words)]
    assert len(part) >= min(40, len(whole))


def test_the_principle_is_shortened_no_further_than_needed() -> None:
    given_bundle = bundle(advisory())
    words = TEXT.split(" ")
    for n in range(len(words) - 1, 0, -1):
        if len(" ".join(words[:n])) < 40:
            break
        cut = bundle(advisory(text=" ".join(words[:n])))
        shrunk = shrink_to_cap(given_bundle, chars(cut) + 1)  # one more: room for a mark of omission
        assert shrunk is not None
        assert shrunk.retrieved[0].message.startswith(" ".join(words[:n]))


def test_warnings_are_dropped_last_and_from_the_end() -> None:
    given_bundle = bundle(advisory(), warnings=("One.", "Two.", "Three."))
    seen = []
    for cap in range(chars(given_bundle), 0, -1):
        shrunk = shrink_to_cap(given_bundle, cap)
        if shrunk is None:
            break
        seen.append((len(shrunk.retrieved[0].message), len(shrunk.warnings)))
        assert shrunk.warnings == given_bundle.warnings[: len(shrunk.warnings)]
    assert [n for _, n in seen] == sorted((n for _, n in seen), reverse=True)
    assert {n for _, n in seen} == {3, 2, 1, 0}
    shortest = min(length for length, _ in seen)
    assert {length for length, n in seen if n < 3} == {shortest}


WORDS = st.lists(st.sampled_from(["scope", "절을", "of", "판단하라", "quotation", "a"]), min_size=1, max_size=40)


@st.composite
def bundles(draw: st.DrawFn) -> AdvisoryBundleV1_1:
    advisories = [
        advisory(
            n,
            strength=draw(st.sampled_from(["weak", "moderate", "strong"])),
            relevance=draw(st.floats(0, 1)),
            text=" ".join(draw(WORDS)) + ".",
            tail=draw(st.sampled_from([BRACKET, BRACKET + DEMOTED])),
        )
        for n in range(1, draw(st.integers(0, 3)) + 1)
    ]
    return bundle(*advisories, warnings=tuple(draw(st.lists(st.text("abc 가나.", max_size=60), max_size=5))))


@settings(max_examples=300)
@given(given_bundle=bundles(), cap=st.integers(0, 2500))
def test_shrinking_gives_a_valid_bundle_within_the_cap_or_nothing(given_bundle: AdvisoryBundleV1_1, cap: int) -> None:
    shrunk = shrink_to_cap(given_bundle, cap)
    if chars(given_bundle) <= cap and (given_bundle.retrieved or given_bundle.warnings):
        assert shrunk == given_bundle
        return
    if shrunk is None:
        return
    assert chars(shrunk) <= cap
    assert shrunk.retrieved or shrunk.warnings
    jsonschema.validate(json.loads(canonical_json(shrunk)), SCHEMA)
    assert shrunk.meta == given_bundle.meta
    assert shrunk.warnings == given_bundle.warnings[: len(shrunk.warnings)]
    by_id = {a.advisory_id: a for a in given_bundle.retrieved}
    ids = [a.advisory_id for a in shrunk.retrieved]
    assert ids == [i for i in by_id if i in ids]
    assert bool(ids) == bool(by_id)
    for kept in shrunk.retrieved:
        original = by_id[kept.advisory_id]
        assert kept.model_copy(update={"message": ""}) == original.model_copy(update={"message": ""})
        if kept.message != original.message:
            assert len(ids) == 1
            assert kept.message.endswith(original.message[original.message.index(" [risk:") :])
    if len(shrunk.warnings) < len(given_bundle.warnings):
        assert len(ids) <= 1


@settings(max_examples=200)
@given(given_bundle=bundles(), cap=st.integers(0, 2500))
def test_an_advisory_is_kept_whenever_the_bundle_with_it_would_have_fitted(
    given_bundle: AdvisoryBundleV1_1, cap: int
) -> None:
    rank = {"weak": 0, "moderate": 1, "strong": 2}
    expected = list(given_bundle.retrieved)
    while len(expected) > 1 and chars(bundle(*expected, warnings=given_bundle.warnings)) > cap:
        weakest = min(
            reversed(expected), key=lambda a: (rank[a.strength], a.relevance_score)
        )  # reversed: among equals the last goes
        expected.remove(weakest)
    shrunk = shrink_to_cap(given_bundle, cap)
    if shrunk is not None:
        assert [a.advisory_id for a in shrunk.retrieved] == [a.advisory_id for a in expected]


def test_the_controller_shrinks_once_for_both_slots() -> None:
    advisories = [advisory(1, strength="strong"), advisory(2), advisory(3)]
    whole = bundle(*advisories, warnings=("Stop.",))
    cap = chars(whole) - 1
    slot = payload("C2", advisories, whole.warnings, cap=cap)
    assert slot == bundle(*advisories[:2], warnings=whole.warnings).model_dump(mode="json")
    first, second = both_slots(slot, cap)
    assert first.slot == second.slot == slot
    assert 0 < second.meta.prompt_injection_chars == second.meta.stage2_memory_prompt_injection_chars <= cap


@pytest.mark.parametrize("cap", [0, 30])
def test_a_cap_too_small_for_any_bundle_injects_nothing_in_either_slot(cap: int) -> None:
    slot = payload("C2", [advisory()], ["Stop."], cap=cap)
    first, second = both_slots(slot, cap)
    assert first.slot is None
    assert second.slot is None
    assert (second.meta.injection_skip_reason, second.meta.stage2_injection_skip_reason) == ("char_cap", "char_cap")
    assert (second.meta.prompt_injection_chars, second.meta.stage2_memory_prompt_injection_chars) == (0, 0)


def test_after_shrinking_the_top_ranked_of_what_is_left_decides_what_is_expected() -> None:
    advisories = [advisory(1, principle="P-NEG-01"), advisory(2, strength="strong", principle="P-GEN-01")]
    cap = chars(bundle(*advisories)) - 1
    slot = payload("C2", advisories, cap=cap)
    injection = injection_for(DEBATE_SLOT, slot, meta(), OPEN, catalogue=CATALOGUE, chars_cap=cap)
    assert injection.meta.advisory_expects == "hold"
