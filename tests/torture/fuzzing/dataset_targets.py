"""Targets: the readers of reviews and gold, in every format."""

import io
import unicodedata
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.torture.fuzzing.outcome import LostDataError, Target

from episodic_absa.datasets.dataset_loading import InputFormat, load_split
from episodic_absa.datasets.gold_columns import NO_COLUMNS, GoldColumns
from episodic_absa.datasets.gold_files import attach_gold, load_annotations
from episodic_absa.datasets.tables import open_review_table
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample

_COLUMNS: Final = (
    NO_COLUMNS,
    GoldColumns(gold="gold"),
    GoldColumns(aspect="aspect", polarity="polarity", are_required=True),
)
_ANNOTATED: Final = LabelledSample(
    sample=Sample(uid="r1", text="The soup was cold but the bread was warm.", split="valid")
)
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_BOOK: Final = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/'
    'xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
    'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.'
    'main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{_OFFICE}/'
    'officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="a" sheetId="1" r:id="r1"/>'
    "</sheets></workbook>",
}


def _split_reader(
    input_format: InputFormat, columns: Sequence[GoldColumns], *, has_line_per_sample: bool = False
) -> Target:
    name = f"data.{input_format}"

    def read(data: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(data)
        for gold_columns in columns:
            samples = load_split(path, input_format, "valid", gold_columns=gold_columns)
            _check_samples(samples)
            if has_line_per_sample and gold_columns is NO_COLUMNS:
                _check_count(samples, data)

    return Target(input_format, read, inputs=12_000, leaves=frozenset({name}))


def _check_samples(samples: Sequence[LabelledSample]) -> None:
    """Require what every later stage relies on: texts that files can hold, and spans that lie in them."""
    assert len({labelled.sample.uid for labelled in samples}) == len(samples), "a uid occurs twice"
    for labelled in samples:
        text = labelled.sample.text
        assert text.strip(), "a text is empty"
        assert unicodedata.is_normalized("NFC", text), "a text is not in NFC"
        assert LabelledSample.model_validate_json(labelled.model_dump_json()).sample == labelled.sample
        for gold_tuple in labelled.gold or ():
            span = gold_tuple.span
            assert span is None or 0 <= span.start < span.end <= len(text), "a span lies outside its text"


def _check_count(samples: Sequence[LabelledSample], data: bytes) -> None:
    lines = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(samples) != sum(bool(line.strip()) for line in lines):
        raise LostDataError(f"{len(samples)} samples of {len(lines)} lines")


def _read_gold(data: bytes, folder: Path) -> None:
    path = folder / "gold.jsonl"
    path.write_bytes(data)
    annotations = load_annotations(path)
    attached = attach_gold([_ANNOTATED], annotations)
    _check_samples(attached.samples)
    if len(attached.unknown_uids) + ("r1" in annotations) != len(annotations):
        raise LostDataError("gold that belongs to no sample is not named")


def _read_table(data: bytes, folder: Path, ending: str) -> None:
    path = folder / f"table{ending}"
    path.write_bytes(data)
    table = open_review_table(path)
    rows = list(table)
    if len(rows) != table.rows_n or sum(not row.text for row in rows) != table.empty_n:
        raise LostDataError(f"{len(rows)} rows of {table.rows_n}")
    assert table.described()


def _read_text_table(data: bytes, folder: Path) -> None:
    # The first byte chooses, so that one corpus serves both endings.
    _read_table(data[1:], folder, ".tsv" if data[:1] == b"t" else ".csv")


def _read_json_table(data: bytes, folder: Path) -> None:
    _read_table(data[1:], folder, ".jsonl" if data[:1] == b"l" else ".json")


def _read_excel_table(data: bytes, folder: Path) -> None:
    """Read a workbook whose only sheet holds the input; a whole archive would rarely survive a mutation."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in _BOOK.items():
            archive.writestr(name, content)
        archive.writestr("xl/worksheets/sheet1.xml", b'<worksheet xmlns="%b">%b</worksheet>' % (_MAIN.encode(), data))
    _read_table(buffer.getvalue(), folder, ".xlsx")


DATASET_TARGETS: Final = (
    _split_reader("csv", _COLUMNS),
    _split_reader("jsonl", _COLUMNS, has_line_per_sample=True),
    _split_reader("semeval_xml", (NO_COLUMNS,)),
    _split_reader("nikl_absa_2022", (NO_COLUMNS,), has_line_per_sample=True),
    Target("gold", _read_gold, inputs=14_000, leaves=frozenset({"gold.jsonl"})),
    Target("table_text", _read_text_table, inputs=14_000, leaves=frozenset({"table.csv", "table.tsv"})),
    Target("table_json", _read_json_table, inputs=10_000, leaves=frozenset({"table.json", "table.jsonl"})),
    *(
        (Target("table_excel", _read_excel_table, inputs=4_000, leaves=frozenset({"table.xlsx"})),)
        if find_spec("openpyxl") is not None
        else ()
    ),
)
