"""Measures whether confidence is a probability: about 70 % of the pairs with confidence .7 should be right.

python benchmarks/calibration.py                                              # the reader, and readers of unknown kinds
python benchmarks/calibration.py --run OUTPUTS_OR_RUN_DIR GOLD [--run ...]    # finished runs, such as a model's

The shipped reader is measured on the dev texts of every corpus; its tables were fitted on them. The check that counts
is stricter: for each corpus a reader was trained without it, and its committed readings of that corpus
(training/reader/readings) get their probabilities from a table that the other corpora fit. So neither weights nor table
have seen a text of the kind. A pair is right if term and polarity are both in the gold; candidates that the reader
does not name are left out, and so are opinions without a target. No test file is read. Without the public datasets
nothing is measured.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from accuracy import ASPECTS, LATEST, ROOT, read_pairs, read_rows
from reliability import JudgedPair, expected_calibration_error, reliability_table, summary
from reliability_plot import Panel, reliability_plot
from strict_score import Pair, explicit_pairs

from episodic_absa.reader.calibration import MonotoneMap
from episodic_absa.reader.reader import default_reader
from episodic_absa.runs.derived.derived_samples import OUTPUTS
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.vocabulary import Language

sys.path.insert(0, str(ROOT / "training"))
sys.path.insert(0, str(ROOT / "training" / "reader"))
from corpora import public_data
from evaluate import TAU, averaged, by_pair, fit_table
from reading import read_lines

PLOT: Final = ROOT / "docs" / "images" / "reliability.svg"
READINGS: Final = ROOT / "training" / "reader" / "readings"
FILES: Final[dict[str, Language]] = {dataset.name: dataset.language for dataset in ASPECTS}
LANGUAGES: Final[dict[Language, str]] = {"en": "English", "ko": "Korean"}
MOSTLY_IMPLICIT: Final = "food"
"""Its gold marks most opinions as implicit though the text names the target: right pairs would count as wrong."""


class Source(NamedTuple):
    """A dev text and its gold."""

    file: str
    text: str
    gold: set[Pair]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write down; return the exit code."""
    parser = argparse.ArgumentParser(description="Reliability of the confidence of pairs.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument(
        "--run", nargs=2, action="append", type=Path, metavar=("OUTPUTS", "GOLD"), help="measure runs instead"
    )
    parser.add_argument("--readings", type=Path, default=READINGS, help="readings of readers that left a corpus out")
    parser.add_argument("--plot", type=Path, help="where the plot goes; for runs there is none unless it is named")
    parser.add_argument("--latest", type=Path, default=LATEST, help="where figures of the reader go")
    given = parser.parse_args(arguments)
    if given.run:
        return measure_runs(given.run, given.plot)
    if not given.data.is_dir():
        print(f"calibration: skipped, there is no data at {given.data}")
        return 0
    missing = [file for file in FILES if not (given.data / f"{file}.dev.jsonl").exists()]
    if missing:
        print(f"calibration: skipped, {given.data} lacks the dev files of {', '.join(missing)}")
        return 0
    sources = {
        row["uid"]: Source(file, row["text"], explicit_pairs(row["gold_tuples"]))
        for file in FILES
        for row in read_rows(given.data / f"{file}.dev.jsonl")
    }
    figures, panels = measured("known", shipped_pairs(sources))
    unknown, more = measured("unknown", left_out_pairs(sources, given.readings))
    known = json.loads(given.latest.read_text()) if given.latest.exists() else {}
    written = {**known, "calibration": {"known": figures, "unknown": unknown}}
    given.latest.write_text(json.dumps(written, indent=2, sort_keys=True) + "\n")
    write_plot(given.plot or PLOT, more or panels)
    return 0


def measured(kind: str, judged: Mapping[str, Sequence[JudgedPair]]) -> tuple[dict[str, Any], list[Panel]]:
    """Return the figures of each file and language, and one panel per language."""
    figures: dict[str, Any] = {file: show(f"{file}, {kind} kind", pairs) for file, pairs in judged.items()}
    panels: list[Panel] = []
    for language, name in LANGUAGES.items():
        files = [file for file in judged if FILES[file] == language and MOSTLY_IMPLICIT not in file]
        pairs = [pair for file in files for pair in judged[file]]
        if pairs:
            figures[language] = {**show(f"{name}, {kind} kind, without food", pairs), "table": show_table(pairs)}
            panels += panels_of([(name, pairs)])
    return figures, panels


def shipped_pairs(sources: Mapping[str, Source]) -> dict[str, list[JudgedPair]]:
    """Return the pairs that the shipped reader names in each file."""
    judged: dict[str, list[JudgedPair]] = {}
    for file, language in FILES.items():
        members = [source for source in sources.values() if source.file == file]
        readings = default_reader().read_many((source.text for source in members), language)
        judged[file] = [
            JudgedPair(pair.p, read_pairs(reading._replace(pairs=(pair,))) <= source.gold)
            for source, reading in zip(members, readings, strict=True)
            for pair in reading.pairs
        ]
    return judged


def left_out_pairs(sources: Mapping[str, Source], folder: Path) -> dict[str, list[JudgedPair]]:
    """Return the pairs of each file by readers that never saw its corpus, calibrated on the other corpora."""
    scored: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for path in sorted(folder.glob("*.jsonl.gz")):
        for line in read_lines(path):
            source = sources.get(line["uid"])
            if source is not None and line["tag"] == "no_tag":
                best = averaged([by_pair(source.text, line["pairs"])], [1.0])
                scored[source.file] += [(p, pair in source.gold) for pair, p in best.items()]
    judged = {}
    for file, pairs in scored.items():
        others = [
            pair
            for other, found in scored.items()
            if other != file and FILES[other] == FILES[file] and MOSTLY_IMPLICIT not in other
            for pair in found
        ]
        scores, shares = fit_table(others)
        probability = MonotoneMap(tuple(scores), tuple(shares))
        judged[file] = [JudgedPair(probability(p), is_right) for p, is_right in pairs if p >= TAU]
    return judged


def measure_runs(runs: Sequence[tuple[Path, Path]], plot: Path | None) -> int:
    """Print the figures of finished runs; nothing is written but the plot, if one is asked for."""
    groups = []
    for place, gold_file in runs:
        gold = {str(row["uid"]): explicit_pairs(row["gold_tuples"]) for row in read_rows(gold_file)}
        outputs = outputs_of(place)
        if not outputs:
            print(f"calibration: {place} holds no {OUTPUTS}; name it, the folder of a cell or of a grid")
            return 1
        for path in outputs:
            name = path.parent.name if path.name == OUTPUTS else path.stem
            show(f"{name}, Stage1", list(recorded_pairs(path, gold, "stage1_tuples")))
            pairs = list(recorded_pairs(path, gold, "final_tuples"))
            show(f"{name}, final", pairs)
            show_table(pairs)
            groups.append((name, pairs))
    if plot is not None:
        write_plot(plot, panels_of(groups))
    return 0


def outputs_of(place: Path) -> list[Path]:
    """Return the outputs of a run: the file itself, or those of one cell or of all cells of a grid."""
    if place.is_file():
        return [place]
    own = place / OUTPUTS
    cells = sorted(path for path in place.glob(f"*/{OUTPUTS}") if not path.parent.name.startswith("build__"))
    return [own] if own.is_file() else cells


def recorded_pairs(
    outputs: Path, gold: Mapping[str, set[Pair]], stage: Literal["stage1_tuples", "final_tuples"]
) -> Iterator[JudgedPair]:
    """Yield the pairs of every sample that succeeded and has gold."""
    for row in read_rows(outputs):
        if row["status"] == "ok" and row["uid"] in gold:
            for written in row["final_result"][stage]:
                final_tuple = FinalTuple.model_validate(written)
                yield from _judged(final_tuple, final_tuple.confidence, gold[row["uid"]])


def _judged(final_tuple: FinalTuple, confidence: float, gold: set[Pair]) -> Iterator[JudgedPair]:
    pair = explicit_pairs([final_tuple.model_dump()])
    if pair and not final_tuple.is_backfilled:
        yield JudgedPair(confidence, pair <= gold)


def show(name: str, pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """Print the figures of a group and return them."""
    figures = summary(pairs)
    print(json.dumps({"pairs": name, **figures}), flush=True)
    return figures


def show_table(pairs: Sequence[JudgedPair]) -> list[dict[str, Any]]:
    """Print the reliability table of a group and return it."""
    table = [place.rounded() for place in reliability_table(pairs)]
    print("bin      n     confidence  right  95 % interval")
    for row in table:
        low, high = row["interval"]
        shares = f"{row['mean_confidence']:<11.3f} {row['share_right']:.3f}  {low:.3f} - {high:.3f}"
        print(f"{row['bin']}  {row['n']:<5} {shares}")
    return table


def panels_of(groups: Iterable[tuple[str, Sequence[JudgedPair]]]) -> list[Panel]:
    """Return one panel per group."""
    return [
        Panel(name, len(pairs), expected_calibration_error(pairs) or 0.0, reliability_table(pairs))
        for name, pairs in groups
    ]


def write_plot(path: Path, panels: Sequence[Panel]) -> None:
    """Write the picture."""
    path.write_text(f"{reliability_plot(panels)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
