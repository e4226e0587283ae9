"""Small grids of reviews whose order matters to memory, and repliers that finish out of order, fail, or count."""

import asyncio
import csv
import hashlib
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from episodic_absa.analysis import derive_tables, load_run
from episodic_absa.backends.backend import RepairingBackend, Replier, Reply, Request
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.errors import BackendUnavailableError
from episodic_absa.runs.config import ExperimentConfig, load_experiment
from episodic_absa.runs.derived.derived_samples import OUTPUTS, OVERRIDE_DEBUG, SCORECARDS
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.run_directory import STORE
from episodic_absa.runs.samples_file import SAMPLES

SHIPPED = Path(__file__).resolve().parents[2] / "experiments" / "data"
EXACT_FILES = (SAMPLES, OUTPUTS, SCORECARDS, STORE, OVERRIDE_DEBUG)
CONDITIONS = ("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen")
# In this order early episodes show up in later prompts; a few plain reviews with closed gates stand between.
VALID = (
    "en-phone-1 ko-sight-4 en-sight-5 ko-course-5 en-delivery-4 en-hotel-6 ko-phone-5 en-phone-5 "
    "ko-hotel-5 en-course-5 ko-hotel-6 ko-sight-6 ko-phone-4 en-sight-3 en-restaurant-2 ko-restaurant-3"
)
TRAIN = "ko-sight-4 ko-hotel-5 en-course-3 en-course-5 en-phone-4"


def write_experiment(folder: Path, **changes: Mapping[str, Any] | str) -> Path:
    """Lay out data and config below `folder`; `changes` are merged into the blocks of the config."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    for split, names in (("train", TRAIN), ("valid", VALID)):
        wanted = [f"{split}-{name}" for name in names.split()]
        with open(SHIPPED / f"{split}.csv", encoding="utf-8", newline="") as file:
            rows = {row["uid"]: row for row in csv.DictReader(file)}
        with open(data / f"{split}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[wanted[0]]))
            writer.writeheader()
            writer.writerows(rows[uid] for uid in wanted)
    gold = (SHIPPED / "valid.gold.jsonl").read_text("utf-8").splitlines()
    kept = [line for line in gold if json.loads(line)["uid"].removeprefix("valid-") in VALID.split()]
    (data / "valid.gold.jsonl").write_text("\n".join(kept) + "\n", "utf-8")
    config: dict[str, Any] = {
        "run_id": "grid",
        "out": "results",
        "data": {
            "input_format": "csv",
            "allowed_roots": ["."],
            "train_file": "data/train.csv",
            "valid_file": "data/valid.csv",
            "process_split": "valid",
        },
        "eval": {"gold_jsonl": "data/valid.gold.jsonl"},
        "episodic_memory": {"conditions_path": "v1_3", "build": {"split": "train", "condition": "C2_silent"}},
        "experiment": {"conditions": list(CONDITIONS), "seeds": [42], "concurrency": 7, "comparisons": []},
        "cache": {"path": "cache.sqlite"},
    }
    for key, value in changes.items():
        config[key] = {**config.get(key, {}), **value} if isinstance(value, Mapping) else value
    path = folder / "grid.yaml"
    path.write_text(json.dumps(config), "utf-8")  # JSON is YAML
    return path


def exact_bytes(out: Path) -> dict[str, bytes]:
    """Return what must be equal, byte for byte, by path below the grid's directory."""
    found = {
        str(path.relative_to(out)): path.read_bytes()
        for cell in sorted(out.iterdir())
        for name in EXACT_FILES
        if (path := cell / name).exists()
    }
    assert found
    return found


def run_here(path: Path, replier: Replier | None = None, *, with_tables: bool = True) -> ExperimentConfig:
    """Run a grid in this process and derive its tables; the embedded engine answers unless a replier is given."""
    config = load_experiment(path)
    asyncio.run(run_cells(config, backend=RepairingBackend(replier or EmbeddedReplier())))
    if with_tables:
        derive_tables(load_run(config.out_dir))
    return config


def outputs_of(cell: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (cell / OUTPUTS).read_text("utf-8").splitlines()]


def pairs_of(cell: Path) -> list[list[tuple[str, str]]]:
    """Return the final pairs of each sample: how sure they are depends on the kind of the backend."""
    results = [line["final_result"] for line in outputs_of(cell)]
    return [[(pair["aspect_term"], pair["polarity"]) for pair in result["final_tuples"]] for result in results]


class Around(PassedOnFacts):
    """The embedded engine, or another replier, with something around it."""

    def __init__(self, replier: Replier | None = None) -> None:
        self._replier = replier or EmbeddedReplier()
        super().__init__(self._replier)

    async def reply(self, request: Request) -> Reply:
        return await self._replier.reply(request)

    async def close(self) -> None:
        await self._replier.close()


class Scrambled(Around):
    """Takes a random time for each answer, so that samples overtake each other."""

    def __init__(self, seed: int, *, longest_s: float = 0.006, replier: Replier | None = None) -> None:
        super().__init__(replier)
        self._chance = random.Random(seed)
        self._longest_s = longest_s
        self.under_way = 0
        self.most_debating = 0

    async def reply(self, request: Request) -> Reply:
        debating = request.ask.role in ("epm", "tan", "cj", "judge")
        self.under_way += debating
        self.most_debating = max(self.most_debating, self.under_way)
        try:
            # Mostly short and sometimes long: the latter are overtaken by many.
            await asyncio.sleep(self._longest_s * self._chance.random() ** 4)
            return await self._replier.reply(request)
        finally:
            self.under_way -= debating


class Failing(Around):
    """Fails for chosen requests."""

    def __init__(self, fails: Callable[[Request], bool], replier: Replier | None = None) -> None:
        super().__init__(replier)
        self._fails = fails

    async def reply(self, request: Request) -> Reply:
        if self._fails(request):
            raise BackendUnavailableError("a SECRET-MESSAGE from a server", backend=self.name, kind="provider_error")
        return await self._replier.reply(request)


class Remembering(Around):
    """Keeps what was answered by prompt, for a server that is to answer alike."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}

    async def reply(self, request: Request) -> Reply:
        reply = await self._replier.reply(request)
        self.texts[prompt_key(request.ask.prompt.system, request.user_text)] = reply.text
        return reply


def prompt_key(system: str, user: str) -> str:
    """Tell prompts apart; where the schema stands in the instructions it is left out."""
    bare = system.split("\n\nAnswer with one JSON object that fits this schema")[0]
    return hashlib.sha256(f"{bare}\0{user}".encode()).hexdigest()
