"""OPFB: which episodes failed, which pairs are dangerous, and what block and demote make of them."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
import yaml
from tests.memory.builders import episode, signature

from episodic_absa.language import find_polarity_word
from episodic_absa.memory import AdvisoryBuild, AdvisoryBuilder, load_catalogue
from episodic_absa.memory.advice.dangerous_advice import dangerous_pairs, failed
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import EpisodeType, Language, Polarity

WARNING_EN = " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]"
WARNING_KO = " [경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다. 증거 확인 권장.]"
CATALOGUE = load_catalogue()
FOOD: dict[str, Polarity] = {"food": "positive"}


def harmful(
    n: int, final: Mapping[str, Polarity] | None = None, principle: str = "P-NEG-01"
) -> EpisodicMemoryEntryV1_3:
    return episode(n, kind="harm", after=3, final=FOOD if final is None else final, principle=principle)


def built(*episodes: EpisodicMemoryEntryV1_3, block: bool = True, language: Language = "en") -> AdvisoryBuild:
    return AdvisoryBuilder(CATALOGUE).build_from_episodes(episodes, signature(language), prohibit_dangerous=block)


def sources(build: AdvisoryBuild) -> list[tuple[str, ...]]:
    return [advisory.evidence.source_episode_ids for advisory in build.advisories]


@pytest.mark.parametrize("kind", ["success", "harm", "neutral"])
@pytest.mark.parametrize("by", ["risk", "agent", "reader", "referee", "person"])
def test_an_episode_has_failed_by_its_outcome_and_where_no_witness_decided_by_its_override_or_risk(
    kind: EpisodeType, by: str
) -> None:
    flags = [False, True]
    for applied, success, harm, after in product(flags, flags, flags, [1, 2, 3]):
        entry = episode(1, kind=kind, by=by, after=after, applied=applied, success=success, harm=harm)
        by_risk = by in ("risk", "agent") and ((applied and (not success or harm)) or after > 2)
        assert failed(entry) == (kind == "harm" or by_risk)


def test_dangerous_pairs_are_the_final_pairs_of_failed_episodes_only() -> None:
    entries = [
        harmful(1, {"food": "positive", "price": "negative"}),
        episode(2, final={"room": "negative"}),
        episode(3, applied=True, stage1={"staff": "positive"}, final={"staff": "neutral"}),
    ]
    assert set(dangerous_pairs(entries)) == {("food", "positive"), ("price", "negative"), ("staff", "neutral")}


def test_without_failures_nothing_is_dangerous() -> None:
    build = built(episode(1, final=FOOD), episode(2, final=FOOD))
    assert (build.blocked_episode_n, build.blocked_advisory_n, build.demoted_advisory_n) == (0, 0, 0)
    assert (build.warnings, len(build.advisories)) == ((), 2)


@pytest.mark.parametrize(
    ("failure", "second", "withheld"),
    [
        (FOOD, {"food": "positive"}, True),
        (FOOD, {"food": "negative"}, False),
        (FOOD, {"price": "positive"}, False),
        (FOOD, {"price": "positive", "food": "positive"}, True),
        (FOOD, {}, False),
        ({"": "negative"}, {"": "negative"}, True),
        ({"": "negative"}, {"": "positive"}, False),
        ({}, {}, False),
    ],
)
def test_block_withholds_failed_episodes_and_those_that_share_a_dangerous_pair(
    failure: Mapping[str, Polarity], second: Mapping[str, Polarity], withheld: bool
) -> None:
    entries = [harmful(1, failure), episode(2, final=second)]
    assert dangerous_pairs(entries) == set(failure.items())
    build = built(*entries)
    assert (build.blocked_episode_n, build.blocked_advisory_n, build.demoted_advisory_n) == (1, 1 + withheld, 0)
    assert sources(build) == ([] if withheld else [("epi_000002",)])
    assert len(build.warnings) == build.blocked_advisory_n
    assert not any("[Warning" in advisory.message for advisory in build.advisories)


def test_what_remains_after_a_block_is_numbered_from_one_and_warns_of_no_failure() -> None:
    entries = [harmful(1), episode(2), episode(3, applied=True), episode(4)]
    build = built(*entries)
    assert [advisory.advisory_id for advisory in build.advisories] == ["adv_000001", "adv_000002"]
    assert sources(build) == [("epi_000002",), ("epi_000004",)]
    assert {advisory.advisory_type for advisory in build.advisories} == {"consistency_anchor"}


@pytest.mark.parametrize(("language", "used"), [("ko", "ko"), ("en", "en"), ("other", "en")])
def test_each_blocked_episode_leaves_its_anti_pattern_in_the_language_of_the_sample(
    language: Language, used: Language
) -> None:
    named = ("P-NEG-01", "P-CON-02", "P-OVE-01", "P-NEG-01")
    build = built(*(harmful(n, principle=name) for n, name in enumerate(named, 1)), language=language)
    principles = [CATALOGUE.get(name) for name in named]
    assert build.warnings == tuple(principle.anti_pattern(used) for principle in principles if principle)
    assert build.warning_principles == named


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


@pytest.mark.parametrize(("language", "text"), [("en", WARNING_EN), ("ko", WARNING_KO), ("other", WARNING_EN)])
def test_demote_keeps_every_advisory_and_its_type_and_marks_the_dangerous_ones(language: Language, text: str) -> None:
    neighbour = episode(2, kind="success", before=3, after=1, applied=True, success=True, final=FOOD)
    entries = [harmful(1), neighbour, episode(3, final={"food": "negative"})]
    build = built(*entries, block=False, language=language)
    assert [advisory.message.endswith(text) for advisory in build.advisories] == [True, True, False]
    assert [advisory.message.count(text) for advisory in build.advisories] == [1, 1, 0]
    types = ["failed_override_warning", "successful_override", "consistency_anchor"]
    assert [advisory.advisory_type for advisory in build.advisories] == types
    assert (build.demoted_advisory_n, build.blocked_advisory_n, build.warnings) == (2, 0, ())
    assert build == AdvisoryBuilder(CATALOGUE).build_from_episodes(entries, signature(language)), "the default"
