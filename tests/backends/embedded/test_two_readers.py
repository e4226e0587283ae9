"""Rules and weights read the same text; who is believed, and what the debate makes of their difference."""

import pytest
from tests.backends.embedded.role_chain import ENGINE, run_review, run_stage1

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.judgement import target_union, two_readers
from episodic_absa.backends.embedded.judgement.target_union import NAMED, named_targets, support
from episodic_absa.backends.embedded.judgement.two_readers import is_doubtful, weights_lead
from episodic_absa.backends.embedded.model.linear_model import LinearModel
from episodic_absa.backends.embedded.model.polarity_features import (
    domain_features,
    in_domain,
    place_of,
    target_features,
)
from episodic_absa.backends.embedded.model.tagger_features import adapted, tagger_features
from episodic_absa.backends.embedded.model.weighing import (
    OTHER_DOMAIN,
    Weighed,
    spans_above,
    weigh,
    weighed_polarity,
    weighed_text,
)
from episodic_absa.backends.embedded.model.word_marks import mark_words
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.vocabulary import Language


def pairs(text: str, language: Language) -> set[tuple[str, str | None]]:
    return {(one.aspect_term, one.polarity) for one in run_stage1(text, language).atsa.sentiments}


def flat(reading: Reading, share: float, domain: str | None = None, *, familiar: bool = False) -> Weighed:
    words = frozenset(word.form for word in reading.words) if familiar else frozenset()
    return Weighed(domain, tuple((share, 0.0) for _ in reading.words), words)


def test_words_are_marked_as_the_rules_see_them() -> None:
    reading = ENGINE.read("The room was clean.", "en")
    marks = dict(zip((word.form for word in reading.words), mark_words(reading), strict=True))
    assert marks["room"].target.startswith("B:subject:1:+")
    assert marks["room"].is_listed
    assert (marks["clean"].opinion, marks["room"].to_opinion, marks["clean"].to_opinion) == ("+", 2, 0)
    assert marks["the"].target == "-"


def test_a_known_domain_adds_its_own_copies_and_an_unknown_one_none() -> None:
    reading = ENGINE.read("음식이 맛있어요", "ko")
    features = tagger_features(reading)
    assert adapted(features, None) == features
    assert "food|w=음식" in adapted(features, "food")[0]
    judged = target_features(reading, place_of(reading, 0, 2), ())
    assert in_domain(judged, None) == judged
    assert ("food|bias", 1.0) in in_domain(judged, "food")
    assert ("음식", 1.0) in domain_features(reading)


def test_a_linear_model_ignores_what_it_does_not_know() -> None:
    model = LinearModel(("positive", "negative", "neutral"), 0.5, {"good": (4, -2, -2)})
    known = model.probabilities([("good", 1.0), ("never seen", 1.0)])
    assert known == model.probabilities([("good", 1.0)])
    assert known["positive"] > 0.9
    assert abs(sum(known.values()) - 1.0) < 1e-4


def test_neighbouring_words_make_one_span_until_another_begins() -> None:
    reading = ENGINE.read("battery life screen", "en")
    weighed = Weighed(None, ((0.9, 0.0), (0.1, 0.7), (0.6, 0.2)), frozenset())
    spans = [(one.start, one.end) for one in spans_above(reading, weighed, 0.3)]
    assert spans == [(0, 12), (13, 19)]


def test_the_rules_insist_only_where_the_tagger_knows_no_better() -> None:
    reading = ENGINE.read("The room was clean.", "en")
    assert support(reading, flat(reading, 0.0), 4, 8) >= NAMED, "the tagger has never seen such a text"
    assert support(reading, flat(reading, 0.0, "hotel", familiar=True), 4, 8) < NAMED, "it has, and says no"
    assert support(reading, flat(reading, 0.2, "hotel", familiar=True), 4, 8) >= NAMED, "it half sees it"


@pytest.mark.parametrize(("certainty", "named"), [(0.8, False), (0.99, True)])
def test_a_mere_predicate_is_a_target_only_where_the_domain_is_sure(
    monkeypatch: pytest.MonkeyPatch, certainty: float, named: bool
) -> None:
    reading = EmbeddedEngine().read("응답이 빠르고 좋네요", "ko")
    weighed = flat(reading, 0.0, "phone")._replace(certainty=certainty)
    shares = [(0.9, 0.0) if word.form == "빠르" else (0.0, 0.0) for word in reading.words]
    monkeypatch.setattr(target_union, "weigh", lambda _: weighed._replace(shares=tuple(shares)))
    assert any(one.target.term.startswith("빠르") for one in named_targets(reading)) is named


def test_in_an_unknown_domain_a_plain_subject_is_named_if_the_tagger_glimpses_it() -> None:
    reading = ENGINE.read("The gyoza was bland.", "en")
    assert support(reading, flat(reading, 0.2), 4, 9) >= NAMED
    assert support(reading, flat(reading, 0.1), 4, 9) < NAMED
    assert support(reading, flat(reading, 0.2, "restaurant", familiar=True), 4, 9) < NAMED, "there the tagger knows"


def test_what_is_recognised_as_other_is_of_no_known_domain() -> None:
    reading = ENGINE.read("과자가 바삭하고 초콜릿 맛이 진해요. 사료도 잘 먹어요.", "ko")
    likely = reading.weights.domain.probabilities(domain_features(reading))
    assert max(likely, key=lambda name: likely[name]) == OTHER_DOMAIN
    assert weigh(reading).domain is None


def test_an_everyday_review_is_of_no_domain_and_read_mostly_by_the_everyday_weights() -> None:
    everyday = weigh(ENGINE.read("My new umbrella broke in the first storm.", "en"))
    assert everyday.domain is None
    assert everyday.everyday > 0.8
    annotated = ENGINE.read("This course covers machine learning in weekly lectures and quizzes.", "en")
    assert weigh(annotated).domain == "coursera"
    assert weigh(annotated).everyday < 0.2


def test_both_kinds_of_weights_count_in_the_proportion_of_the_two_kinds_of_texts() -> None:
    reading = ENGINE.read("The lectures were clear but the hotel lobby smelled.", "en")
    weighed, weights = weigh(reading), reading.weights
    assert 0.0 < weighed.everyday < 1.0
    features = tagger_features(reading)
    of_domain = weights.tagger.marginals(adapted(features, weighed.domain))
    of_everyday = weights.everyday_tagger.marginals(features)
    for at, (begins, goes_on) in enumerate(weighed.shares):
        mixed = [(1 - weighed.everyday) * of_domain[at][n] + weighed.everyday * of_everyday[at][n] for n in (0, 1)]
        assert (begins, goes_on) == pytest.approx(tuple(mixed), abs=1e-5)


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("The hat, scarf and gloves were gorgeous.", "en", {"hat", "scarf", "gloves"}),
        ("Graphics and controls are excellent.", "en", {"Graphics", "controls"}),
        ("The fish and chips were superb.", "en", {"fish and chips"}),
        ("가죽이랑 바느질이 튼튼해요", "ko", {"가죽", "바느질"}),
    ],
)
def test_every_conjunct_is_a_target_of_its_own(text: str, language: Language, terms: set[str]) -> None:
    assert {named.target.term for named in named_targets(ENGINE.read(text, language))} == terms


def test_a_noun_nobody_judges_needs_the_tagger() -> None:
    reading = ENGINE.read("The room was next to the lift.", "en")
    assert support(reading, flat(reading, 0.0), 4, 8) < NAMED
    assert support(reading, flat(reading, 0.5), 4, 8) >= NAMED


@pytest.mark.parametrize(
    ("text", "language", "polarity"),
    [
        ("Absolutely loved it!", "en", "positive"),
        ("I would never come back.", "en", "negative"),
        ("정말 재미있게 봤습니다", "ko", "positive"),
        ("시간이 아까웠다", "ko", "negative"),
    ],
)
def test_an_opinion_without_a_target_is_implicit(text: str, language: Language, polarity: str) -> None:
    assert ("", polarity) in pairs(text, language)


@pytest.mark.parametrize(("text", "language"), [("We arrived on Monday.", "en"), ("Is the food good?", "en")])
def test_a_text_that_judges_nothing_has_no_side(text: str, language: Language) -> None:
    assert {polarity for _, polarity in pairs(text, language)} <= {"neutral"}


def test_terms_carry_no_particle() -> None:
    for text in ("서비스는 친절했지만 음식은 별로였어", "직원분들이 친절하고 로비가 깨끗해요"):
        assert not any(one.target.term.endswith(("은", "는", "가")) for one in named_targets(ENGINE.read(text, "ko")))


def test_a_doubtful_target_is_dropped_by_tan_and_judge_together() -> None:
    text = "We sat at the table by the door and the soup was wonderful."
    reading = ENGINE.read(text, "en")
    stage1 = run_stage1(text, "en", ["door", "soup"])
    doubtful = [one.aspect_term for one in stage1.atsa.sentiments if is_doubtful(reading, one)]
    assert doubtful == ["door"]
    review = run_review(text, "en", stage1)
    dropped = [patch.target.aspect_ref for patch in review.judge.final_patch if patch.op == "drop_tuple"]
    assert dropped == ["door"]
    tan = next(turn for turn in review.turns if turn.agent == "tan")
    assert [edit.target.aspect_ref for edit in tan.proposed_edits if edit.op == "drop_tuple"] == ["door"]


def test_a_target_that_an_opinion_is_plainly_said_of_is_not_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = ENGINE.read("직원이 친절하고 매장이 깨끗합니다", "ko")
    monkeypatch.setattr(two_readers, "weigh", lambda _: flat(reading, 0.01, "hotel", familiar=True))
    praised = SentimentItem(aspect_term="매장", polarity="positive", confidence=0.8)
    assert not is_doubtful(reading, praised)
    assert is_doubtful(reading, praised.model_copy(update={"polarity": "negative"})), "the words say otherwise"


def test_the_lead_of_the_weights_is_a_difference_of_probabilities() -> None:
    reading = ENGINE.read("The soup was wonderful.", "en")
    weighed = weighed_polarity(reading, "soup")
    assert weighed is not None
    one = SentimentItem(aspect_term="soup", polarity="positive")
    assert weights_lead(reading, one, "negative") == round(weighed.positive - weighed.negative, 5) > 0.5
    assert weighed.best == "positive"


def test_other_languages_are_not_weighed() -> None:
    reading = ENGINE.read("Das Essen war gut.", "other")
    assert weigh(reading) == Weighed(None, (), frozenset())
    assert weighed_text(reading) is None
