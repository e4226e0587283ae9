"""The one reader of a cell: derives everything from its records, its data and its manifest."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path

from episodic_absa.datasets.dataset_loading import InputFormat, load_split
from episodic_absa.datasets.gold_columns import GoldColumns
from episodic_absa.datasets.gold_files import attach_gold, load_annotations
from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.cell_store import episodes_of, sha256_of_lines
from episodic_absa.runs.config.experiment_paths import cell_name, filled_store_path
from episodic_absa.runs.derived.derived_samples import DerivedSample, Deriver, write_sample_files
from episodic_absa.runs.reading.manifest_file import read_manifest
from episodic_absa.runs.reading.published_store import PublishedStore, read_published_store
from episodic_absa.runs.run_directory import STORE, TIMINGS
from episodic_absa.runs.samples_file import SAMPLES, SamplesContent, read_samples, require_cell, require_places
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.schemas.run_files.case_trace import TraceLine
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import SampleRecord, SampleTiming, StoreStart
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.serialization.jsonl import read_lines, split_lines
from episodic_absa.vocabulary import Split


class CellFiles:
    """One cell directory; each part is read when it is first asked for.

    Raises:
        RunDirectoryError: the directory is one of an older version. Later: a line of the records is not as the run
            wrote it, or the data are out of reach or others.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest, self.manifest_problem = read_manifest(path)

    @cached_property
    def samples(self) -> SamplesContent:
        """samples.jsonl, every seal and every place checked."""
        if self.manifest is not None and not (self.path / SAMPLES).exists():
            raise RunDirectoryError(f"{self.path / SAMPLES} is missing; restore it", path=self.path / SAMPLES)
        content = read_samples(self.path / SAMPLES)
        if self.manifest is not None:
            require_cell(self.path / SAMPLES, content, self.manifest.cfg_hash)
        require_places(self.path / SAMPLES, content.records)
        if self.manifest is not None and self.manifest.completed:
            self._require_all(len(content.records), self.manifest.dataset.processing_count)
        return content

    def _require_all(self, done: int, due: int) -> None:
        """Refuse a finished cell that lost whole lines: every line that is left is sound."""
        if done != due:
            raise RunDirectoryError(
                f"{self.path / SAMPLES} has {done:,} of {due:,} samples although the run was finished: lines were "
                "removed or added; restore the file, or run the experiment again",
                path=self.path / SAMPLES,
            )

    @property
    def records(self) -> tuple[SampleRecord, ...]:
        """The records of the samples, in order."""
        return self.samples.records

    @cached_property
    def timings(self) -> dict[str, SampleTiming]:
        """The times that timings.jsonl holds, by uid: those of the last run of a sample count."""
        try:
            lines = split_lines((self.path / TIMINGS).read_bytes()).lines
        except OSError:
            return {}
        return {line.value.uid: line.value for line in read_lines(lines, SampleTiming) if line.value is not None}

    @cached_property
    def data(self) -> "CellData":
        """The texts and the gold."""
        manifest = self.known_manifest
        split, gold = manifest.dataset.processing_split, manifest.gold
        has_gold_file = gold is not None and not gold.columns and split == manifest.config.data.process_split
        return CellData(
            self.path,
            manifest,
            self.resolve(manifest.dataset.paths[split]),
            self.resolve(gold.path) if gold is not None and has_gold_file else None,
        )

    def labelled(self, record: SampleRecord) -> LabelledSample:
        """Return the text of a record, with its gold."""
        return self.data.labelled(record)

    @cached_property
    def derived(self) -> tuple[DerivedSample, ...]:
        """What the files of the original requirement hold about each sample."""
        return tuple(self.deriver().samples_of(self.records))

    @cached_property
    def scorecards(self) -> tuple[Scorecard, ...]:
        """The scorecards."""
        if "derived" in self.__dict__:
            return tuple(sample.card for sample in self.derived)
        return tuple(map(self.deriver().card_of, self.records))

    @property
    def traces(self) -> tuple[TraceLine, ...]:
        """The traces."""
        return tuple(sample.trace for sample in self.derived)

    def deriver(self) -> Deriver:
        """Return what derives the samples of the cell, the first one next."""
        start = self.samples.header.store if self.samples.header else None
        return Deriver(self.known_manifest, start, self.labelled, self.timings)

    @property
    def known_manifest(self) -> Manifest:
        """The manifest of a cell that has a readable one."""
        if self.manifest is None:
            raise ValueError(self.manifest_problem)
        return self.manifest

    @cached_property
    def config_root(self) -> Path | None:
        """The folder of the config file; None if it does not lie where the manifest says."""
        return self._folder if (self._folder / self.known_manifest.config_path).is_file() else None

    @property
    def _folder(self) -> Path:
        return (self.path.resolve() / self.known_manifest.config_root).resolve()

    def resolve(self, path: Path) -> Path | None:
        """Return the absolute place of a configured path; None if it is out of reach."""
        if path.is_absolute():
            return path
        return self._folder / path if self.config_root or (self._folder / path).exists() else None

    @cached_property
    def store_path(self) -> Path | None:
        """The path of the cell's store; None if it is unknown."""
        manifest = self.known_manifest
        pattern = manifest.config.episodic_memory.store_path
        if pattern is None or manifest.is_build:
            return self.path / STORE
        return self.resolve(Path(filled_store_path(pattern, manifest.condition.name, manifest.repetition)))

    @property
    def shares_its_store(self) -> bool:
        """Whether the store lies outside of the cell."""
        return self.store_path is not None and not self.store_path.resolve().is_relative_to(self.path.resolve())

    @cached_property
    def store(self) -> PublishedStore:
        """The lines of the store: episodes, verdicts and tombstones; empty if the cell has none."""
        return PublishedStore() if self.store_path is None else read_published_store(self.store_path)

    @cached_property
    def beginning(self) -> tuple[EpisodicMemoryEntryV1_3, ...]:
        """The episodes that the store held before the first sample."""
        return self.store.episodes[: self._start.episodes]

    @property
    def begins_as_recorded(self) -> bool:
        """Whether the store begins with the episodes that it held before the first sample."""
        return self._start.sha256 == sha256_of_lines(self.store.episode_lines[: self._start.episodes])

    @cached_property
    def all_episodes(self) -> tuple[EpisodicMemoryEntryV1_3, ...]:
        """The episodes that the cell could read, oldest first: the beginning, and those of its records."""
        return (*self.beginning, *episodes_of(self.records))

    @cached_property
    def episodes_before(self) -> dict[str, int]:
        """For each sample, by its uid, how many of all episodes stood in the store before it was stored itself."""
        counts, count = {}, len(self.beginning)
        for record in self.records:
            counts[record.uid] = count
            count += sum(1 for _ in episodes_of([record]))
        return counts

    @property
    def _start(self) -> StoreStart:
        start = self.samples.header.store if self.samples.header else None
        return start or StoreStart(sha256=sha256_of_lines(()))

    @cached_property
    def cards(self) -> dict[str, Scorecard]:
        """Scorecards of samples that succeeded, by uid."""
        return {card.uid: card for card in self.scorecards if card.status == "ok"}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The review texts of this cell and of the build cell of its order and seed, by uid."""
        texts: dict[str, str] = {}
        build = self.path.parent / directory_name(self.known_manifest, "build")
        if build.resolve() != self.path.resolve() and build.is_dir():
            # What is wrong with another cell is told where that cell is looked at.
            with suppress(RunDirectoryError):
                texts |= dict(CellFiles(build).own_texts())
        return texts | dict(self.own_texts())

    def own_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the uid and the text of each sample; none if the manifest cannot be read."""
        records = self.records if self.manifest is not None else ()
        return ((record.uid, self.labelled(record).sample.text) for record in records)


def rebuild_sample_files(cell: Path) -> tuple[Path, ...]:
    """Derive outputs, scorecards, traces and override decisions of a cell again; return the files.

    Raises:
        RunDirectoryError: records or data are not those of the run, or a file cannot be written.
    """
    return write_sample_files(cell, CellFiles(cell).derived)


def directory_name(manifest: Manifest, stem: str | None = None) -> str:
    """Return the name of a cell's directory.

    Args:
        manifest: of the cell.
        stem: of another cell of the same order and seed, such as `build`.
    """
    stem = stem or ("build" if manifest.is_build else manifest.condition.name)
    return cell_name(stem, order=manifest.order, seed=manifest.seed, shuffle=manifest.shuffle)


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
