"""Measures the embedded engine: strict scores of Stage1 and of the final result, beside plain baselines.

python benchmarks/accuracy.py [--rules v3|seed] [--split test|dev] [--skip-left-out] [--only mams_atsa]

Test files neither trained the weights nor decided a choice; dev files decided some. Leaving a domain out trains anew
without it, which takes a minute or two each. Without the public datasets nothing is measured. The exit code is 1 if the
final result of the shipped engine is worse than Stage1 on any file. Only figures of all test files under rules v3 are
written to latest.json; the figures of 0.1 (seed rules) stay there under accuracy_seed.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from plain_baselines import LexiconBaseline, MajorityBaseline
from strict_score import Pair, explicit_pairs, strict_score

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.embedded import EmbeddedEngine, EmbeddedReplier
from episodic_absa.backends.embedded.model.trained_weights import MANIFEST, SHIPPED, TrainedWeights, weights_sha256
from episodic_absa.backends.embedded.other_half_reader import OtherHalfReader
from episodic_absa.conditions import load_condition
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.schemas.absa import FinalTuple, Sample
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.vocabulary import Language, Rules

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "training"))
from corpora import public_data

ROOT: Final = Path(__file__).resolve().parent.parent
LATEST: Final = Path(__file__).with_name("latest.json")
TRAINING: Final = ROOT / "training" / "train.py"
CONDITIONS: Final[dict[Rules, str]] = {"seed": "v1_2", "v3": "v3_0"}
"""The conditions file whose C1 has these rules."""
KEY: Final = "accuracy_v2"
Split = Literal["test", "dev"]


class Dataset(NamedTuple):
    """One corpus in one language."""

    name: str
    language: Language
    domain: str | None
    """The domain to leave out of training; None if the file's domain is not trained on."""

    def path(self, data: Path, split: Literal["train", "dev", "test"]) -> Path:
        """Return the file of a split."""
        return data / f"{self.name}.{split}.jsonl"


class Measured(NamedTuple):
    """What is measured: the texts of a split under some rules."""

    data: Path
    split: Split
    rules: Rules
    limit: int | None = None

    def rows(self, dataset: Dataset) -> list[dict[str, Any]]:
        """Return the rows of a dataset."""
        return read_rows(dataset.path(self.data, self.split))[: self.limit]


DOMAINS: Final = ("coursera", "food", "hotel", "phone", "sight")
ASPECTS: Final = (
    Dataset("mams_atsa", "en", "restaurant"),
    *(Dataset(f"mabsa_{domain}_en", "en", domain) for domain in DOMAINS),
    *(Dataset(f"mabsa_{domain}_ko", "ko", domain) for domain in DOMAINS),
)
LABELS: Final = (
    Dataset("nsmc_raw_docpol", "ko", None),
    Dataset("ko_kr3_kpccf", "ko", None),
    Dataset("mams_acsa", "en", None),
)
"""Polarity without terms: measured by the label of the sentence."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


async def analyse(
    rows: Sequence[dict[str, Any]], language: Language, engine: EmbeddedEngine, rules: Rules
) -> tuple[list[SampleResult], float]:
    """Run the whole pipeline without memory; return the results and the samples per CPU second."""
    with tempfile.TemporaryDirectory() as folder:
        pipeline = pipeline_of(engine, rules, Path(folder) / "store.jsonl")
        run = pipeline.supervisor.run
        warm = Sample(uid="warm", text=rows[0]["text"], language_code=language)
        await run(warm, MemoryView(pipeline.memory))
        started = time.process_time()
        results = [
            await run(
                Sample(uid=row["uid"], text=row["text"], language_code=language),
                MemoryView(pipeline.memory, sample_index=at),
            )
            for at, row in enumerate(rows)
        ]
        rate = len(rows) / max(time.process_time() - started, 1e-6)
        await pipeline.close()
        return results, rate


def pipeline_of(engine: EmbeddedEngine, rules: Rules, store: Path) -> Pipeline:
    """Return the pipeline of an engine. Its reader has the same weights: the shipped ones know every domain."""
    condition = load_condition("C1", CONDITIONS[rules])
    backend = RepairingBackend(EmbeddedReplier(engine))
    pipeline = build_pipeline(backend=backend, condition=condition, store=store)
    if rules == "seed" or engine.fingerprint == EmbeddedEngine().fingerprint:
        return pipeline
    settings = pipeline.supervisor.settings
    supervisor = SupervisorAgent(backend, settings, rules=rules, reader=OtherHalfReader(engine))
    return replace(pipeline, supervisor=supervisor)


def pairs_of(tuples: Iterable[FinalTuple]) -> set[Pair]:
    return explicit_pairs(final_tuple.model_dump() for final_tuple in tuples if not final_tuple.is_backfilled)


def score_dataset(measured: Measured, dataset: Dataset, engine: EmbeddedEngine) -> dict[str, Any]:
    """Return the scores of one engine on one file."""
    rows = measured.rows(dataset)
    gold = [explicit_pairs(row["gold_tuples"]) for row in rows]
    results, rate = asyncio.run(analyse(rows, dataset.language, engine, measured.rules))
    stage1 = strict_score(gold, [pairs_of(result.final_result.stage1_tuples) for result in results])
    final = strict_score(gold, [pairs_of(result.final_result.final_tuples) for result in results])
    return {
        "texts": len(rows),
        "stage1": stage1.rounded(),
        "final": final.rounded(),
        "delta_f1": round(final.f1 - stage1.f1, 4),
        "pipeline_per_cpu_s": round(rate),
    }


def score_baselines(measured: Measured, dataset: Dataset) -> dict[str, Any]:
    rows = measured.rows(dataset)
    gold = [explicit_pairs(row["gold_tuples"]) for row in rows]
    lexicon = LexiconBaseline()
    majority = MajorityBaseline(read_rows(dataset.path(measured.data, "train")))
    return {
        "lexicon": strict_score(gold, [lexicon.pairs(row["text"], dataset.language) for row in rows]).rounded(),
        "majority": strict_score(gold, [majority.pairs(row["text"], dataset.language) for row in rows]).rounded(),
    }


def score_labels(measured: Measured, dataset: Dataset) -> dict[str, Any]:
    """Score the label of each text; a text with both polarities is mixed."""
    rows = [row for row in measured.rows(dataset) if _polarities(row)]
    results, rate = asyncio.run(analyse(rows, dataset.language, EmbeddedEngine(), measured.rules))
    wanted = [_label(_polarities(row)) for row in rows]
    labels = [result.moderator.final_label for result in results]
    return {
        "texts": len(rows),
        "label_accuracy": round(sum(map(str.__eq__, wanted, labels)) / len(rows), 4),
        "commonest": round(max(map(wanted.count, set(wanted))) / len(rows), 4),
        "pipeline_per_cpu_s": round(rate),
    }


def _polarities(row: dict[str, Any]) -> set[str]:
    return (
        {row["document_polarity"]}
        if "document_polarity" in row
        else {gold_tuple["polarity"] for gold_tuple in row["gold_tuples"]}
    )


def _label(polarities: set[str]) -> str:
    sides = polarities - {"neutral"}
    return "mixed" if len(sides) > 1 else next(iter(sides), "neutral")


def engine_rate(measured: Measured, dataset: Dataset) -> dict[str, int]:
    """Return the texts and sentences per CPU second of the three Stage1 roles, asked without the framework."""
    texts = [row["text"] for row in measured.rows(dataset)]
    engine = EmbeddedEngine()
    started = time.process_time()
    for text in texts:
        engine.answer("ate", AteInputs(text=text, language=dataset.language))
        engine.answer("atsa", AtsaInputs(text=text, language=dataset.language, aspects=None))
        validated = ValidatorInputs(text=text, language=dataset.language, aspects=None, sentiments=None)
        engine.answer("validator", validated)
    took = time.process_time() - started
    sentences = sum(len({clause.sentence for clause in engine.read(text, dataset.language).clauses}) for text in texts)
    return {"texts": round(len(texts) / took), "sentences": round(sentences / took)}


def load_seconds(language: Language) -> float:
    """Return how long a fresh process takes to its first answer, without what Python itself takes to start."""
    text = "The room was clean." if language == "en" else "방이 깨끗해요."
    program = (
        "import time; started = time.perf_counter()\n"
        "from episodic_absa.backends.embedded import EmbeddedEngine\n"
        "from episodic_absa.schemas.role_inputs import AteInputs\n"
        f"EmbeddedEngine().answer('ate', AteInputs(text={text!r}, language={language!r}))\n"
        "print(time.perf_counter() - started)"
    )
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True) for _ in range(3)]
    return round(min(float(run.stdout) for run in runs), 2)


def leave_out(measured: Measured, dataset: Dataset, kept: Path) -> dict[str, Any]:
    """Train without a domain, unless that is done already, and score its file. The calibration tables stay."""
    assert dataset.domain is not None
    folder = kept / f"{dataset.language}_{dataset.domain}"
    if not (folder / MANIFEST).exists():
        command = [sys.executable, str(TRAINING), "--data", str(measured.data), "--out", str(folder)]
        command += ["--language", dataset.language, "--leave-out", dataset.domain, "--no-documents"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    assert json.loads((folder / MANIFEST).read_text())["left_out_domain"] == dataset.domain
    return score_dataset(measured, dataset, EmbeddedEngine(TrainedWeights(folder)))


def mean_f1(scores: dict[str, dict[str, Any]], language: Language) -> float | None:
    languages = {dataset.name: dataset.language for dataset in ASPECTS}
    found = [score["final"]["f1"] for name, score in scores.items() if languages[name] == language]
    return round(sum(found) / len(found), 4) if found else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write down; return the exit code."""
    given = _arguments(arguments)
    if not given.data.is_dir():
        print(f"accuracy: skipped, there is no data at {given.data}")
        return 0
    measured = Measured(given.data, given.split, given.rules, given.limit)
    chosen = [dataset for dataset in ASPECTS if not given.only or dataset.name in given.only]
    labels = [dataset for dataset in LABELS if not given.only or dataset.name in given.only]
    report: dict[str, Any] = {"weights_sha256": weights_sha256(SHIPPED), "datasets": {}, "labels": {}, "left_out": {}}
    for number, dataset in enumerate(chosen, 1):
        scores = score_dataset(measured, dataset, EmbeddedEngine()) | score_baselines(measured, dataset)
        report["datasets"][dataset.name] = scores
        _show(f"{number} of {len(chosen)}", dataset.name, scores)
    for dataset in labels:
        if not dataset.path(given.data, given.split).exists():
            print(f"{dataset.name}: skipped, it has no {given.split} split", flush=True)
            continue
        report["labels"][dataset.name] = score_labels(measured, dataset)
        print(json.dumps({dataset.name: report["labels"][dataset.name]}), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        kept = given.left_out_weights or Path(scratch)
        for number, dataset in enumerate(chosen if not given.skip_left_out else (), 1):
            report["left_out"][dataset.name] = leave_out(measured, dataset, kept)
            _show(f"left out, {number} of {len(chosen)}", dataset.name, report["left_out"][dataset.name])
    report["left_out_mean_f1"] = {language: mean_f1(report["left_out"], language) for language in ("en", "ko")}
    if given.split == "test" and given.rules == "v3" and not (given.only or given.limit):
        _write_down(report, measured, has_left_out=not given.skip_left_out)
    return _exit_code(report["datasets"])


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Strict scores of the embedded engine.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--rules", choices=get_args(Rules), default="v3")
    parser.add_argument("--split", choices=get_args(Split), default="test")
    parser.add_argument("--skip-left-out", action="store_true", help="do not train anew without each domain")
    parser.add_argument("--left-out-weights", type=Path, metavar="DIR", help="keep those weights, use them again")
    parser.add_argument("--only", action="append", metavar="DATASET", help="measure these; nothing is written down")
    parser.add_argument("--limit", type=int, help="texts per file; nothing is written down")
    return parser.parse_args(arguments)


def _write_down(report: dict[str, Any], measured: Measured, *, has_left_out: bool) -> None:
    """Measure the speed too and write everything; left-out figures that were not measured anew stay."""
    report["stage1_per_cpu_s"] = {
        dataset.name: engine_rate(measured, dataset) for dataset in (ASPECTS[0], ASPECTS[3], ASPECTS[8], ASPECTS[9])
    }
    report["load_s"] = {language: load_seconds(language) for language in ("en", "ko")}
    print(json.dumps({key: report[key] for key in ("left_out_mean_f1", "stage1_per_cpu_s", "load_s")}))
    known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
    if not has_left_out:
        before = known.get(KEY, {})
        report |= {key: before[key] for key in ("left_out", "left_out_mean_f1") if key in before}
    LATEST.write_text(json.dumps({**known, KEY: report}, indent=2, sort_keys=True) + "\n")


def _exit_code(datasets: dict[str, dict[str, Any]]) -> int:
    losses = {name: scores["delta_f1"] for name, scores in datasets.items() if scores["delta_f1"] < 0}
    if losses:
        print(f"accuracy: the final result is worse than Stage1 on {json.dumps(losses)}", file=sys.stderr)
    return 1 if losses else 0


def _show(place: str, name: str, scores: dict[str, Any]) -> None:
    shown = {key: value["f1"] for key, value in scores.items() if isinstance(value, dict)}
    accuracy = scores["final"]["polarity_accuracy"]
    print(
        json.dumps({"at": place, "dataset": name, **shown, "delta_f1": scores["delta_f1"], "polarity": accuracy}),
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
