"""Invariants over texts nobody would write: random fragments of both languages, cues, signs and emoji."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backends.embedded.role_chain import memory_of, run_review, run_stage1

from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.vocabulary import Language

_FRAGMENTS = st.sampled_from(
    [
        "음식",
        "은",
        "는",
        "이",
        "가",
        "을",
        "맛있",
        "어요",
        "지만",
        "는데",
        "안",
        "못",
        "지",
        "않",
        "없",
        "다고",
        "할",
        "수",
        "퍽이나",
        "별로",
        "최고",
        "좋",
        "나쁘",
        "고",
        "서",
        "에서",
        "다시",
        "돈",
        "The",
        "food",
        "service",
        "was",
        "is",
        "not",
        "n't",
        "but",
        "although",
        "never",
        "good",
        "bad",
        "too",
        ",",
        ".",
        "!",
        "?",
        "\n",
        "great",
        "I",
        "think",
        "only",
        "love",
        "and",
        "of",
        "wish",
        "could",
        "be",
        "better",
        "nothing",
        "oh",
        "😀",
        "ㅋㅋ",
        "'",
        "’",
        "-",
        "3",
        "\t",
        "İ",
    ]
)
_TEXTS = st.lists(_FRAGMENTS, min_size=1, max_size=25).flatmap(
    lambda parts: st.sampled_from([" ".join(parts), "".join(parts)])
)
_LANGUAGES = st.sampled_from(["ko", "en", "other"])
_RISKS = st.sets(
    st.sampled_from(
        ["NEGATION_SCOPE", "CONTRAST_SCOPE", "IRONY", "EVIDENCE_GAP", "MISSING_SECOND_ASPECT", "POLARITY_MISMATCH"]
    )
)


@settings(max_examples=300)
@given(_TEXTS | st.text(min_size=1, max_size=60), _LANGUAGES, _RISKS)
def test_every_answer_is_valid_and_quotes_the_text(text: str, language: Language, risks: set[str]) -> None:
    stage1 = run_stage1(text, language)
    for aspect in stage1.ate.aspects:
        assert aspect.span is not None
        assert text[aspect.span.start : aspect.span.end] == aspect.aspect_term
    assert all(one.evidence in text for one in stage1.atsa.sentiments)
    review = run_review(text, language, stage1, memory_of(*sorted(risks), principle="P-CFL-01"))
    assert all(span in text for span in review.judge.sentence_evidence_spans)
    known = {risk.id for risk in stage1.validator.structural_risks}
    assert {*review.validator.resolved_risk_ids, *review.validator.remaining_risk_ids} == known
    assert not {*review.validator.resolved_risk_ids} & {*review.validator.remaining_risk_ids}


@settings(max_examples=300)
@given(_TEXTS, _LANGUAGES)
def test_a_reading_stays_inside_its_text(text: str, language: Language) -> None:
    reading = read_text(text, language)
    for clause in reading.clauses:
        assert 0 <= clause.start <= clause.end <= len(text)
    assert [clause.start for clause in reading.clauses] == sorted(clause.start for clause in reading.clauses)
    for opinion in reading.opinions:
        assert 0 <= opinion.start < opinion.end <= len(text)
        assert -3.0 <= opinion.first <= 3.0
        assert -3.0 <= opinion.full <= 3.0
        assert all(0 <= index < len(reading.targets) for index in opinion.targets)
    for target in reading.targets:
        assert text[target.start : target.end] == target.term
