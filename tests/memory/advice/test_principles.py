"""The catalogue answers every kind of episode, in two languages, without a label."""

import hashlib
import re
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.language import find_polarity_word
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue, load_catalogue, risk_key
from episodic_absa.vocabulary import (
    RISK_IDS,
    ActionTaken,
    EpisodeType,
    PrincipleRisk,
    RiskId,
    Severity,
)

RISKS: tuple[PrincipleRisk, ...] = (*RISK_IDS, "conflict", "implicit", "none", "any")
ACTIONS: tuple[ActionTaken, ...] = get_args(ActionTaken)
OUTCOMES: tuple[EpisodeType, ...] = get_args(EpisodeType)
PRINCIPLES = tuple(load_catalogue())
HANGUL = re.compile(r"[가-힣]")

# The catalogue, written out a second time: changing a principle takes a change here too.
SPECIFIED = """\
P-NEG-01 NEGATION_SCOPE any any change
Find the predicate that the negating word governs and judge only what lies inside that scope.
'안', '못', '-지 않-'이 어느 서술어에 걸리는지 먼저 찾고 그 범위 안만 판단하라.
P-NEG-02 NEGATION_SCOPE polarity_flip success change
Re-reading the scope of the negating word lowered the risk before; quote the governed words before any change.
'안', '못' 등의 범위를 다시 읽어 위험이 줄어든 적이 있다. 걸리는 말을 인용한 뒤에만 바꿔라.
P-CON-01 CONTRAST_SCOPE any any change
Split the sentence at the contrast marker and judge each clause by its own target.
대조 표지에서 절을 나누고 각 절을 그 절의 대상에 대해서만 판단하라.
P-CON-02 CONTRAST_SCOPE polarity_flip harm hold
Carrying a judgement across the contrast marker raised the risk before; keep the clauses apart.
대조 표지를 넘어 판단을 옮겼다가 위험이 커진 적이 있다. 절을 섞지 마라.
P-IRO-01 IRONY any any change
When praise or blame does not fit the described event, trust the event; without a clear cue read literally.
말투와 서술된 사건이 어긋나면 사건을 따르고, 뚜렷한 단서가 없으면 글자 그대로 읽어라.
P-POL-01 POLARITY_MISMATCH any any change
Compare the judgement with the exact words that support it; if they disagree, re-judge from the words.
판단과 이를 뒷받침하는 말을 나란히 놓고, 어긋나면 말에서 다시 판단하라.
P-EVG-01 EVIDENCE_GAP any any change
Do not keep a judgement that no exact substring supports; quote one or lower the confidence.
원문에 그대로 있는 근거가 없으면 판단을 유지하지 말고, 인용하거나 확신을 낮춰라.
P-SPN-01 SPAN_MISMATCH any any change
Check that the marked characters are exactly the target, without particles or neighbouring words.
표시한 글자가 조사나 옆말 없이 대상과 정확히 같은지 확인하라.
P-MSA-01 MISSING_SECOND_ASPECT any any change
A contrast usually has two targets; look for the second one on the other side of the marker.
대조에는 보통 대상이 둘이다. 표지 반대쪽에서 두 번째 대상을 찾아라.
P-CFL-01 conflict any any change
One target with two judgements: decide whether there are two targets, or which clause is the writer's conclusion.
한 대상에 판단이 둘이면 대상이 실제로 둘인지, 어느 절이 글쓴이의 결론인지 가려라.
P-IMP-01 implicit any any hold
An opinion may have no named target; keep it without a term rather than inventing one.
대상이 드러나지 않은 의견은 말을 지어내지 말고 대상 없이 남겨라.
P-OVE-01 any polarity_flip harm hold
An earlier edit of this kind raised the risk; change only what an exact quotation demands.
이런 수정이 위험을 키운 적이 있다. 정확한 인용이 요구하는 것만 바꿔라.
P-DEF-01 any defer any hold
A change was proposed on thin evidence and not taken; collect a second cue before proposing it again.
근거가 얇아 채택되지 않은 수정이 있었다. 다시 제안하기 전에 단서를 하나 더 찾아라.
P-STB-01 none abstain neutral hold
With no structural cue the first reading held; do not edit without new evidence.
구조 단서가 없을 때 첫 해석이 유지되었다. 새 근거 없이 고치지 마라.
P-GEN-01 any any any hold
Tie every judgement to a target and to an exact quotation, then check both once more.
모든 판단을 대상과 정확한 인용에 묶고 둘 다 한 번 더 확인하라.
"""


def make_principle(
    principle_id: str = "P-GEN-01",
    *,
    risk: str = "any",
    action: str = "any",
    outcome: str = "any",
    **more: str,
) -> Principle:
    return Principle.model_validate(
        {
            "principle_id": principle_id,
            "risk": risk,
            "action": action,
            "outcome": outcome,
            "expects": "hold",
            "text_en": "Read again.",
            "text_ko": "다시 읽어라.",
        }
        | more
    )


def make_yaml(**changed: str | None) -> str:
    """Write one any/any/any entry; None leaves a key out."""
    entry = {
        "principle_id": "P-GEN-01",
        "risk": "any",
        "action": "any",
        "outcome": "any",
        "expects": "hold",
        "text_en": "Read again.",
        "text_ko": "다시 읽어라.",
    } | changed
    lines = [f"  {key}: {value}" for key, value in entry.items() if value is not None]
    return "\n".join(["-", *lines]) + "\n"


def write(folder: Path, content: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(content, encoding="utf-8")
    return path


def texts(principle: Principle, language: str) -> list[str]:
    shown = [principle.text_en, principle.anti_pattern_en]
    if language == "ko":
        shown = [principle.text_ko, principle.anti_pattern_ko]
    return [text for text in shown if text is not None]


def best_by_score(
    entries: tuple[Principle, ...], risk: PrincipleRisk, action: ActionTaken, outcome: EpisodeType
) -> Principle:
    """Return the highest-scoring principle: 4 for an exact outcome, 2 for an exact risk, 1 for an exact action."""
    fitting = [
        principle
        for principle in entries
        if principle.risk in (risk, "any")
        and principle.action in (action, "any")
        and principle.outcome in (outcome, "any")
    ]

    def score(principle: Principle) -> int:
        return 4 * (principle.outcome == outcome) + 2 * (principle.risk == risk) + (principle.action == action)

    return min(fitting, key=lambda principle: (-score(principle), principle.principle_id))


@pytest.mark.parametrize("risk", RISKS)
def test_every_kind_of_episode_finds_the_principle_with_the_highest_score(risk: PrincipleRisk) -> None:
    for action, outcome in product(ACTIONS, OUTCOMES):
        found = load_catalogue().lookup(risk, action, outcome)
        assert found == best_by_score(PRINCIPLES, risk, action, outcome)
        assert load_catalogue().get(found.principle_id) is found


def test_among_equal_keys_the_lowest_id_wins_whatever_the_file_order() -> None:
    first, second = make_principle("P-AAA-01"), make_principle("P-AAA-02", text_en="Read once more.")
    for entries in ((first, second), (second, first)):
        assert PrincipleCatalogue(entries, sha256="").lookup("IRONY", "defer", "harm") is first


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ({"outcome": "harm"}, {"risk": "IRONY", "action": "defer"}),
        ({"outcome": "harm", "action": "defer"}, {"outcome": "harm"}),
        ({"outcome": "harm", "risk": "IRONY"}, {"outcome": "harm", "action": "defer"}),
        ({"risk": "IRONY"}, {"action": "defer"}),
        ({"action": "defer"}, {}),
    ],
)
def test_an_exact_outcome_outweighs_an_exact_risk_and_that_an_exact_action(
    stronger: dict[str, str], weaker: dict[str, str]
) -> None:
    best = make_principle("P-ZZZ-99").model_copy(update=stronger)
    rival = make_principle("P-AAA-01").model_copy(update=weaker)
    catalogue = PrincipleCatalogue((rival, best, make_principle()), sha256="")
    assert catalogue.lookup("IRONY", "defer", "harm") is best


def test_no_shipped_principle_is_out_of_reach() -> None:
    found = {load_catalogue().lookup(*keys).principle_id for keys in product(RISKS[:-1], ACTIONS, OUTCOMES)}
    assert found == {principle.principle_id for principle in PRINCIPLES}


def test_the_entries_of_the_specification_are_verbatim() -> None:
    lines = SPECIFIED.splitlines()
    for keys, text_en, text_ko in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        principle_id, *rest = keys.split()
        found = load_catalogue().get(principle_id)
        assert found is not None, principle_id
        assert [*found.keys, found.expects] == rest
        assert (found.text_en, found.text_ko) == (text_en, text_ko)


def test_the_catalogue_holds_at_least_thirty_principles_and_most_name_the_mistake_to_avoid() -> None:
    assert len(load_catalogue()) == len(PRINCIPLES) >= 30
    assert sum(principle.anti_pattern_en is not None for principle in PRINCIPLES) >= 24


def test_advice_learnt_from_a_risk_that_rose_is_to_hold_and_can_warn() -> None:
    learnt = [principle for principle in PRINCIPLES if principle.outcome == "harm"]
    assert {principle.expects for principle in learnt} == {"hold"}
    assert all(principle.anti_pattern("en") and principle.anti_pattern("ko") for principle in learnt)


@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda principle: principle.principle_id)
def test_texts_are_short_in_their_own_language_and_free_of_polarity_words(principle: Principle) -> None:
    assert max(len(principle.text_en), len(principle.text_ko)) <= 300
    assert max(len(principle.anti_pattern_en or ""), len(principle.anti_pattern_ko or "")) <= 200
    assert all(HANGUL.search(text) for text in texts(principle, "ko"))
    assert not any(HANGUL.search(text) for text in texts(principle, "en"))
    assert not any(map(find_polarity_word, (*texts(principle, "en"), *texts(principle, "ko"))))


def test_no_text_is_repeated() -> None:
    shown = [text for principle in PRINCIPLES for language in ("en", "ko") for text in texts(principle, language)]
    assert len(set(shown)) == len(shown)


def test_no_text_names_a_product_or_claims_to_know_the_answer() -> None:
    # The firewall withholds a principle that holds an aspect term of the sample; memory never knows gold.
    unwanted = re.compile(
        r"\b(food|service|price|staff|battery|screen|quality|design|sound|room|taste|delivery"
        r"|accura\w+|correct\w*|gold|wrong|right)\b|음식|서비스|가격|직원|배송|품질|디자인|화질|분위기|정답|오답|정확도",
        re.IGNORECASE,
    )
    shown = [text for principle in PRINCIPLES for language in ("en", "ko") for text in texts(principle, language)]
    assert [text for text in shown if unwanted.search(text)] == []


def test_texts_are_korean_for_korean_and_english_for_everything_else() -> None:
    principle = make_principle(anti_pattern_en="Do not skim.", anti_pattern_ko="훑어 읽지 마라.")
    texts_ko, texts_en = ("다시 읽어라.", "훑어 읽지 마라."), ("Read again.", "Do not skim.")
    for language, shown in (("ko", texts_ko), ("en", texts_en), ("other", texts_en)):
        assert (principle.text(language), principle.anti_pattern(language)) == shown  # type: ignore[arg-type]
    assert make_principle().anti_pattern("ko") is None


def test_the_hash_is_of_the_file_bytes_and_the_shipped_file_is_read_once(tmp_path: Path) -> None:
    content = make_yaml()
    path = write(tmp_path, content)
    assert load_catalogue(path).sha256 == hashlib.sha256(content.encode()).hexdigest()
    path.write_text(content + "# a remark\n", encoding="utf-8")
    assert load_catalogue(path).sha256 != hashlib.sha256(content.encode()).hexdigest()
    assert load_catalogue() is load_catalogue()
    assert load_catalogue().get("P-XXX-99") is None


def test_principles_and_catalogues_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        PRINCIPLES[0].text_en = "Read again."  # type: ignore[misc]
    with pytest.raises(AttributeError):
        load_catalogue().entries = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("- {principle_id: [", "not valid YAML", id="bad YAML"),
        pytest.param("P-GEN-01: any\n", "a list of entries", id="no list"),
        pytest.param("- P-GEN-01\n", "entry 1 must be a mapping", id="no mapping"),
        pytest.param(make_yaml(tone="kind"), r"entry 1 \(P-GEN-01\) .*'tone'; allowed are .*text_ko", id="unknown key"),
        pytest.param(make_yaml(text_ko=None), r"entry 1 \(P-GEN-01\): text_ko .* missing", id="missing key"),
        pytest.param(make_yaml(principle_id=None), "entry 1: principle_id .* missing", id="missing id"),
        pytest.param(make_yaml(principle_id="P-GE-1"), "three capital letters.*got 'P-GE-1'", id="bad id"),
        pytest.param(make_yaml() + make_yaml(risk="IRONY"), "P-GEN-01 is given twice", id="duplicate id"),
        pytest.param(make_yaml(text_en="x" * 301), "text_en must be a text of 1 to 300", id="long English text"),
        pytest.param(make_yaml(text_ko="가" * 301), "text_ko must be a text of 1 to 300", id="long Korean text"),
        pytest.param(make_yaml(text_en="' '"), "text_en must be a text of 1 to 300", id="blank text"),
        pytest.param(make_yaml(text_en="42"), "text_en must be a text", id="a number for a text"),
        pytest.param(
            make_yaml(anti_pattern_en="x" * 201, anti_pattern_ko="가"),
            "anti_pattern_en must be a text of 1 to 200",
            id="long anti-pattern",
        ),
        pytest.param(
            make_yaml(anti_pattern_en="Do not skim."),
            "anti_pattern_en and anti_pattern_ko, or neither",
            id="anti-pattern in one language",
        ),
        pytest.param(make_yaml(risk="none"), "all any is missing", id="no entry for everything else"),
        pytest.param("[]\n", "all any is missing", id="empty"),
        pytest.param(make_yaml(risk="IRONIC"), "risk must be one of .*, any; got 'IRONIC'", id="unknown risk"),
        pytest.param(make_yaml(action="flip"), "action must be one of .*, any; got 'flip'", id="action"),
        pytest.param(make_yaml(outcome="good"), "outcome must be one of .*, any; got 'good'", id="outcome"),
        pytest.param(make_yaml(expects="wait"), "expects must be one of change, hold; got 'wait'", id="expects"),
        pytest.param(make_yaml() + "  risk: IRONY\n", "given twice", id="key given twice"),
    ],
)
def test_a_broken_catalogue_is_refused_with_its_place_and_what_is_allowed(
    tmp_path: Path, content: str, said: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(ConfigError, match=said) as refusal:
        load_catalogue(path)
    assert refusal.value.path == path
    assert str(path) in str(refusal.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load_catalogue(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    ("risks", "has_conflict", "has_implicit", "expected"),
    [
        ([("EVIDENCE_GAP", "high"), ("IRONY", "low")], True, True, "IRONY"),
        ([("NEGATION_SCOPE", "low"), ("POLARITY_MISMATCH", "mid")], False, False, "POLARITY_MISMATCH"),
        ([("IRONY", "mid"), ("CONTRAST_SCOPE", "mid")], False, False, "CONTRAST_SCOPE"),
        ([("IRONY", "low"), ("NEGATION_SCOPE", "low"), ("IRONY", "high")], False, False, "IRONY"),
        ([("EVIDENCE_GAP", "high")], True, True, "conflict"),
        ([("OTHER", "mid"), ("SPAN_MISMATCH", "low")], False, True, "OTHER"),
        (
            [("OTHER", "mid"), ("MISSING_SECOND_ASPECT", "mid"), ("SPAN_MISMATCH", "mid")],
            False,
            True,
            "SPAN_MISMATCH",
        ),
        ([], True, True, "conflict"),
        ([], False, True, "implicit"),
        ([], False, False, "none"),
    ],
)
def test_the_risk_key_prefers_l3_then_conflict_then_other_risks_then_implicit(
    risks: list[tuple[RiskId, Severity]], has_conflict: bool, has_implicit: bool, expected: PrincipleRisk
) -> None:
    for order in (risks, risks[::-1]):
        assert risk_key(iter(order), has_conflict=has_conflict, has_implicit=has_implicit) == expected
