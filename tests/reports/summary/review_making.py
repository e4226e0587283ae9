"""Builds analysed reviews for tests of the summary. All texts are invented."""

from episodic_absa.analysed_review import AnalysedAspect, AnalysedReview


def make_review(text: str, *pairs: tuple[str, str], language: str = "en", **columns: str) -> AnalysedReview:
    """Return a review with an aspect per (term, polarity); the term is its own evidence."""
    aspects = tuple(AnalysedAspect(term, polarity, 0.9, term) for term, polarity in pairs)
    polarities = {polarity for _, polarity in pairs}
    label = "mixed" if {"positive", "negative"} <= polarities else next(iter(sorted(polarities)), "neutral")
    return AnalysedReview(text, columns, language, label, aspects)


def hostile_reviews() -> list[AnalysedReview]:
    """Return reviews whose text, terms and cells try to break a page."""
    word = "w" * 100_000
    markup = "</script><img src=x onerror=alert(1)>"
    return [
        make_review(f"{markup} is bad", (markup, "negative"), product=markup),
        make_review(word, (word, "positive"), product=word),
        make_review("\u202eevil\x00\x1b[31m text\u2066", ("\u202eevil", "positive"), product="\x00"),
        make_review("=HYPERLINK(1) works", ("=HYPERLINK(1)", "positive"), product="=1+1"),
        make_review("\ud800 half", ("half", "neutral"), product="@x"),
    ]
