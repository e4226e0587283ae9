"""The page as a file: nothing of a review is markup, and every word has both languages."""

import re
from pathlib import Path

import pytest
from tests.reports.summary.review_making import hostile_reviews, make_review

import episodic_absa.reports
from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.errors import ConfigError
from episodic_absa.reports.summary import page_words, render_summary, sentence, summarise, write_summary

REPORTS = Path(episodic_absa.reports.__file__).parent
# Words that are the same in both languages, or name the other one.
SAME_IN_KOREAN = {"csv", "svg", "other_language", "from_to", "columns_chart"}
BUILT_KEYS = re.compile(r"(?:language|theme|sort|quotes|unit|rule|csv)_\w+|positive|negative|neutral|mixed|none|\w+_1")


def test_a_hostile_review_adds_no_markup() -> None:
    quiet = render_summary(summarise([make_review("fine", ("fine", "positive"))], source="reviews.csv"))
    hostile = render_summary(summarise(hostile_reviews() * 2, source="</title><script>x</script>.csv"))
    for mark in ("<script", "</script", "<img", "<style", "<title"):
        assert hostile.count(mark) == quiet.count(mark)
    assert "default-src &#39;none&#39;" in hostile
    assert "http://" not in hostile.replace("http://www.w3.org/2000/svg", "")


def test_every_word_has_both_languages_and_is_used() -> None:
    sources = "".join(
        path.read_text("utf-8")
        for path in [*(REPORTS / "assets" / "summary").glob("*.js"), *(REPORTS / "summary").glob("*.py")]
    ) + (REPORTS / "templates" / "summary.html.jinja").read_text("utf-8")
    words = page_words()
    for key, word in words.items():
        assert set(word) == {"en", "ko"}, key
        assert key in SAME_IN_KOREAN or re.search("[가-힣]", word["ko"]), key
        assert set(re.findall(r"{\w+}", word["en"])) == set(re.findall(r"{\w+}", word["ko"])), key
        assert f'"{key}"' in sources or BUILT_KEYS.fullmatch(key), key
    used = re.findall(r'\bsay\("(\w+)"[,)]', sources)
    assert [key for key in used if key not in words] == []


def test_numbers_in_sentences_have_separators_and_a_singular() -> None:
    assert sentence("en", "found", {"n": 1}) == "1 review found"
    assert sentence("ko", "found", {"n": 12345}) == "리뷰 12,345건"


def test_a_page_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.mkdir()
    with pytest.raises(ConfigError, match=r"cannot write the summary .*: it is a directory; choose another file"):
        write_summary(summarise([]), target)
    with pytest.raises(ConfigError, match="No such file or directory"):
        write_summary(summarise([]), tmp_path / "missing" / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_reviews_of_an_unknown_language_are_told_from_reviews_without_an_opinion() -> None:
    unread = AnalysedReview("とても良い", {}, "other", "neutral", ())
    silent = AnalysedReview("We arrived at nine.", {}, "en", "neutral", ())
    assert "unknown language" in render_summary(summarise([unread, silent]))
    assert summarise([unread, silent]).unread_n == 1
    assert 'data-say="note_unread' not in render_summary(summarise([silent]))
