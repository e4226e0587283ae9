"""Near-equal terms are one aspect; words that only look alike are not."""

import pytest
from tests.reports.summary.review_making import make_review

from episodic_absa.reports.summary import TermCounts, joined_keys, summarise, term_key


def keys_of(*terms: str, text: str | None = None) -> set[str]:
    keys = [term_key(term, text or term) for term in terms]
    return set(joined_keys(keys).values())


@pytest.mark.parametrize(
    "terms",
    [
        ("service", "services", "Service", "the service", " service! "),
        ("check-in", "Check in", "check  in"),
        ("battery", "batteries"),
        ("dish", "dishes"),
        ("glass", "glasses"),
        ("movie", "movies"),
        ("hotel room", "hotel rooms"),
        ("배터리 수명", "배터리수명"),
        ("직원", "직원들", "직원분", "직원분들"),
        ("강사님", "강사", "강사님들"),
        ("상담원분", "상담원분들"),
    ],
)
def test_near_equal_terms_share_a_group(terms: tuple[str, ...]) -> None:
    assert len(keys_of(*terms)) == 1


@pytest.mark.parametrize(
    "terms",
    [
        ("staff", "stuff"),
        ("new", "news"),
        ("good", "goods"),
        ("wifi", "wives"),
        ("bus", "bu"),
        ("물", "물가"),
        ("아들", "아"),
        ("손님", "손"),
        ("성분", "성"),
        ("price", "prize"),
    ],
)
def test_terms_that_only_look_alike_stay_apart(terms: tuple[str, str]) -> None:
    assert len(keys_of(*terms)) == 2


def test_a_plural_without_its_singular_keeps_its_name() -> None:
    assert keys_of("stairs", "towels") == {"stairs", "towels"}


def test_a_particle_is_removed_only_where_the_analyser_finds_it() -> None:
    assert term_key("서비스가", "서비스가 좋아요.") == "서비스"
    assert term_key("서비스는", "여기 서비스는 별로예요.") == "서비스"
    assert term_key("물가", "요즘 물가가 너무 올랐어요.") == "물가"


def test_counting_review_by_review_gives_the_groups_of_the_summary() -> None:
    reviews = [
        make_review("service, services", ("service", "positive"), ("Services", "positive"), ("rooms", "negative")),
        make_review("services", ("services", "negative")),
        make_review("Room, the boxes, a box", ("the boxes", "neutral"), ("box", "neutral"), ("Room", "positive")),
        make_review("직원들이 직원을", ("직원들", "positive"), ("직원", "positive"), ("", "negative")),
    ]
    counts = TermCounts()
    for review in reviews:
        counts.add(review)
    assert [(counted.group.name, counted.group.spellings, counted.tally) for counted in counts.groups()] == [
        (aspect.name, aspect.spellings, aspect.tally) for aspect in summarise(reviews).aspects
    ]
