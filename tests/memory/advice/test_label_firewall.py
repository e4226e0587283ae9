"""What the label firewall withholds, what it lets through, and what it counts."""

import pytest
from tests.memory.builders import texts_of

from episodic_absa.errors import LeakageError
from episodic_absa.language import find_polarity_word
from episodic_absa.memory import AdvisoryBuild, LabelFirewall, load_catalogue
from episodic_absa.memory.advice.advisory_builder import RISK_VOICE
from episodic_absa.memory.advice.outcome_advice import OUTCOME_VOICE
from episodic_absa.memory.advice.placebo import placebo_texts
from episodic_absa.memory.injection.prompt_slot import HOW_TO_READ
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1, EvidenceV1_1


def advisory(message: str, n: int = 1) -> AdvisoryV1_1:
    return AdvisoryV1_1(
        advisory_id=f"adv_{n:06d}",
        advisory_type="consistency_anchor",
        message=message,
        strength="weak",
        relevance_score=0.5,
        evidence=EvidenceV1_1(source_episode_ids=("epi_000001",), risk_tags=(), principle_id="P-GEN-01"),
    )


def build(messages: tuple[str, ...] = (), warnings: tuple[str, ...] = ()) -> AdvisoryBuild:
    return AdvisoryBuild(advisories=tuple(advisory(m, i) for i, m in enumerate(messages, 1)), warnings=warnings)


HITS: list[tuple[str, tuple[str, ...]]] = [
    ("The positive reading held.", ()),
    ("The NEGATIVE reading held.", ()),
    ("Neutral it was.", ()),
    ("Two positives here.", ()),
    ("Judge it negatively.", ()),
    ("Look at its neutrality.", ()),
    ("Its positivity is high.", ()),
    ("A (neg) mark.", ()),
    ("pos/neu marks", ()),
    ("a neu mark", ()),
    ("긍정적으로 읽어라.", ()),
    ("이것은 부정이다.", ()),
    ("중립으로 두어라.", ()),
    ("다시비긍정인지 보라.", ()),
    ("Check the food again.", ("food",)),
    ("Check the Food again.", ("food",)),
    ("Check the food again.", ("FOOD",)),
    ("Check (food), then stop.", ("price", "food")),
    ("Check battery life once more.", ("battery life",)),
    ("서비스 다시 보라.", ("서비스",)),
    ("서비스는 다시 보라.", ("서비스",)),
    ("서비스가 문제다.", ("서비스",)),
    ("서비스를 보라.", ("서비스",)),
    ("배송은 보라.", ("배송",)),
    ("배송이 문제다.", ("배송",)),
    ("배송을 보라.", ("배송",)),
    ("Read on [risk: L3; action: defer; risk change: same; conflict resolved: n/a]", ("risk",)),
]
PASSES: list[tuple[str, tuple[str, ...]]] = [
    ("Read the sentence once more.", ()),
    ("The position of the negating word.", ()),
    ("Negotiate a neural posture, possibly.", ()),
    ("Neutralize the doubt.", ()),
    ("Negate nothing; a negation.", ()),
    ("A pose, a renegade, a pneumonia.", ()),
    ("그 범위 안만 판단하라.", ()),
    ("Check the foods again.", ("food",)),
    ("Check the seafood again.", ("food",)),
    ("서비스업을 보라.", ("서비스",)),
    ("재배송을 보라.", ("배송",)),
    ("맛을 보라.", ("맛",)),
    ("a b c", ("a", "b")),
    ("Read on.", ("",)),
    ("Check the battery once more.", ("battery life",)),
]


@pytest.mark.parametrize(("message", "terms"), HITS)
def test_what_names_a_label_or_an_aspect_term_is_left_out_and_counted_or_refused(
    message: str, terms: tuple[str, ...]
) -> None:
    screened = LabelFirewall("drop").screen(build((message, "Go."), (message, "Stop.", message)), terms)
    assert [advisory.message for advisory in screened.advisories] == ["Go."]
    assert (screened.warnings, screened.dropped_n) == (("Stop.",), 3)
    for leaking in (build((message,)), build((), (message,))):
        with pytest.raises(LeakageError):
            LabelFirewall("strict").screen(leaking, terms)


@pytest.mark.parametrize(("message", "terms"), PASSES)
def test_words_that_only_look_alike_pass_in_both_modes(message: str, terms: tuple[str, ...]) -> None:
    given_build = build((message,), (message,))
    for firewall in (LabelFirewall("drop"), LabelFirewall("strict")):
        screened = firewall.screen(given_build, terms)
        assert tuple(screened.advisories) == given_build.advisories
        assert tuple(screened.warnings) == given_build.warnings
        assert screened.dropped_n == 0


def test_every_text_of_the_shipped_catalogue_passes_the_strict_firewall() -> None:
    for principle in load_catalogue():
        texts = (principle.text_en, principle.text_ko)
        warnings = tuple(t for t in (principle.anti_pattern_en, principle.anti_pattern_ko) if t is not None)
        screened = LabelFirewall("strict").screen(build(texts, warnings), ())
        assert screened.dropped_n == 0


def test_no_text_that_memory_can_show_names_a_label() -> None:
    catalogue = load_catalogue()
    principles = [principle for wording in (catalogue, catalogue.in_v3_wording()) for principle in wording]
    texts: list[str | None] = [text for principle in principles for text in (principle.text_en, principle.text_ko)]
    texts += [warning for principle in catalogue for warning in (principle.anti_pattern_en, principle.anti_pattern_ko)]
    texts += [
        *texts_of(RISK_VOICE),
        *texts_of(OUTCOME_VOICE),
        *HOW_TO_READ.values(),
        *placebo_texts("en"),
        *placebo_texts("ko"),
    ]
    assert len(texts) > 100
    assert [text for text in texts if text and find_polarity_word(text)] == []
