import unicodedata
from pathlib import Path

import pytest

from episodic_absa.datasets import load_split
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample, Span
from episodic_absa.schemas.gold import GoldTuple, LabelledSample


def load(folder: Path, content: str | bytes) -> tuple[LabelledSample, ...]:
    path = folder / "reviews.xml"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return load_split(path, "semeval_xml", "test")


FORM_2014 = """<?xml version="1.0" encoding="UTF-8"?>
<sentences>
  <sentence id="813">
    <text>Soup &amp; bread were lovely but the soup was cold.</text>
    <aspectTerms>
      <aspectTerm term="bread" polarity="positive" from="7" to="12"/>
      <aspectTerm term="soup" polarity="negative" from="33" to="37"/>
      <aspectTerm term="Soup" polarity="conflict" from="0" to="4"/>
    </aspectTerms>
    <aspectCategories><aspectCategory category="food" polarity="conflict"/></aspectCategories>
  </sentence>
  <sentence id="814"><text>We came on foot.</text></sentence>
</sentences>
"""


def test_the_form_of_2014_gives_its_terms_as_gold(tmp_path: Path) -> None:
    first, second = load(tmp_path, FORM_2014)
    assert first.sample == Sample(uid="813", text="Soup & bread were lovely but the soup was cold.", split="test")
    assert first.gold == (
        GoldTuple(aspect_term="bread", polarity="positive", span=Span(start=7, end=12)),
        GoldTuple(aspect_term="soup", polarity="negative", span=Span(start=33, end=37)),
    )
    assert (second.sample.uid, second.gold, second.metadata) == ("814", (), {})


def test_a_conflict_is_no_gold_but_is_noted(tmp_path: Path) -> None:
    first, _ = load(tmp_path, FORM_2014)
    assert first.metadata == {
        "aspect_categories": [{"category": "food", "polarity": "conflict"}],
        "conflict_tuples": [{"aspect_term": "Soup", "span": {"start": 0, "end": 4}}],
    }


def test_a_file_of_2014_with_categories_alone_gives_implicit_gold(tmp_path: Path) -> None:
    (labelled,) = load(
        tmp_path,
        '<sentences><sentence id="1"><text>Never again.</text><aspectCategories>'
        '<aspectCategory category="service" polarity="negative"/>'
        '<aspectCategory category="food" polarity="conflict"/></aspectCategories></sentence></sentences>',
    )
    assert labelled.gold == (GoldTuple(aspect_ref="service", aspect_term="", polarity="negative"),)
    assert labelled.metadata["conflict_tuples"] == [{"aspect_ref": "food", "aspect_term": ""}]


FORM_2016 = """<Reviews>
  <Review rid="r1">
    <sentences>
      <sentence id="r1:0">
        <text>Nice pasta, and I will be back.</text>
        <Opinions>
          <Opinion target="pasta" category="FOOD#QUALITY" polarity="positive" from="5" to="10"/>
          <Opinion target="NULL" category="RESTAURANT#GENERAL" polarity="positive" from="0" to="0"/>
          <Opinion target="pasta" category="FOOD#STYLE" polarity="dunno" from="5" to="10"/>
        </Opinions>
      </sentence>
      <sentence id="r1:1" OutOfScope="TRUE"><text>Hello there.</text></sentence>
    </sentences>
  </Review>
</Reviews>
"""


def test_the_form_of_2016_gives_its_opinions_as_gold_and_null_as_implicit(tmp_path: Path) -> None:
    first, second = load(tmp_path, FORM_2016)
    span = Span(start=5, end=10)
    assert first.gold == (
        GoldTuple(aspect_ref="FOOD#QUALITY", aspect_term="pasta", polarity="positive", span=span),
        GoldTuple(aspect_ref="RESTAURANT#GENERAL", aspect_term="", polarity="positive"),
        GoldTuple(aspect_ref="FOOD#STYLE", aspect_term="pasta", polarity=None, span=span),
    )
    assert first.metadata == {"review_id": "r1"}
    assert (second.gold, second.metadata) == ((), {"review_id": "r1", "out_of_scope": True})


def test_a_file_that_annotates_nothing_has_no_gold(tmp_path: Path) -> None:
    samples = load(
        tmp_path, "<sentences><sentence><text>a</text></sentence><sentence><text>b</text></sentence></sentences>"
    )
    assert [(labelled.sample.uid, labelled.gold) for labelled in samples] == [("reviews:1", None), ("reviews:2", None)]


def test_offsets_of_a_decomposed_text_are_moved_to_the_composed_one(tmp_path: Path) -> None:
    raw = unicodedata.normalize("NFD", "국물 좋고 면도 좋고 국물 또 좋고")
    term = unicodedata.normalize("NFD", "국물")
    start = raw.rindex(term)
    opinion = f'<Opinion target="{term}" polarity="positive" from="{start}" to="{start + len(term)}"/>'
    (labelled,) = load(
        tmp_path,
        f"<Reviews><Review><sentences><sentence><text>{raw}</text><Opinions>{opinion}</Opinions>"
        "</sentence></sentences></Review></Reviews>",
    )
    assert labelled.gold == (GoldTuple(aspect_term="국물", polarity="positive", span=Span(start=12, end=14)),)


ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
TWICE = "<sentence id='1'><text>a</text></sentence>\n<sentence id='1'><text>b</text></sentence>"
BAD_OFFSET = "<aspectTerm term='a' polarity='positive' from='x' to='1'/>"


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (f"{ENTITY}<sentences/>", 1, "<!DOCTYPE>"),
        ('<?xml version="1.0"?>\n<!DOCTYPE sentences>\n<sentences/>', 2, "<!DOCTYPE>"),
        ("<sentences>\n<sentence>\n<text>&e;</text></sentence></sentences>", 3, "not valid XML"),
        ("<sentences>\n<sentence>\n</sentences>", 3, "not valid XML"),
        ("", 1, "not valid XML"),
        ("<html>\n</html>", 1, "found <html>"),
        ("<sentences>\n<sentence>\n<text>  </text></sentence></sentences>", 3, "empty"),
        ("<sentences>\n<sentence id='1'/></sentences>", 2, "empty"),
        (f"<sentences>\n{TWICE}</sentences>", 3, "line 2"),
        (
            f"<sentences><sentence><text>a</text><aspectTerms>\n{BAD_OFFSET}</aspectTerms></sentence></sentences>",
            2,
            "whole",
        ),
    ],
)
def test_bad_xml_is_refused_with_its_file_and_line(tmp_path: Path, content: str, line: int, said: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(tmp_path, content)
    assert (caught.value.path, caught.value.line) == (tmp_path / "reviews.xml", line)
    assert said in str(caught.value)


def test_an_encoding_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    content = '<?xml version="1.0" encoding="euc-kr"?><sentences><sentence><text>가</text></sentence></sentences>'
    with pytest.raises(DatasetError, match="UTF-8"):
        load(tmp_path, content.encode("euc-kr"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_that_the_file_declares_are_read(tmp_path: Path, encoding: str) -> None:
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    content = (
        f'<?xml version="1.0" encoding="{declared}"?><sentences><sentence><text>Café</text></sentence></sentences>'
    )
    (labelled,) = load(tmp_path, content.encode(encoding))
    assert labelled.sample.text == "Café"
