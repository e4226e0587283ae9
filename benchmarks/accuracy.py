"""Measures the embedded engine: strict scores of Stage1 and of the final result, beside plain baselines.

python benchmarks/accuracy.py [--skip-left-out] [--only mams_atsa]

Every figure is taken on test files that neither trained the weights nor decided a choice. Leaving a domain out trains
anew without it, which takes a minute or two each. Without ../shared/data nothing is measured.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from plain_baselines import LexiconBaseline, MajorityBaseline
from strict_score import Pair, explicit_pairs, strict_score

from episodic_absa.agents.memory_view import DirectMemory
from episodic_absa.agents.sample_result import SampleResult
from episodic_absa.agents.supervisor_agent import SupervisorAgent
from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.embedded import EmbeddedEngine, EmbeddedReplier
from episodic_absa.backends.embedded.model.trained_weights import MANIFEST, SHIPPED, TrainedWeights, weights_sha256
from episodic_absa.conditions import load_condition
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.schemas.absa import FinalTuple, Sample
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.vocabulary import Language

ROOT: Final = Path(__file__).resolve().parent.parent
LATEST: Final = Path(__file__).with_name("latest.json")
SHARED_DATA: Final = ROOT.parent / "shared" / "data"
TRAINING: Final = ROOT / "training" / "train.py"


class Dataset(NamedTuple):
    """One test file."""

    name: str
    language: Language
    domain: str | None
    """The domain to leave out of training; None if the file's domain is not trained on."""


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
    rows: Sequence[dict[str, Any]], language: Language, engine: EmbeddedEngine
) -> tuple[list[SampleResult], float]:
    """Run the whole pipeline without memory; return the results and the samples per CPU second."""
    supervisor = SupervisorAgent(RepairingBackend(EmbeddedReplier(engine)))
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "store.jsonl") as store:
        memory = EpisodicOrchestrator(load_condition("C1"), store)
        await supervisor.run(Sample(uid="warm", text=rows[0]["text"], language_code=language), DirectMemory(memory))
        started = time.process_time()
        results = [
            await supervisor.run(
                Sample(uid=row["uid"], text=row["text"], language_code=language), DirectMemory(memory, sample_index=at)
            )
            for at, row in enumerate(rows)
        ]
        return results, len(rows) / (time.process_time() - started)


def pairs_of(tuples: Iterable[FinalTuple]) -> set[Pair]:
    return explicit_pairs(final_tuple.model_dump() for final_tuple in tuples if not final_tuple.is_backfilled)


def score_dataset(data: Path, dataset: Dataset, limit: int | None, engine: EmbeddedEngine) -> dict[str, Any]:
    """Return the scores of one engine on one test file."""
    rows = read_rows(data / f"{dataset.name}.test.jsonl")[:limit]
    gold = [explicit_pairs(row["gold_tuples"]) for row in rows]
    results, rate = asyncio.run(analyse(rows, dataset.language, engine))
    stage1 = strict_score(gold, [pairs_of(result.final_result.stage1_tuples) for result in results])
    final = strict_score(gold, [pairs_of(result.final_result.final_tuples) for result in results])
    return {
        "texts": len(rows),
        "stage1": stage1.rounded(),
        "final": final.rounded(),
        "delta_f1": round(final.f1 - stage1.f1, 4),
        "pipeline_per_cpu_s": round(rate),
    }


def score_baselines(data: Path, dataset: Dataset, limit: int | None) -> dict[str, Any]:
    rows = read_rows(data / f"{dataset.name}.test.jsonl")[:limit]
    gold = [explicit_pairs(row["gold_tuples"]) for row in rows]
    lexicon = LexiconBaseline()
    majority = MajorityBaseline(read_rows(data / f"{dataset.name}.train.jsonl"))
    return {
        "lexicon": strict_score(gold, [lexicon.pairs(row["text"], dataset.language) for row in rows]).rounded(),
        "majority": strict_score(gold, [majority.pairs(row["text"], dataset.language) for row in rows]).rounded(),
    }


def score_labels(data: Path, dataset: Dataset, limit: int | None) -> dict[str, Any]:
    """Score the label of each text; a text with both polarities is mixed."""
    rows = [row for row in read_rows(data / f"{dataset.name}.test.jsonl") if _polarities(row)][:limit]
    results, rate = asyncio.run(analyse(rows, dataset.language, EmbeddedEngine()))
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


def engine_rate(data: Path, dataset: Dataset) -> dict[str, int]:
    """Return the texts and sentences per CPU second of the three Stage1 roles, asked without the framework."""
    texts = [row["text"] for row in read_rows(data / f"{dataset.name}.test.jsonl")]
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


def leave_out(data: Path, dataset: Dataset, limit: int | None, kept: Path) -> dict[str, Any]:
    """Train without a domain, unless that is done already, and score its test file."""
    assert dataset.domain is not None
    folder = kept / f"{dataset.language}_{dataset.domain}"
    if not (folder / MANIFEST).exists():
        command = [sys.executable, str(TRAINING), "--data", str(data), "--out", str(folder)]
        command += ["--language", dataset.language, "--leave-out", dataset.domain, "--no-documents"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    assert json.loads((folder / MANIFEST).read_text())["left_out_domain"] == dataset.domain
    return score_dataset(data, dataset, limit, EmbeddedEngine(TrainedWeights(folder)))


def mean_f1(scores: dict[str, dict[str, Any]], language: Language) -> float | None:
    languages = {dataset.name: dataset.language for dataset in ASPECTS}
    found = [score["final"]["f1"] for name, score in scores.items() if languages[name] == language]
    return round(sum(found) / len(found), 4) if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description="Strict scores of the embedded engine.")
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--skip-left-out", action="store_true", help="do not train anew without each domain")
    parser.add_argument("--left-out-weights", type=Path, metavar="DIR", help="keep those weights, use them again")
    parser.add_argument("--only", action="append", metavar="DATASET", help="measure these; nothing is written down")
    parser.add_argument("--limit", type=int, help="texts per file; nothing is written down")
    given = parser.parse_args()
    if not given.data.is_dir():
        print(f"accuracy: skipped, there is no data at {given.data}")
        return
    chosen = [dataset for dataset in ASPECTS if not given.only or dataset.name in given.only]
    report: dict[str, Any] = {"weights_sha256": weights_sha256(SHIPPED), "datasets": {}, "labels": {}, "left_out": {}}
    for number, dataset in enumerate(chosen, 1):
        scores = score_dataset(given.data, dataset, given.limit, EmbeddedEngine())
        scores |= score_baselines(given.data, dataset, given.limit)
        report["datasets"][dataset.name] = scores
        _show(f"{number} of {len(chosen)}", dataset.name, scores)
    for dataset in (dataset for dataset in LABELS if not given.only or dataset.name in given.only):
        report["labels"][dataset.name] = score_labels(given.data, dataset, given.limit)
        print(json.dumps({dataset.name: report["labels"][dataset.name]}), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        kept = given.left_out_weights or Path(scratch)
        for number, dataset in enumerate(chosen if not given.skip_left_out else (), 1):
            report["left_out"][dataset.name] = leave_out(given.data, dataset, given.limit, kept)
            _show(f"left out, {number} of {len(chosen)}", dataset.name, report["left_out"][dataset.name])
    report["left_out_mean_f1"] = {language: mean_f1(report["left_out"], language) for language in ("en", "ko")}
    report["stage1_per_cpu_s"] = {
        dataset.name: engine_rate(given.data, dataset) for dataset in (ASPECTS[0], ASPECTS[3], ASPECTS[8], ASPECTS[9])
    }
    report["load_s"] = {language: load_seconds(language) for language in ("en", "ko")}
    print(json.dumps({key: report[key] for key in ("left_out_mean_f1", "stage1_per_cpu_s", "load_s")}))
    if given.only or given.limit:
        return
    known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
    if given.skip_left_out:
        report["left_out"] = known.get("accuracy", {}).get("left_out", {})
    LATEST.write_text(json.dumps({**known, "accuracy": report}, indent=2, sort_keys=True) + "\n")


def _show(place: str, name: str, scores: dict[str, Any]) -> None:
    shown = {key: value["f1"] for key, value in scores.items() if isinstance(value, dict)}
    accuracy = scores["final"]["polarity_accuracy"]
    print(
        json.dumps({"at": place, "dataset": name, **shown, "delta_f1": scores["delta_f1"], "polarity": accuracy}),
        flush=True,
    )


if __name__ == "__main__":
    main()
