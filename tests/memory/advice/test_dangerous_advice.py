"""OPFB: which episodes failed, which pairs are dangerous, and what block and demote make of them."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
import yaml

from episodic_absa.language import find_polarity_word
from episodic_absa.memory import AdvisoryBuilder, PrincipleCatalogue, load_catalogue
from episodic_absa.memory.advice.dangerous_advice import dangerous_pairs, failed
from episodic_absa.schemas.memory_v1_1 import (
    CaseSummaryV1_1,
    CorrectionV1_1,
    EvaluationV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    RiskVectorV1_1,
    SnapshotV1_1,
    StageSnapshotV1_1,
)
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, OutcomeV1_3
from episodic_absa.vocabulary import EpisodeType, Language, Polarity

WARNING_EN = " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]"
WARNING_KO = " [경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다. 증거 확인 권장.]"


@pytest.fixture(scope="module")
def catalogue() -> PrincipleCatalogue:
    return load_catalogue()


def signature(language: Language = "en") -> InputSignatureV1_1:
    return InputSignatureV1_1(
        language=language,
        detected_structure=("negation",),
        has_negation=None if language == "other" else True,
        num_aspects=1,
        length_bucket="short",
    )


def episode(
    n: int,
    *,
    kind: EpisodeType = "neutral",
    before: int = 2,
    after: int | None = None,
    applied: bool = False,
    success: bool = False,
    harm: bool = False,
    final: Mapping[str, Polarity] | None = None,
    stage1: Mapping[str, Polarity] | None = None,
    principle: str = "P-NEG-01",
    language: Language = "en",
) -> EpisodicMemoryEntryV1_3:
    after = before if after is None else after
    final = {"food": "positive"} if final is None else final
    stage1 = final if stage1 is None else stage1
    return EpisodicMemoryEntryV1_3(
        episode_id=f"epi_{n:06d}",
        outcome=OutcomeV1_3(by="risk", value=kind),
        error_category=("negation",),
        risk_type="L3",
        action_taken="polarity_flip",
        input_signature=signature(language),
        case_summary=CaseSummaryV1_1(target_aspect_type="food", symptom="s", rationale_summary="r"),
        stage_snapshot=StageSnapshotV1_1(
            stage1=SnapshotV1_1(aspects_norm=tuple(stage1), polarities=dict(stage1), confidence=0.5),
            final=SnapshotV1_1(aspects_norm=tuple(final), polarities=dict(final), confidence=0.5),
        ),
        correction=CorrectionV1_1(
            corrective_principle="p", applicable_conditions=("language=en",), principle_id=principle
        ),
        evaluation=EvaluationV1_1(
            risk_before=RiskVectorV1_1(severity_sum=before, tags=("NEGATION_SCOPE",) if before else ()),
            risk_after=RiskVectorV1_1(severity_sum=after, tags=("NEGATION_SCOPE",) if after else ()),
            override_applied=applied,
            override_success=success,
            override_harm=harm,
        ),
        outcome_delta=OutcomeDeltaV1_1(delta_risk=after - before),
        provenance=ProvenanceV1_1(
            source_id=f"u{n}", created_from_split="train", used_in_eval=False, sample_index=n, seed=1
        ),
    )


def harmful(
    n: int, final: Mapping[str, Polarity] | None = None, principle: str = "P-NEG-01"
) -> EpisodicMemoryEntryV1_3:
    return episode(n, kind="harm", before=2, after=3, final=final, principle=principle)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (episode(1), False),
        (episode(1, kind="harm"), True),
        (episode(1, kind="success", before=3, after=1), False),
        (episode(1, before=2, after=3), True),
        (episode(1, before=2, after=2), False),
        (episode(1, before=0, after=0), False),
        (episode(1, kind="success", before=3, after=1, applied=True, success=True), False),
        (episode(1, applied=True), True),
        (episode(1, kind="success", before=3, after=1, applied=True), True),
        (episode(1, kind="success", before=3, after=1, applied=True, success=True, harm=True), True),
        (episode(1, success=False), False),
        (episode(1, harm=True), False),
    ],
)
def test_an_episode_has_failed_by_its_type_its_override_or_its_risk(
    entry: EpisodicMemoryEntryV1_3, expected: bool
) -> None:
    assert failed(entry) is expected


@pytest.mark.parametrize("kind", ["success", "harm", "neutral"])
def test_the_definition_of_failed_holds_over_the_whole_table(kind: EpisodeType) -> None:
    flags = [False, True]
    for applied, success, harm, after in product(flags, flags, flags, [1, 2, 3]):
        entry = episode(1, kind=kind, before=2, after=after, applied=applied, success=success, harm=harm)
        assert failed(entry) == (kind == "harm" or (applied and (not success or harm)) or after > 2)


def test_dangerous_pairs_are_the_final_pairs_of_failed_episodes_only() -> None:
    entries = [
        harmful(1, {"food": "positive", "price": "negative"}),
        episode(2, final={"room": "negative"}),
        episode(3, applied=True, final={"staff": "neutral"}),
    ]
    assert set(dangerous_pairs(entries)) == {("food", "positive"), ("price", "negative"), ("staff", "neutral")}


def test_the_stage1_snapshot_of_a_failed_episode_is_not_dangerous() -> None:
    entry = episode(1, kind="harm", stage1={"food": "positive"}, final={"food": "negative"})
    assert set(dangerous_pairs([entry])) == {("food", "negative")}


def test_without_failures_nothing_is_dangerous(catalogue: PrincipleCatalogue) -> None:
    build = AdvisoryBuilder(catalogue).build_from_episodes(
        [episode(1), episode(2)], signature(), prohibit_dangerous=True
    )
    assert not build.dangerous
    assert (build.blocked_episode_n, build.blocked_advisory_n, build.demoted_advisory_n) == (0, 0, 0)
    assert not build.warnings
    assert len(build.advisories) == 2


@pytest.mark.parametrize(
    ("second", "withheld"),
    [
        ({"food": "positive"}, True),
        ({"food": "negative"}, False),
        ({"price": "positive"}, False),
        ({"price": "positive", "food": "positive"}, True),
        ({}, False),
    ],
)
def test_block_withholds_failed_episodes_and_those_that_share_a_dangerous_pair(
    catalogue: PrincipleCatalogue, second: Mapping[str, Polarity], withheld: bool
) -> None:
    build = AdvisoryBuilder(catalogue).build_from_episodes(
        [harmful(1), episode(2, final=second)], signature(), prohibit_dangerous=True
    )
    assert build.dangerous == {("food", "positive")}
    assert build.blocked_episode_n == 1
    assert build.blocked_advisory_n == 1 + withheld
    assert build.demoted_advisory_n == 0
    assert [a.evidence.source_episode_ids for a in build.advisories] == ([] if withheld else [("epi_000002",)])
    assert len(build.warnings) == build.blocked_advisory_n
    assert not any("[Warning" in a.message or "[경고" in a.message for a in build.advisories)


def test_an_implicit_pair_is_dangerous_like_any_other(catalogue: PrincipleCatalogue) -> None:
    entries = [harmful(1, {"": "negative"}), episode(2, final={"": "negative"}), episode(3, final={"": "positive"})]
    build = AdvisoryBuilder(catalogue).build_from_episodes(entries, signature(), prohibit_dangerous=True)
    assert build.dangerous == {("", "negative")}
    assert [a.evidence.source_episode_ids for a in build.advisories] == [("epi_000003",)]


def test_a_failed_episode_without_any_pair_is_withheld_too(catalogue: PrincipleCatalogue) -> None:
    build = AdvisoryBuilder(catalogue).build_from_episodes([harmful(1, {})], signature(), prohibit_dangerous=True)
    assert not build.advisories
    assert (build.blocked_episode_n, build.blocked_advisory_n) == (1, 1)
    assert not build.dangerous


def test_block_mode_never_yields_a_failed_override_warning(catalogue: PrincipleCatalogue) -> None:
    entries = [harmful(1, {"a": "positive"}), episode(2, applied=True, final={"b": "positive"}), episode(3)]
    build = AdvisoryBuilder(catalogue).build_from_episodes(entries, signature(), prohibit_dangerous=True)
    assert [a.advisory_type for a in build.advisories] == ["consistency_anchor"]


def test_advisories_that_remain_after_a_block_are_numbered_from_one(catalogue: PrincipleCatalogue) -> None:
    entries = [harmful(1, {"a": "positive"}), episode(2), episode(3)]
    build = AdvisoryBuilder(catalogue).build_from_episodes(entries, signature(), prohibit_dangerous=True)
    assert [(a.advisory_id, a.evidence.source_episode_ids) for a in build.advisories] == [
        ("adv_000001", ("epi_000002",)),
        ("adv_000002", ("epi_000003",)),
    ]


@pytest.mark.parametrize(("language", "used"), [("ko", "ko"), ("en", "en"), ("other", "en")])
@pytest.mark.parametrize("principle", ["P-NEG-01", "P-OVE-01"])
def test_a_blocked_episode_leaves_its_anti_pattern_in_the_language_of_the_sample(
    catalogue: PrincipleCatalogue, language: Language, used: Language, principle: str
) -> None:
    build = AdvisoryBuilder(catalogue).build_from_episodes(
        [harmful(1, principle=principle)], signature(language), prohibit_dangerous=True
    )
    entry = catalogue.get(principle)
    assert entry is not None
    assert build.warnings == ({"ko": entry.anti_pattern_ko, "en": entry.anti_pattern_en}[used],)


@pytest.mark.parametrize("language", ["ko", "en", "other"])
def test_a_principle_without_an_anti_pattern_leaves_a_fixed_label_free_text(tmp_path: Path, language: Language) -> None:
    general = {
        "principle_id": "P-GEN-01",
        "risk": "any",
        "action": "any",
        "outcome": "any",
        "expects": "hold",
        "text_en": "Tie every judgement to a target.",
        "text_ko": "모든 판단을 대상에 묶어라.",
    }
    path = tmp_path / "principles.yaml"
    path.write_text(yaml.safe_dump([general], allow_unicode=True), encoding="utf-8")
    entries = [harmful(1, {"a": "positive"}, "P-GEN-01"), harmful(2, {"b": "negative"}, "P-GEN-01")]
    build = AdvisoryBuilder(load_catalogue(path)).build_from_episodes(
        entries, signature(language), prohibit_dangerous=True
    )
    assert len(set(build.warnings)) == 1
    assert 0 < len(build.warnings[0]) <= 200
    assert find_polarity_word(build.warnings[0]) is None


def test_each_blocked_episode_adds_one_warning(catalogue: PrincipleCatalogue) -> None:
    entries = [harmful(1, principle="P-NEG-01"), harmful(2, principle="P-CON-02"), harmful(3, principle="P-IRO-03")]
    build = AdvisoryBuilder(catalogue).build_from_episodes(entries, signature(), prohibit_dangerous=True)
    expected = [catalogue.get(e.correction.principle_id) for e in entries]
    assert build.warnings == tuple(p.anti_pattern_en for p in expected if p is not None)


def test_two_blocked_episodes_of_one_principle_add_two_warnings(catalogue: PrincipleCatalogue) -> None:
    build = AdvisoryBuilder(catalogue).build_from_episodes(
        [harmful(1), harmful(2)], signature(), prohibit_dangerous=True
    )
    assert len(build.warnings) == 2


@pytest.mark.parametrize(("language", "text"), [("en", WARNING_EN), ("ko", WARNING_KO), ("other", WARNING_EN)])
def test_demote_keeps_every_advisory_and_marks_the_dangerous_ones(
    catalogue: PrincipleCatalogue, language: Language, text: str
) -> None:
    entries = [harmful(1), episode(2), episode(3, final={"food": "negative"})]
    build = AdvisoryBuilder(catalogue).build_from_episodes(entries, signature(language), prohibit_dangerous=False)
    assert [a.message.endswith(text) for a in build.advisories] == [True, True, False]
    assert [a.message.count(text) for a in build.advisories] == [1, 1, 0]
    assert build.demoted_advisory_n == 2
    assert build.blocked_advisory_n == 0
    assert not build.warnings


def test_demote_names_failed_episodes_and_leaves_the_type_of_their_neighbours(catalogue: PrincipleCatalogue) -> None:
    neighbour = episode(2, kind="success", before=3, after=1, applied=True, success=True)
    build = AdvisoryBuilder(catalogue).build_from_episodes([harmful(1), neighbour, episode(3)], signature())
    assert [a.advisory_type for a in build.advisories] == [
        "failed_override_warning",
        "successful_override",
        "consistency_anchor",
    ]
    assert all(a.message.endswith(WARNING_EN) for a in build.advisories)


def test_the_builder_demotes_unless_told_to_block(catalogue: PrincipleCatalogue) -> None:
    builder = AdvisoryBuilder(catalogue)
    entries = [harmful(1), episode(2)]
    assert builder.build_from_episodes(entries, signature()) == builder.build_from_episodes(
        entries, signature(), prohibit_dangerous=False
    )
