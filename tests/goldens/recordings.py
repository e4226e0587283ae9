"""Recordings that version 0.2 made with a real model, and what their replay ends with.

`backbone.record` wrote the answers of Qwen2.5-Coder-1.5B-Instruct (4 bit, temperature 0) under C1 and C2 of both rule
sets. C2_silent and C2_eval_only send the requests of C1. Every store began empty.
"""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.goldens.files import HERE, Cells
from tests.goldens.grids import GRIDS, NotedRequests, uids_of
from tests.goldens.lines import Line

from episodic_absa import Analyzer
from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.replay import ReplayReplier

RECORDINGS: Final = HERE / "recordings"
REVIEWS: Final = RECORDINGS / "reviews.csv"
"""Reviews of ours; `rules` names the rule sets that were recorded with them."""
PAIRS: Final = RECORDINGS / "final_pairs.json"
UNSEEN: Final = ("C1", "C2_silent", "C2_eval_only")
CONDITIONS: Final[Mapping[str, Sequence[str]]] = {"seed": ("C1", "C2", *UNSEEN[1:]), "default": UNSEEN}
"""Under the default rules advice tells of past decisions: C2 asks what version 0.2 did not."""
SEED: Final = 42
_LINE: Final = "final_pairs"


def replay(rules: str, folder: Path) -> tuple[dict[str, list[Line]], NotedRequests]:
    """Replay the recording of a rule set under each condition; return the final pairs, and what was asked.

    Raises:
        BackendUnavailableError: a request is not one of those that were recorded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recording = folder / f"{rules}.jsonl"
    recording.write_bytes(gzip.decompress((RECORDINGS / f"{rules}.jsonl.gz").read_bytes()))
    noted = NotedRequests(ReplayReplier(recording), uids_of(REVIEWS), has_trouble=False)
    cells = {
        f"recorded.{rules}.{condition}": [
            Line(_LINE, uid, pairs)
            for uid, pairs in final_pairs(noted, rules, condition, folder / f"{condition}.jsonl").items()
        ]
        for condition in CONDITIONS[rules]
    }
    return cells, noted


def final_pairs(replier: NotedRequests, rules: str, condition: str, store: Path) -> dict[str, list[str]]:
    """Analyse the reviews one after another; return the final pairs of each by its uid."""
    with (
        open(REVIEWS, encoding="utf-8", newline="") as rows,
        Analyzer(
            backend=RepairingBackend(replier),
            condition=condition,
            conditions=GRIDS[rules]["conditions_path"],
            store=store,
            seed=SEED,
        ) as analyzer,
    ):
        results = {
            row["uid"]: analyzer.analyze(row["text"], language_code=row["language_code"], uid=row["uid"])
            for row in csv.DictReader(rows)
            if rules in row["rules"].split()
        }
    return {uid: [f"{aspect.term}: {aspect.polarity}" for aspect in result.aspects] for uid, result in results.items()}


FOLLOWING: Final = "stage2_validator"
"""Its questions follow from decisions, in which the reader has a voice; the recordings heard an earlier reader."""


def recorded_keys(rules: str) -> set[str]:
    """Return the keys of all recorded requests of a rule set, but for those that follow from decisions."""
    lines = gzip.decompress((RECORDINGS / f"{rules}.jsonl.gz").read_bytes()).splitlines()
    return {line["key"] for line in map(json.loads, lines) if line["role"] != FOLLOWING}


def read_pairs(rules: str) -> dict[str, list[Line]]:
    """Return the committed final pairs of a rule set."""
    cells: Mapping[str, Mapping[str, list[str]]] = json.loads(PAIRS.read_text("utf-8"))
    return {
        cell: [Line(_LINE, uid, pairs) for uid, pairs in reviews.items()]
        for cell, reviews in cells.items()
        if cell.split(".")[1] == rules
    }


def write_pairs(cells: Cells) -> None:
    """Write final pairs in place of those of the same cells."""
    written = json.loads(PAIRS.read_text("utf-8"))
    written |= {cell: {line.name: line.value for line in lines} for cell, lines in cells.items()}
    PAIRS.write_text(json.dumps(dict(sorted(written.items())), ensure_ascii=False, indent=1) + "\n", "utf-8")
