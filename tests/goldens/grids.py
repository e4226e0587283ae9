"""The runs that goldens are made of: every rule set, its conditions, Korean and English, through `run_experiment`."""

import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from tests.goldens.lines import Line, lines_of_csv, lines_of_jsonl

from episodic_absa import run_experiment
from episodic_absa.backends.backend import RepairingBackend, Replier, Reply, Request, Usage
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.cache.caching_replier import compute_request_key
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.errors import BackendUnavailableError
from episodic_absa.vocabulary import Role

HERE: Final = Path(__file__).parent
DATA: Final = HERE / "data"
CONDITIONS: Final = ("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen")
GRIDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "seed": {"conditions_path": "v1_3", "conditions": CONDITIONS},
    "default": {
        "conditions_path": "v3_0",
        "conditions": (*CONDITIONS, "reader_only", "adaptive", "one_call_votes", "C2_trial"),
    },
}
"""Both rule sets. Of the arms of the default rules those that share least with the five conditions."""
TABLES: Final = ("structural_metrics.csv", "triptych.csv", "changed_samples.csv", "memory_growth.jsonl")
RECORDS: Final = (
    "outputs.jsonl",
    "scorecards.jsonl",
    "traces.jsonl",
    "override_gate_debug.jsonl",
    "episodic_store.jsonl",
)
GRID_TABLES: Final = ("grid_metrics.csv", "comparisons.csv")
KEYS: Final = "request_keys"
_ROLES: Final[tuple[str, ...]] = get_args(Role)
UNREADABLE: Final = ("epm", "valid-en-phone-1")
"""The first answer to this question about this review is no JSON: the second attempt holds the schema in words."""
UNANSWERED: Final = ("judge", "valid-ko-course-6")
"""This question fails, and the sample with it."""


class NotedRequests(PassedOnFacts):
    """Notes the key of every request; two questions are in trouble where a replier is to have some."""

    def __init__(self, replier: Replier, uids: Mapping[str, str], *, has_trouble: bool) -> None:
        super().__init__(replier)
        self._replier = replier
        self._uids = uids
        self._has_trouble = has_trouble
        self.keys: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
        """Role and key of every request, by condition and review."""
        self.unanswered: list[str] = []
        """The questions that got no answer."""

    async def reply(self, request: Request) -> Reply:
        ask = request.ask
        uid = self._uids[ask.inputs.text]
        self.keys[ask.condition][uid].append((ask.role, compute_request_key(request)))
        if self._has_trouble and (ask.role, uid) == UNREADABLE and request.attempt == 1:
            return Reply("I would rather not say.", Usage(), self.name)
        if self._has_trouble and (ask.role, uid) == UNANSWERED:
            raise BackendUnavailableError("no server is there", backend=self.name, kind="provider_error")
        try:
            return await self._replier.reply(request)
        except BackendUnavailableError:
            self.unanswered.append(f"{ask.condition}: {ask.role} about {uid}")
            raise

    async def close(self) -> None:
        await self._replier.close()

    def lines(self, condition: str, uids: Sequence[str]) -> list[Line]:
        """Return the keys of each review in the order of the roles, which does not depend on who was asked first."""
        asked = self.keys[condition]
        return [
            Line(KEYS, uid, sorted((list(key) for key in asked[uid]), key=lambda key: _ROLES.index(key[0])))
            for uid in uids
            if uid in asked
        ]


def uids_of(file: Path) -> dict[str, str]:
    """Return the uids of a data file by text, in the order of the file."""
    with open(file, encoding="utf-8", newline="") as rows:
        return {row["text"]: row["uid"] for row in csv.DictReader(rows)}


def run_grid(name: str, folder: Path) -> dict[str, list[Line]]:
    """Run a grid with the embedded engine below a folder; return the lines of each golden that it makes, by name."""
    grid = GRIDS[name]
    config = {
        "run_id": name,
        "out": "results",
        "data": {
            "input_format": "csv",
            "allowed_roots": [str(DATA)],
            "train_file": str(DATA / "train.csv"),
            "valid_file": str(DATA / "valid.csv"),
            "process_split": "valid",
        },
        "eval": {"gold_jsonl": str(DATA / "valid.gold.jsonl")},
        "episodic_memory": {
            "conditions_path": grid["conditions_path"],
            "build": {"split": "train", "condition": "C2_silent"},
        },
        "experiment": {
            "conditions": list(grid["conditions"]),
            "seeds": [42],
            "comparisons": [["C2", "C1"], ["C2_frozen", "C1"]],
        },
        "cache": {"path": "cache.sqlite"},
    }
    uids = uids_of(DATA / "train.csv") | uids_of(DATA / "valid.csv")
    replier = NotedRequests(EmbeddedReplier(), uids, has_trouble=True)
    return run_and_read(config, folder, replier, list(uids.values()))


def run_and_read(
    config: Mapping[str, Any], folder: Path, replier: NotedRequests, uids: Sequence[str]
) -> dict[str, list[Line]]:
    """Run an experiment and return the lines of each golden: one for each cell, one for the tables of the grid."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{config['run_id']}.yaml"
    path.write_text(json.dumps(config), "utf-8")  # JSON is YAML
    run = run_experiment(path, use_cache_file=False, backend=RepairingBackend(replier))
    goldens = {f"{config['run_id']}.tables": _lines_in(run.path, GRID_TABLES)}
    for cell in run.cells:
        lines = [*_lines_in(cell.path, (*RECORDS, *TABLES)), *replier.lines(cell.condition, uids)]
        goldens[f"{config['run_id']}.{cell.condition}"] = lines
    return goldens


def _lines_in(folder: Path, names: Sequence[str]) -> list[Line]:
    present = [folder / name for name in names if (folder / name).is_file()]
    return [
        line for path in present for line in (lines_of_csv(path) if path.suffix == ".csv" else lines_of_jsonl(path))
    ]
