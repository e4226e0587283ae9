"""What a whole text is recognised by."""

from episodic_absa.backends.embedded.model.polarity_features import text_features
from episodic_absa.backends.embedded.text_reading import read_text


def runs(text: str) -> set[str]:
    return {name.removeprefix("run:") for name, _ in text_features(read_text(text, "ko")) if name.startswith("run:")}


def test_runs_of_characters_do_not_depend_on_spacing_or_on_how_long_one_laughs() -> None:
    assert runs("재미 있어요 ㅋㅋㅋㅋㅋ") == runs("재미있어요ㅋㅋ")
    assert {"ㅋㅋ", "요ㅋㅋ", "재미있어"} <= runs("재미 있어요 ㅋㅋㅋ")


def test_english_texts_have_no_runs_of_characters() -> None:
    assert not any(name.startswith("run:") for name, _ in text_features(read_text("Great food.", "en")))
