import pytest

from episodic_absa.language import find_negations, forms
from episodic_absa.language.lexicon import load_lexicon

_NOUNS = """
    안감 안개 안건 안경 안과 안구 안내 안녕 안대 안도 안락 안마 안면 안목
    안무 안방 안배 안보 안부 안산 안색 안성 안식 안심 안약 안양 안일 안장
    안전 안정 안주 안주머니 안중 안질 안착 안창 안치 안타 안테나 안티 안팎 안쪽
    안채 안사람 안뜰 안온 안와 안남미 안간힘 안하무인 안마시술소 안성맞춤 안토시아닌 못난이 못지않 못질
    못자리 못걸이 못뽑이 못생긴 못마땅
"""


def test_the_lexicon_holds_every_form_of_the_specification() -> None:
    assert forms("particles", "removable") == tuple("은는이가을를")
    assert " ".join(forms("ko", "contrast", "words")) == "하지만 그러나 근데 그런데 반면 오히려 다만"
    assert forms("ko", "contrast", "endings") == ("-지만", "-는데", "-은데", "-인데", "-ㄴ데")
    assert forms("ko", "negation", "word_starts") == ("아니", "아닌", "아닙")
    assert forms("ko", "negation", "absence", "never_after") == ("틀림", "끊임", "변함")
    assert forms("en", "contrast", "words") == ("but", "however", "although", "though", "yet", "while")
    assert forms("en", "negation", "words") == ("not", "never", "no", "without", "hardly", "cannot")
    assert forms("en", "negation", "clitics") == ("n't",)


@pytest.mark.parametrize(
    "noun",
    _NOUNS.split(),
)
def test_no_predicate_stem_turns_a_noun_into_a_negation(noun: str) -> None:
    for text in (noun, f"새 {noun}", f"{noun}의 끝", f"{noun}에 대해"):
        assert find_negations(text, "ko") == ()


def test_every_stem_is_found_behind_its_adverb() -> None:
    for adverb in load_lexicon()["ko"]["negation"]["adverbs"]:
        form, stems = adverb["form"], adverb["stems"]
        assert len(set(stems)) == len(stems)
        for stem in stems:
            assert [cue.form for cue in find_negations(form + stem, "ko")] == [form]
