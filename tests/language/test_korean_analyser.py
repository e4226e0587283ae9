import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest

from episodic_absa.language import ends_with_particle, morphemes, strip_particle


@pytest.mark.parametrize(
    "text",
    [
        "음식은 별로",
        "😀😀 음식은 별로",
        "𠮷 음식은 좋다",
        "👨\u200d👩\u200d👧 음식은 굿",
        "\ud800 음식은 별로",
    ],
)
def test_offsets_count_code_points(text: str) -> None:
    found = morphemes(text)
    assert found is not None
    particle = next(morpheme for morpheme in found if morpheme.is_particle)
    assert (particle.form, text[particle.start : particle.end]) == ("은", "은")
    assert ends_with_particle(text, text.index("음식은") + 3)
    assert strip_particle("음식은", text) == "음식"


def test_decomposed_input_is_composed_first() -> None:
    assert morphemes(unicodedata.normalize("NFD", "음식은 별로")) == morphemes("음식은 별로")
    assert ends_with_particle(unicodedata.normalize("NFD", "음식은 별로"), 3)


def test_an_empty_text_has_no_morphemes() -> None:
    assert morphemes("") == ()


@pytest.mark.parametrize("end", [-1, 0, 1, 2, 4, 6, 99])
def test_no_particle_ends_elsewhere(end: int) -> None:
    assert not ends_with_particle("음식은 별로", end)


@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        ("가격이", "가격이 비싸고 가격이랑 안 맞아요", "가격"),
        ("가격이", "가격이랑 안 맞는 가격이", "가격이"),
        ("화면은", "큰화면은 좋다, 화면은 최고", "화면"),
        ("배터리도", "배터리도 좋아요", "배터리도"),
        ("학굔", "학굔 좋다", "학굔"),
    ],
)
def test_the_first_occurrence_at_a_word_start_decides(term: str, text: str, expected: str) -> None:
    assert strip_particle(term, text) == expected


def test_many_threads_get_the_same_answer() -> None:
    texts = [f"음식은 {number}번째로 좋아요" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(strip_particle, ["음식은"] * len(texts), texts))
    assert set(answers) == {"음식"}


def _run(code: str) -> str:
    command = [sys.executable, "-X", "utf8", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_without_an_analyser_nothing_is_stripped() -> None:
    code = """
import sys
sys.modules["kiwipiepy"] = None  # makes the import fail
from episodic_absa.language import ends_with_particle, morphemes, norm_key, strip_particle
text = "음식은 별로"
print(morphemes(text) is None, ends_with_particle(text, 3))
print(norm_key("음식은", text) == strip_particle("음식은", text) == "음식은")
"""
    assert _run(code).split() == ["True", "False", "True"]


def test_the_analyser_is_loaded_only_when_a_particle_is_possible() -> None:
    code = """
import sys
from episodic_absa.language import detect_structures, norm_key
detect_structures("안 좋아요", "ko")
norm_key("음식", "음식은 별로")
norm_key("screen", "The screen")
norm_key("음식은")
print({"kiwipiepy", "numpy"} & set(sys.modules))
"""
    assert _run(code) == "set()"
