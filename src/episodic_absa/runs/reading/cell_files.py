"""Reads the files of one cell without trusting them; what cannot be read is a problem, never an exception."""

import json
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from episodic_absa.runs.config.cell_name import cell_name
from episodic_absa.runs.config.store_path import filled_store_path
from episodic_absa.runs.reading.jsonl_file import JsonlFile, read_jsonl_file, read_store_file
from episodic_absa.runs.run_directory import (
    JOURNAL,
    MANIFEST,
    OUTPUTS,
    OVERRIDE_DEBUG,
    SCORECARDS,
    STORE,
    TRACES,
)
from episodic_absa.schemas.memory_v1_2 import (
    AnyEpisode,
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    is_header_line,
)
from episodic_absa.schemas.run_files.journal_line import JournalLine
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.schemas.run_files.override_decision import OverrideDecisionLine
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.schemas.run_files.trace_line import TraceLine
from episodic_absa.serialization.validation_reasons import reasons_of


class CellFiles:
    """The files of one cell directory, each read when it is first asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest, self.manifest_problem = read_manifest(path / MANIFEST)

    @cached_property
    def outputs(self) -> JsonlFile[OutputLine]:
        """outputs.jsonl."""
        return read_jsonl_file(self.path / OUTPUTS, OutputLine)

    @cached_property
    def scorecards(self) -> JsonlFile[Scorecard]:
        """scorecards.jsonl; cards of version 0.1 get the order of their cell."""
        cards = read_jsonl_file(self.path / SCORECARDS, Scorecard)
        if self.manifest is None:
            return cards
        return replace(cards, values=tuple(card and self.manifest.in_its_order(card) for card in cards.values))

    @cached_property
    def traces(self) -> JsonlFile[TraceLine]:
        """traces.jsonl."""
        return read_jsonl_file(self.path / TRACES, TraceLine)

    @cached_property
    def journal(self) -> JsonlFile[JournalLine]:
        """journal.jsonl."""
        return read_jsonl_file(self.path / JOURNAL, JournalLine)

    @cached_property
    def decisions(self) -> JsonlFile[OverrideDecisionLine]:
        """override_gate_debug.jsonl."""
        return read_jsonl_file(self.path / OVERRIDE_DEBUG, OverrideDecisionLine, required=False)

    @property
    def known_manifest(self) -> Manifest:
        """The manifest of a cell that has a readable one."""
        if self.manifest is None:
            raise ValueError(self.manifest_problem)
        return self.manifest

    @cached_property
    def manifest_object(self) -> Any:
        """The parsed JSON of the manifest, with keys that the model does not know."""
        return json.loads((self.path / MANIFEST).read_bytes())

    @cached_property
    def config_root(self) -> Path | None:
        """The folder of the config file; None if no config file stands where this directory implies."""
        manifest, grid = self.known_manifest, self.path.resolve().parent
        climbs = ".." in manifest.config.out.parts
        for parent in grid.parents[: len(manifest.config.out.parts) + 1]:
            # If `out` climbs (../results), the config stands in a folder beside the results.
            beside = sorted(folder for folder in parent.iterdir() if folder.is_dir()) if climbs else []
            for root in (parent, *beside):
                out_dir = root / manifest.config.out / manifest.run_id
                if (root / manifest.config_path).is_file() and out_dir.resolve() == grid:
                    return root
        return None

    def resolve(self, path: Path) -> Path | None:
        """Return the absolute place of a configured path; None if the config file is out of reach."""
        if path.is_absolute():
            return path
        return self.config_root / path if self.config_root else None

    @cached_property
    def store_path(self) -> Path | None:
        """The path of the cell's store; None if it is unknown."""
        manifest = self.known_manifest
        pattern = manifest.config.episodic_memory.store_path
        if pattern is None or manifest.is_build:
            return self.path / STORE
        return self.resolve(Path(filled_store_path(pattern, manifest.condition.name, manifest.repetition)))

    @cached_property
    def store(self) -> JsonlFile[StoreLine]:
        """The lines of the store: episodes, tallies and verdicts; empty if the cell has none."""
        if self.store_path is None or not self.store_path.exists():
            return JsonlFile()
        if self.store_path.resolve().is_relative_to(self.path.resolve()):
            return read_store_file(self.store_path, required=False)
        # Others may append to a store outside the run directory; those lines are not this run's.
        last = max((entry.store_size or 0 for entry in self.journal.valid()), default=0)
        return read_store_file(self.store_path, size=last, required=False)

    @cached_property
    def episodes(self) -> tuple[AnyEpisode | None, ...]:
        """For each line of the store its episode; None where the line is bad or no episode."""
        return tuple(
            None if value is None or isinstance(value, TallyV1_2 | VerdictV1_2) else value
            for value in self.store.values
        )

    @property
    def all_episodes(self) -> tuple[AnyEpisode, ...]:
        """The episodes of the store, oldest first."""
        return tuple(episode for episode in self.episodes if episode is not None)

    def episodes_before(self, place: int) -> int:
        """Return how many episodes stand before a position of the store's lines."""
        return self._episode_counts[place]

    @cached_property
    def _episode_counts(self) -> tuple[int, ...]:
        return tuple(accumulate((episode is not None for episode in self.episodes), initial=0))

    @cached_property
    def committed(self) -> tuple[range, ...]:
        """For each journalled sample, the positions of the store lines that it added."""
        ends = [self.store.count_until(entry.store_size or 0) for entry in self.journal.valid()]
        return tuple(map(range, [self.start_lines, *ends], ends))

    @cached_property
    def start_lines(self) -> int:
        """How many lines the store held before the first sample was committed."""
        first = next(self.journal.valid(), None)
        if first is None:
            return 0
        card = next((card for card in self.scorecards.valid() if card.uid == first.uid), None)
        end = self.store.count_until(first.store_size or 0)
        start = max(0, end - (self.added_n(card) if card else 0))
        # The first line that is stored brings the header with it.
        return 0 if start == 1 and is_header_line(self.store.raw[0]) else start

    def added_n(self, card: Scorecard) -> int:
        """Return how many lines a sample adds to the store: its episode, and under rules v3 its tally."""
        condition = self.known_manifest.condition
        is_tallied = condition.store_write and condition.rules == "v3" and card.status == "ok"
        return (card.store_decision == "stored") + is_tallied

    @cached_property
    def cards(self) -> dict[str, Scorecard]:
        """Scorecards of samples that succeeded, by uid."""
        return {card.uid: card for card in self.scorecards.valid() if card.status == "ok"}

    @cached_property
    def traces_by_uid(self) -> dict[str, TraceLine]:
        """Traces, by uid."""
        return {trace.case_trace.case_id: trace for trace in self.traces.valid()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The review texts of this cell and of the build cell of its order and seed, by uid."""
        texts: dict[str, str] = {}
        build = self.path.parent / directory_name(self.known_manifest, "build")
        if build.resolve() != self.path.resolve() and build.is_dir():
            texts |= {uid: trace.text for uid, trace in CellFiles(build).traces_by_uid.items()}
        return texts | {uid: trace.text for uid, trace in self.traces_by_uid.items()}


def directory_name(manifest: Manifest, stem: str | None = None) -> str:
    """Return the name of a cell's directory.

    Args:
        manifest: of the cell.
        stem: of another cell of the same order and seed, such as `build`.
    """
    stem = stem or ("build" if manifest.is_build else manifest.condition.name)
    return cell_name(stem, order=manifest.order_id, seed=manifest.seed, shuffle=manifest.shuffle)


def read_manifest(path: Path) -> tuple[Manifest | None, str]:
    """Return the manifest, or None and what is wrong with the file."""
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
        _ = manifest.config
    except OSError as error:
        return None, f"{path.name}: {error.strerror}"
    except ValidationError as error:
        is_other_file = any(not problem["loc"] for problem in error.errors(include_url=False, include_input=False))
        reasons = "not a JSON object with the keys of a manifest" if is_other_file else reasons_of(error)
        return None, f"{path.name}: {reasons}"
    return manifest, ""
