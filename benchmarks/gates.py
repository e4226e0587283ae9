"""Counts why the memory's gates open and how many samples become episodes, under rules v3.

python benchmarks/gates.py [--most 300]               # condition C2 with the embedded engine, on three dev files
python benchmarks/gates.py --run OUTPUTS_OR_CELL ...  # cells of finished runs, such as a model's

A reason counts if it opens either gate, and as *alone* if no other reason opens one. F1 is the strict score of the
final pairs, over the samples for which the reason holds and over all others. Without the public datasets nothing is
measured. Nothing is written.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from accuracy import ROOT, pairs_of, read_rows
from strict_score import Pair, explicit_pairs, strict_score

from episodic_absa import Analyzer
from episodic_absa.runs.derived.derived_samples import OUTPUTS
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.output_line import OutputMeta

sys.path.insert(0, str(ROOT / "training"))
from corpora import public_data

FILES: Final = ("mams_atsa", "mabsa_hotel_ko", "mabsa_phone_ko")


class GatedSample(NamedTuple):
    """Why the gates of one sample open, and whether it became an episode."""

    reasons: frozenset[str]
    is_stored: bool
    gold: set[Pair] | None = None
    """None for samples of a run, whose gold is not read."""
    final: set[Pair] | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description="Reasons of the memory's gates.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--most", type=int, default=300, help="samples per file")
    parser.add_argument("--run", nargs="+", type=Path, metavar="OUTPUTS", help="count in runs instead")
    given = parser.parse_args(arguments)
    if given.run:
        for path in given.run:
            print_table(str(path), of_run(path))
        return 0
    if not given.data.is_dir():
        print(f"nothing is measured: there is no {given.data}")
        return 0
    for name in FILES:
        print_table(name, of_embedded_engine(given.data / f"{name}.dev.jsonl", given.most))
    return 0


def of_embedded_engine(path: Path, most: int) -> list[GatedSample]:
    """Analyse the first samples of a file, with a memory that starts empty."""
    rows = read_rows(path)[:most]
    with tempfile.TemporaryDirectory() as folder, Analyzer(condition="C2", store=Path(folder) / "s.jsonl") as analyzer:
        results = [analyzer.analyze(row["text"], uid=row["uid"], language_code=row["language"]) for row in rows]
    return [
        GatedSample(
            reasons_of(result.memory),
            result.store.store_decision == "stored",
            explicit_pairs(row["gold_tuples"]),
            pairs_of(result.final_result.final_tuples),
        )
        for row, result in zip(rows, results, strict=True)
    ]


def of_run(path: Path) -> list[GatedSample]:
    """Read the samples of a finished cell that did not fail."""
    rows = read_rows(path / OUTPUTS if path.is_dir() else path)
    metas = [OutputMeta.model_validate(row["meta"]) for row in rows]
    return [
        GatedSample(reasons_of(meta.memory), meta.store_decision == "stored")
        for meta in metas
        if meta.memory is not None
    ]


def reasons_of(memory: MemoryMeta) -> frozenset[str]:
    """Return the reasons of both gates."""
    return frozenset((*memory.injection_trigger_reasons, *memory.stage2_memory_gate_reasons))


def print_table(title: str, samples: Sequence[GatedSample]) -> None:
    """Print how often each reason opens a gate, in all and alone, and how many samples are stored."""
    opened = [sample for sample in samples if sample.reasons]
    in_all = Counter(reason for sample in opened for reason in sample.reasons)
    alone = Counter(reason for sample in opened for reason in sample.reasons if len(sample.reasons) == 1)
    print(f"{title}: {len(samples)} samples, a gate opens for {_share(opened, samples)}")
    for reason, count in in_all.most_common():
        scores = " / ".join(
            _f1([sample for sample in samples if (reason in sample.reasons) is holds]) for holds in (True, False)
        )
        print(f"  {reason:28} {count:5}  alone {alone[reason]:5}  F1 {scores}")
    stored = [sample for sample in opened if sample.is_stored]
    print(
        f"  stored {sum(sample.is_stored for sample in samples)}; of those with a gate signal {_share(stored, opened)}"
    )


def _f1(samples: Iterable[GatedSample]) -> str:
    scored = [(sample.gold, sample.final) for sample in samples if sample.gold is not None and sample.final is not None]
    return f"{strict_score([gold for gold, _ in scored], [final for _, final in scored]).f1:.3f}" if scored else "-"


def _share(part: Sequence[GatedSample], whole: Iterable[GatedSample]) -> str:
    total = len(tuple(whole))
    return f"{len(part)} ({len(part) / total:.0%})" if total else "0"


if __name__ == "__main__":
    sys.exit(main())
