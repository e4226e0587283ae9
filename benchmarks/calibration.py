"""Measures whether confidence is a probability: about 70 % of the pairs with confidence .7 should be right.

python benchmarks/calibration.py                                              # the embedded engine under rules v3
python benchmarks/calibration.py --left-out-weights DIR                       # also in domains that trained nothing
python benchmarks/calibration.py --rules seed                                 # the scores that its agents state
python benchmarks/calibration.py --run OUTPUTS_OR_RUN_DIR GOLD [--run ...]    # finished runs, such as a model's

The embedded engine is measured on the half of the dev texts that the reader's tables were not fitted on. A second
check is stricter: every whole dev file with tables that were fitted on the other files; no table is ever fitted on the
food files. The weights keep their training files in both checks. With the weights that `accuracy.py --left-out-weights`
kept, a third check leaves the domain of a file out of the weights as well. A pair is right if term and polarity are
both in the gold; opinions without a target are left out, as they have no calibrated confidence. No test file is read.
Without the public datasets nothing is measured. Only the figures of rules v3 are written to latest.json and drawn.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from accuracy import ASPECTS, LATEST, ROOT, analyse, read_rows
from reliability import JudgedPair, expected_calibration_error, reliability_table, summary
from reliability_plot import Panel, reliability_plot
from strict_score import Pair, explicit_pairs

from episodic_absa.backends.embedded import EmbeddedEngine, EmbeddedReader
from episodic_absa.backends.embedded.model.trained_weights import TrainedWeights
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.stage1.pair_confidence import with_confidence
from episodic_absa.runs.derived.derived_samples import OUTPUTS
from episodic_absa.schemas.absa import FinalTuple, SentimentItem
from episodic_absa.vocabulary import Language, Rules

sys.path.insert(0, str(ROOT / "training"))
import reader_calibration
from corpora import public_data
from reader_calibration import ReadText

PLOT: Final = ROOT / "docs" / "images" / "reliability.svg"
FILES: Final[dict[str, Language]] = {
    **reader_calibration.DEV_FILES,
    # No table was fitted on these: their gold marks most opinions as implicit even where the text names the target.
    "mabsa_food_en": "en",
    "mabsa_food_ko": "ko",
}
LANGUAGES: Final[dict[Language, str]] = {"en": "English", "ko": "Korean"}


class AnalysedText(NamedTuple):
    """One text with its final pairs and its gold."""

    language: Language
    text: str
    is_unseen: bool
    """Whether it belongs to the half that the tables were not fitted on."""
    tuples: tuple[FinalTuple, ...]
    gold: set[Pair]


AnalysedFiles: TypeAlias = Mapping[str, Sequence[AnalysedText]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write down; return the exit code."""
    parser = argparse.ArgumentParser(description="Reliability of the confidence of pairs.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--rules", choices=get_args(Rules), default="v3")
    parser.add_argument(
        "--run", nargs=2, action="append", type=Path, metavar=("OUTPUTS", "GOLD"), help="measure runs instead"
    )
    parser.add_argument("--left-out-weights", type=Path, metavar="DIR", help="weights without each domain")
    parser.add_argument("--plot", type=Path, help="where the plot goes; for runs there is none unless it is named")
    parser.add_argument("--latest", type=Path, default=LATEST, help="where figures of the embedded engine go")
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
    texts = {file: analysed(given.data, file, language, given.rules) for file, language in FILES.items()}
    figures, panels = measure_other_half(texts)
    if given.rules == "seed":
        return 0
    lessons = lessons_of(given.data, given.left_out_weights)
    figures |= measure_left_out(texts, lessons)
    if given.left_out_weights is not None:
        figures |= measure_unknown_domains(given.data, given.left_out_weights, lessons)
    known = json.loads(given.latest.read_text()) if given.latest.exists() else {}
    given.latest.write_text(json.dumps({**known, "calibration": figures}, indent=2, sort_keys=True) + "\n")
    write_plot(given.plot or PLOT, panels)
    return 0


def measure_other_half(texts: AnalysedFiles) -> tuple[dict[str, Any], list[Panel]]:
    """Return the figures of the texts that the tables were not fitted on, and one panel per language."""
    judged = {file: list(judged_pairs(text for text in texts[file] if text.is_unseen)) for file in FILES}
    figures: dict[str, Any] = {file: show(f"{file}, other half", pairs) for file, pairs in judged.items()}
    panels = []
    for language, name in LANGUAGES.items():
        pairs = [pair for file in FILES if FILES[file] == language for pair in judged[file]]
        figures[language] = {**show(f"{name}, other half", pairs), "table": show_table(pairs)}
        panels += panels_of([(name, pairs)])
    return {"other_half": figures}, panels


def lessons_of(data: Path, kept: Path | None) -> list[ReadText]:
    """Return what the dev texts teach the tables: by the shipped weights and, if they were kept, by those without."""
    lessons = [lesson for file in reader_calibration.DEV_FILES for lesson in reader_calibration.read_file(data, file)]
    if kept is not None:
        elsewhere = reader_calibration.read_elsewhere(data, kept)
        lessons += [reader_calibration.taught_elsewhere(lesson) for lesson in elsewhere]
    return lessons


def measure_left_out(texts: AnalysedFiles, lessons: Sequence[ReadText]) -> dict[str, Any]:
    """Return the figures of each whole file with tables that were fitted on all other dev files of its language."""
    judged = pairs_left_out(texts, lessons)
    figures: dict[str, Any] = {file: show(f"{file}, left out", pairs) for file, pairs in judged.items()}
    for language, name in LANGUAGES.items():
        pairs = [pair for file in FILES if FILES[file] == language for pair in judged[file]]
        figures[language] = show(f"{name}, each file left out", pairs)
    return {"left_out": figures}


def measure_unknown_domains(data: Path, kept: Path, lessons: Sequence[ReadText]) -> dict[str, Any]:
    """Return the figures of each file where neither the weights nor the tables have seen its domain."""
    engines = {
        dataset.name: EmbeddedEngine(TrainedWeights(kept / f"{dataset.language}_{dataset.domain}"))
        for dataset in ASPECTS
    }
    texts = {file: analysed(data, file, language, "v3", engines[file]) for file, language in FILES.items()}
    judged = pairs_left_out(texts, lessons, engines)
    figures: dict[str, Any] = {file: show(f"{file}, unknown domain", pairs) for file, pairs in judged.items()}
    for language, name in LANGUAGES.items():
        # The gold of the food files marks most named targets as implicit, so that right pairs count as wrong.
        files = [file for file in FILES if FILES[file] == language and file in reader_calibration.DEV_FILES]
        pairs = [pair for file in files for pair in judged[file]]
        figures[language] = {**show(f"{name}, unknown domains, without food", pairs), "table": show_table(pairs)}
    return {"unknown_domain": figures}


def analysed(
    data: Path, file: str, language: Language, rules: Rules, engine: EmbeddedEngine | None = None
) -> list[AnalysedText]:
    """Analyse the dev file of a corpus; with the shipped weights unless an engine is given."""
    rows = read_rows(data / f"{file}.dev.jsonl")
    results, _ = asyncio.run(analyse(rows, language, engine or EmbeddedEngine(), rules))
    return [
        AnalysedText(
            language,
            result.sample.text,
            # The split of training/reader_calibration.py.
            hashlib.sha256(row["uid"].encode()).digest()[0] % 2 == 1,
            result.final_result.final_tuples,
            explicit_pairs(row["gold_tuples"]),
        )
        for row, result in zip(rows, results, strict=True)
    ]


def judged_pairs(texts: Iterable[AnalysedText], reader: Reader | None = None) -> Iterator[JudgedPair]:
    """Yield the pairs that name a target.

    Args:
        reader: takes the confidence anew; None leaves it as the pipeline gave it.
    """
    for text in texts:
        for final_tuple in text.tuples:
            confidence = final_tuple.confidence
            if reader is not None:
                item = SentimentItem(aspect_term=final_tuple.aspect_term, polarity=final_tuple.polarity)
                confidence = with_confidence(item, text.text, text.language, reader).confidence
            yield from _judged(final_tuple, confidence, text.gold)


def _judged(final_tuple: FinalTuple, confidence: float, gold: set[Pair]) -> Iterator[JudgedPair]:
    pair = explicit_pairs([final_tuple.model_dump()])
    if pair and not final_tuple.is_backfilled:
        yield JudgedPair(confidence, pair <= gold)


def pairs_left_out(
    texts: AnalysedFiles, lessons: Sequence[ReadText], engines: Mapping[str, EmbeddedEngine] | None = None
) -> dict[str, list[JudgedPair]]:
    """Return the pairs of each file, their confidence taken anew with tables that the file did not fit.

    Args:
        engines: the engine that read each file; None for the shipped weights.
    """
    left_out = {}
    for file in texts:
        tables = reader_calibration.fit([lesson for lesson in lessons if lesson.file != file])
        engine = EmbeddedEngine() if engines is None else engines[file]
        left_out[file] = list(judged_pairs(texts[file], EmbeddedReader(engine, tables)))
    return left_out


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
