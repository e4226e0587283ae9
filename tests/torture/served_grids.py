"""Grids that ask a loopback server, and honest answers for it: what the embedded engine says to the same prompts."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.runs.small_grid import Remembering, exact_bytes, outputs_of, prompt_key, write_experiment
from tests.torture.misbehaving_server import Prompt

from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.failure_causes import read_failures
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress

GRID = Path("results") / "grid"
_LISTS = ("terms", "pairs", "judgements", "targets", "wrong", "decisions", "verdicts", "add", "risks")
_NOTHING_TO_SAY = json.dumps({**{name: [] for name in _LISTS}, "better": "equal"})


@dataclass
class HonestModel:
    """Says what the embedded engine says: to known prompts the same, to any other what it says about the review.

    What the engine was never asked about a review, because other answers led there, is answered with empty lists.
    """

    texts: Mapping[str, str]
    by_review: Mapping[tuple[str, str], str]
    """By the instructions and the review, for prompts with another memory in them."""
    reviews: Sequence[str]
    roles: Mapping[str, str]
    """By the instructions."""

    def __call__(self, prompt: Prompt) -> str:
        known = self.texts.get(prompt_key(prompt.system, prompt.first_user))
        if known is not None:
            return known
        return self.by_review.get((_system_key(prompt.system), self.review_of(prompt)), _NOTHING_TO_SAY)

    def role_of(self, prompt: Prompt) -> str:
        """Return which role asks."""
        return self.roles[_system_key(prompt.system)]

    def review_of(self, prompt: Prompt) -> str:
        """Return the review that a prompt is about."""
        written = prompt.first_user
        return next((text for text in self.reviews if text in written or _in_json(text) in written), "")


class _RememberingReviews(Remembering):
    """Remembers the answers by review as well."""

    def __init__(self) -> None:
        super().__init__()
        self.by_review: dict[tuple[str, str], str] = {}
        self.roles: dict[str, str] = {}

    async def reply(self, request: Request) -> Reply:
        reply = await super().reply(request)
        instructions = _system_key(request.ask.prompt.system)
        self.roles[instructions] = request.ask.role
        self.by_review.setdefault((instructions, request.ask.inputs.text), reply.text)
        return reply


def _system_key(system: str) -> str:
    return hashlib.sha256(system.split("\n\nAnswer with one JSON object that fits this schema")[0].encode()).hexdigest()


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


@dataclass(frozen=True)
class ServedGrid:
    """A grid on disk, ready to ask a server."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "grid.yaml"

    @property
    def out(self) -> Path:
        return self.folder / GRID

    def run(self, *, keep_failures: bool = False) -> GridProgress:
        """Run in this process what is not done yet; an error that stops the run is raised."""
        return asyncio.run(run_cells(load_experiment(self.config), keep_failures=keep_failures))

    def exact_bytes(self) -> dict[str, bytes]:
        return exact_bytes(self.out)

    def cells(self) -> list[Path]:
        return sorted(path for path in self.out.iterdir() if path.is_dir())

    def failed_n(self) -> int:
        return sum(line["status"] == "error" for cell in self.cells() for line in outputs_of(cell))

    def failures(self) -> list[str]:
        return [message for cell in self.cells() for message in read_failures(cell)]


def served_grid(folder: Path, base_url: str, arms: Sequence[str], **changes: Mapping[str, Any]) -> ServedGrid:
    """Lay out a grid whose model is behind an address; changes are merged into the blocks of its config."""
    blocks: dict[str, dict[str, Any]] = {
        "backbone": {"provider": "openai", "model": "m", "base_url": base_url, "retry_base_s": 0.001},
        "experiment": {"conditions": list(arms), "max_failures": 10**6},
        "episodic_memory": {"conditions_path": "v3_0"},
    }
    for name, block in changes.items():
        blocks[name] = {**blocks.get(name, {}), **block}
    write_experiment(folder, **blocks)
    return ServedGrid(folder)


def honest_model(folder: Path, arms: Sequence[str], **changes: Mapping[str, Any]) -> HonestModel:
    """Run the grid with the embedded engine and return its answers; the folder keeps what it wrote."""
    blocks: dict[str, dict[str, Any]] = {
        "experiment": {"conditions": list(arms)},
        "episodic_memory": {"conditions_path": "v3_0"},
    }
    for name, block in changes.items():
        blocks[name] = {**blocks.get(name, {}), **block}
    config = load_experiment(write_experiment(folder, **blocks))
    engine = _RememberingReviews()
    asyncio.run(run_cells(config, backend=RepairingBackend(engine)))
    reviews = {review for _, review in engine.by_review}
    # A short review may be part of a longer one.
    return HonestModel(engine.texts, engine.by_review, sorted(reviews, key=len, reverse=True), engine.roles)
