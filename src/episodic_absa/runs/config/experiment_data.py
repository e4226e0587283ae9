"""The samples of an experiment's splits, with their gold kept apart from what agents see."""

import hashlib
import logging
import random
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from episodic_absa.datasets.dataset_checks import majority_polarity, placed_terms, require_unique_uids
from episodic_absa.datasets.dataset_loading import load_split
from episodic_absa.datasets.file_encoding import shown_encoding
from episodic_absa.datasets.gold_files import attach_gold, load_annotations
from episodic_absa.errors import ConfigError, DatasetError
from episodic_absa.language.counted_noun import counted
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.config.cfg_hash import sha256_of
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_paths import disallowed_paths
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.schemas.run_files.manifest import Majority
from episodic_absa.vocabulary import ProcessSplit

logger = logging.getLogger("episodic_absa.runs")


class ExperimentData:
    """The samples of all splits, read once and never changed."""

    def __init__(self, config: ExperimentConfig) -> None:
        data = config.file.data
        self._config = config
        self.paths = {split: config.resolve(path) for split, path in data.files.items()}
        roots = [config.resolve(root) for root in data.allowed_roots]
        for message, key in disallowed_paths({f"data.{split}_file": path for split, path in self.paths.items()}, roots):
            raise ConfigError(message, path=config.path, key=key)
        if len({path.resolve() for path in self.paths.values()}) < len(self.paths):
            raise ConfigError("two splits name the same file; splits must be distinct files", key="data")
        self.splits: dict[ProcessSplit, tuple[LabelledSample, ...]] = {
            split: load_split(
                path,
                data.input_format,
                split,
                text_column=data.text_column,
                gold_columns=config.file.eval.gold_columns(are_required=split == data.process_split),
            )
            for split, path in self.paths.items()
        }
        require_unique_uids({self.paths[split]: samples for split, samples in self.splits.items()})
        self.gold_path = config.resolve(config.file.eval.gold_jsonl) if config.file.eval.gold_jsonl else None
        if self.gold_path is not None:
            self.splits[data.process_split] = self._with_gold(data.process_split, self.gold_path)
        self._notice_encodings()

    def _notice_encodings(self) -> None:
        """Log which files are read in another encoding than UTF-8. XML names its own."""
        if self._config.file.data.input_format == "semeval_xml":
            return
        for path in (*self.paths.values(), *([self.gold_path] if self.gold_path else [])):
            if (name := shown_encoding(path)) is not None:
                logger.warning("%s is read as %s", path, name)

    def _with_gold(self, split: ProcessSplit, gold_path: Path) -> tuple[LabelledSample, ...]:
        annotations = load_annotations(gold_path)
        attached = attach_gold(self.splits[split], annotations)
        known = {labelled.sample.uid for samples in self.splits.values() for labelled in samples}
        unknown = [uid for uid in attached.unknown_uids if uid not in known]
        if unknown:
            raise DatasetError(
                f"{gold_path} has gold for {counted(len(unknown), 'unknown uid')}, first {unknown[0]!r}; correct "
                "the uids or remove these lines",
                path=gold_path,
            )
        return attached.samples

    def require_gold_in_texts(self) -> None:
        """Refuse gold of which more than half of the terms do not stand in their texts.

        Raises:
            DatasetError: the gold is shifted, or belongs to other texts.
        """
        split = self._config.file.data.process_split
        shift = placed_terms(self.splits[split]).shift
        if shift is not None:
            path = self.gold_path or self.paths[split]
            raise DatasetError(f"{path}: {shift}", path=path)

    def samples_of(self, cell: Cell) -> tuple[LabelledSample, ...]:
        """Return a cell's samples in its order."""
        samples = self.splits[cell.split]
        limit = None if cell.is_build else self._config.file.data.limit
        if not self._config.file.experiment.shuffle:
            # Cut first: every order has the same samples, so that orders can be compared sample by sample.
            return tuple(in_order(samples[:limit], cell.order, cell.split))
        shuffled = list(samples)
        random.Random(cell.seed).shuffle(shuffled)  # noqa: S311 - a reproducible order, not a secret
        return tuple(shuffled[:limit])

    @cached_property
    def hashes(self) -> dict[ProcessSplit, str]:
        """The sha256 of every data file."""
        return {split: sha256_of(path) for split, path in self.paths.items()}

    @property
    def majority(self) -> Majority | None:
        """The majority polarity of train gold, else of evaluation gold; None without gold."""
        train = majority_polarity(self.splits.get("train", ()))
        if train is not None:
            return Majority(polarity=train, source="train")
        evaluation = majority_polarity(self.splits[self._config.file.data.process_split])
        return Majority(polarity=evaluation, source="evaluation") if evaluation is not None else None


SampleT = TypeVar("SampleT")


def in_order(samples: Sequence[SampleT], order: int, split: str) -> list[SampleT]:
    """Return the samples in one of their orders: 0 is the order of the file, any other number a fixed permutation.

    The permutation follows from the number, the split and the places of the samples alone, by sha256: it is the same
    on every machine and in every version of Python. Samples that are added at the end of a file do not change the
    order of the others among themselves.

    Example:
        >>> "".join(in_order("abcde", 1, "valid")), "".join(in_order("abcdef", 1, "valid"))
        ('daebc', 'daebfc')
    """
    if order == 0:
        return list(samples)
    places = sorted(range(len(samples)), key=lambda place: _rank(order, split, place))
    return [samples[place] for place in places]


def _rank(order: int, split: str, place: int) -> bytes:
    return hashlib.sha256(f"{split}:{order}:{place}".encode()).digest()
