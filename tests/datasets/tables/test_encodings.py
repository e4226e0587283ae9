"""Every encoding in which shops and spreadsheets write is found, by the text of the file alone."""

import csv
from pathlib import Path

import pytest

from episodic_absa.datasets.tables import open_review_table

DATA = Path(__file__).parents[3] / "experiments" / "data"
with (DATA / "train.csv").open(encoding="utf-8", newline="") as _file:
    REVIEWS = [(row["language_code"], row["text"]) for row in csv.DictReader(_file)]
KOREAN = [text for language, text in REVIEWS if language == "ko"]
ENGLISH = [text for language, text in REVIEWS if language == "en"]
TEXTS = {
    "Korean": (KOREAN, ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp949")),
    "Korean and English": ([text for pair in zip(KOREAN, ENGLISH, strict=True) for text in pair], ("utf-8", "cp949")),
    "typographic": (
        [text.replace(" was ", " wasn’t ").replace(" is ", " isn’t ") for text in ENGLISH],
        ("utf-8", "utf-16", "cp1252"),
    ),
    "accents": (["The café was fine – but the maître d’hôtel wasn’t.", "A naïve soufflé."] * 20, ("utf-8", "cp1252")),
    "German": (["Das Frühstück war schön.", "Größe und Gebühr stören."] * 20, ("utf-8", "utf-16", "cp1252", "latin-1")),
    "French": (["Le dîner était délicieux, très bon.", "Déçu à la réception."] * 20, ("utf-8", "cp1252")),
}
KINDS = [(kind, encoding) for kind, (_, encodings) in TEXTS.items() for encoding in encodings]


def file_of(kind: str, encoding: str, rows_n: int) -> tuple[list[str], bytes]:
    texts = [text.replace('"', "'") for text in TEXTS[kind][0][:rows_n]]
    return texts, "".join(["id,review\n", *(f'{at},"{text}"\n' for at, text in enumerate(texts))]).encode(encoding)


@pytest.mark.parametrize("rows_n", [1, 3, 30])
@pytest.mark.parametrize(("kind", "encoding"), KINDS)
def test_a_file_is_read_as_it_was_written(tmp_path: Path, kind: str, encoding: str, rows_n: int) -> None:
    texts, content = file_of(kind, encoding, rows_n)
    (tmp_path / "a.csv").write_bytes(content)
    table = open_review_table(tmp_path / "a.csv", text_column="review")
    assert [row.text for row in table] == texts
    assert "damaged" not in table.described()
    is_told = encoding not in ("utf-8", "utf-8-sig") and not content.isascii()
    assert ("encoded as " in table.described()) == is_told


@pytest.mark.parametrize(("kind", "encoding"), [pair for pair in KINDS if pair[1] in ("utf-8", "utf-8-sig", "cp949")])
def test_one_broken_byte_damages_one_review_and_is_counted(tmp_path: Path, kind: str, encoding: str) -> None:
    texts, content = file_of(kind, encoding, 30)
    places = [at for at, byte in enumerate(content) if byte > 0x7F]
    for place in places[5 :: len(places) // 7]:
        (tmp_path / "a.csv").write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        table = open_review_table(tmp_path / "a.csv", text_column="review")
        assert sum(row.text != text for row, text in zip(table, texts, strict=True)) == 1
        assert "damaged character" in table.described()
        assert ("encoded as cp949" in table.described()) == (encoding == "cp949")
