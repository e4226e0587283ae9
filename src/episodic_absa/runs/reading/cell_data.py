"""Reads texts and gold of a cell's samples from the data again, and holds them against the hashes of the run."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from episodic_absa.datasets.dataset_loading import InputFormat, load_split
from episodic_absa.datasets.gold_columns import GoldColumns
from episodic_absa.datasets.gold_files import attach_gold, load_annotations
from episodic_absa.errors import RunDirectoryError
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.vocabulary import Split


class CellData:
    """The samples of the split that a cell was run over.

    Args:
        cell: the directory of the cell.
        manifest: of the cell.
        file: where the data file lies; None if it is out of reach.
        gold_file: where the gold of the split lies, if it has a file of its own.

    Raises:
        RunDirectoryError: a file is out of reach, or holds other gold than the run was scored with.
    """

    def __init__(self, cell: Path, manifest: Manifest, file: Path | None, gold_file: Path | None) -> None:
        self._cell = cell
        split = manifest.dataset.processing_split
        if file is None or not file.is_file():
            raise RunDirectoryError(
                f"{cell} holds no texts, and its data, {manifest.dataset.paths[split]}, are out of reach: keep the run "
                f"directory where its experiment file ({manifest.config_path}) put it, and the data beside that file",
                path=cell,
            )
        columns = _columns(manifest)
        if columns.names:
            _require_same(cell, file, manifest.dataset.sha256[split])
        elif gold_file is not None and manifest.gold is not None:
            _require_same(cell, gold_file, manifest.gold.sha256)
        data = manifest.config.data
        self._file = file
        self._samples = _samples_of(
            file, _sha256(file), data.input_format, split, data.text_column, columns, gold_file, _sha256(gold_file)
        )

    def labelled(self, record: SampleRecord) -> LabelledSample:
        """Return the text of a record, with its gold.

        Raises:
            RunDirectoryError: the data hold another text under this uid, or none.
        """
        labelled = self._samples.get(record.uid)
        text = labelled.sample.text if labelled is not None else ""
        if labelled is None or hashlib.sha256(text.encode()).hexdigest() != record.input.sha256:
            raise RunDirectoryError(
                f"{self._file} does not hold the text of {record.uid!r} that {self._cell} was run with; "
                "restore the data file",
                path=self._file,
            )
        return labelled


def _columns(manifest: Manifest) -> GoldColumns:
    settings, data = manifest.config.eval, manifest.config.data
    is_required = manifest.dataset.processing_split == data.process_split
    return GoldColumns(settings.gold_column, settings.aspect_column, settings.polarity_column, is_required)


def _require_same(cell: Path, path: Path, sha256: str) -> None:
    if _sha256(path) != sha256:
        raise RunDirectoryError(
            f"{path} is not the gold that {cell} was scored with; restore the file, or run again with another run_id",
            path=path,
        )


def _sha256(path: Path | None) -> str:
    """Return the hash of a file; nothing for one that is missing."""
    if path is None or not path.is_file():
        return ""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=4)
def _samples_of(
    file: Path,
    sha256: str,  # noqa: ARG001 - tells a changed file from the one that is remembered
    input_format: InputFormat,
    split: Split,
    text_column: str,
    columns: GoldColumns,
    gold_file: Path | None,
    gold_sha256: str,  # noqa: ARG001
) -> Mapping[str, LabelledSample]:
    """Return the samples by uid; all cells of a grid share them."""
    samples = load_split(file, input_format, split, text_column=text_column, gold_columns=columns)
    if gold_file is not None:
        samples = attach_gold(samples, load_annotations(gold_file)).samples
    return {labelled.sample.uid: labelled for labelled in samples}
