"""Runs the study of docs/results.md with a real model: what each effort buys, and what memory changes.

python benchmarks/model_study.py --base-url http://127.0.0.1:8080/v1 --model NAME --out FOLDER [--language ko]
python benchmarks/model_study.py --replay FOLDER --out OTHER_FOLDER          the same answers again, without a server
python benchmarks/model_study.py --embedded --out FOLDER                     the embedded engine, which asks no model

The reviews are evenly spaced over dev files of the public datasets, which trained nothing. The embedded engine reads
train reviews, without gold, and fills the store of the memory arms. The store is frozen: every review of every arm sees
the same one. The run of each language is an ordinary experiment: `compare`, `verify` and the report work on it. The
answers are recorded in FOLDER, so that a later version of the rules can be measured on the same answers.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import yaml

from episodic_absa import Run, run_experiment
from episodic_absa.vocabulary import Language

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "training"))
from corpora import public_data

_DOMAINS: Final = ("coursera", "food", "hotel", "phone", "sight")
FILES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("mams_atsa", *(f"mabsa_{domain}_en" for domain in _DOMAINS)),
    "ko": tuple(f"mabsa_{domain}_ko" for domain in _DOMAINS),
}
METRIC: Final = "tuple_f1_explicit_micro"
EFFORTS: Final = ("reader_only", "one_call", "stage1_only", "adaptive", "one_call_votes", "C1")
MEMORY: Final = ("frozen", "frozen_placebo", "frozen_random", "frozen_constant")
COMPARISONS: Final = (
    ("C1", "stage1_only"),
    ("C1", "reader_only"),
    ("one_call", "reader_only"),
    ("adaptive", "C1"),
    ("adaptive", "one_call_votes"),
    ("C1", "one_call_votes"),
    ("frozen", "C1"),
    ("frozen", "frozen_placebo"),
    ("frozen", "frozen_random"),
    ("frozen", "frozen_constant"),
)
FLAGS_OFF: Final = {
    "memory_mode": "off",
    "retrieval_execute": False,
    "injection_mask": True,
    "store_write": False,
    "exposed_to_debate": False,
    "exposed_to_stage2": False,
    "rules": "v3",
}
FLAGS_FROZEN: Final = FLAGS_OFF | {
    "memory_mode": "on",
    "retrieval_execute": True,
    "injection_mask": False,
    "exposed_to_debate": True,
    "exposed_to_stage2": True,
}
CONDITIONS: Final[dict[str, dict[str, Any]]] = {
    "C1": FLAGS_OFF,
    "reader_only": FLAGS_OFF | {"pipeline": {"effort": "reader"}},
    "adaptive": FLAGS_OFF | {"pipeline": {"effort": "adaptive"}},
    "stage1_only": FLAGS_OFF | {"pipeline": {"effort": "stage1"}},
    "one_call": FLAGS_OFF | {"pipeline": {"effort": "one_call"}},
    "one_call_votes": FLAGS_OFF | {"pipeline": {"effort": "one_call", "votes": 5}},
    "no_reader": FLAGS_OFF | {"pipeline": {"reader": False}},
    "frozen": FLAGS_FROZEN,
    "frozen_placebo": FLAGS_FROZEN | {"advice": {"from": "placebo"}},
    "frozen_random": FLAGS_FROZEN | {"advice": {"from": "random"}},
    "frozen_constant": FLAGS_FROZEN | {"advice": {"from": "constant", "principle": "P-EVG-01"}},
    "reading": FLAGS_OFF | {"memory_mode": "silent", "retrieval_execute": True, "store_write": True},
}
"""The arms of v3_0 with a store that nobody writes, and one condition (`reading`) that fills it."""


def spaced_rows(path: Path, rows_n: int) -> Iterator[str]:
    """Yield lines of a file at equal distances: the same ones for the same number."""
    lines = path.read_text("utf-8").splitlines()
    yield from (lines[at * len(lines) // rows_n] for at in range(min(rows_n, len(lines))))


def write_reviews(target: Path, data: Path, language: Language, split: str, reviews_n: int) -> None:
    """Write the reviews of a language with their gold, one file in turn: what a broken run leaves is of all files."""
    names = FILES[language]
    target.parent.mkdir(parents=True, exist_ok=True)
    of_files = [list(spaced_rows(data / f"{name}.{split}.jsonl", reviews_n // len(names))) for name in names]
    with target.open("w", encoding="utf-8") as file:
        for turn in zip_longest(*of_files):
            for name, line in zip(names, turn, strict=True):
                if line is None:
                    continue
                row = json.loads(line)
                file.write(
                    json.dumps(
                        {"uid": row["uid"], "text": row["text"], "language_code": language, "domain_id": name}
                        | {"gold_tuples": row["gold_tuples"]},
                        ensure_ascii=False,
                    )
                    + "\n"
                )


def write_config(folder: Path, name: str, **sections: Any) -> Path:
    """Write the configuration of one run into the folder of the study."""
    conditions = {"version": "model-study", "dangerous_advice": "block", "use_lexical": True, "conditions": CONDITIONS}
    (folder / "conditions.yaml").write_text(yaml.safe_dump(conditions, sort_keys=False), "utf-8")
    data = {"input_format": "jsonl", "allowed_roots": ["data", "runs"], "valid_file": f"data/{name}.jsonl"}
    config = {"run_id": name, "out": "runs", "data": data} | sections
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), "utf-8")
    return path


def build_store(folder: Path, data: Path, language: Language, reviews_n: int) -> str:
    """Let the embedded engine read train reviews; return the store that it leaves, relative to the folder."""
    name = f"store_{language}"
    write_reviews(folder / "data" / f"{name}.jsonl", data, language, "train", reviews_n)
    run_experiment(
        write_config(
            folder,
            name,
            episodic_memory={"conditions_path": "conditions.yaml"},
            experiment={"conditions": ["reading"], "seeds": [42]},
            cache={"path": f"runs/{name}.sqlite"},
        )
    )
    return f"runs/{name}/reading__seed42/episodic_store.jsonl"


def backbone(given: argparse.Namespace, language: Language) -> dict[str, Any]:
    """Return what answers: a server whose answers are recorded, a recording, or the embedded engine."""
    if given.embedded:
        return {"provider": "embedded"}
    if given.replay is not None:
        return {"provider": "replay", "recording": str((given.replay / f"recording_{language}.jsonl").resolve())}
    return {
        "provider": "openai",
        "model": given.model,
        "base_url": given.base_url,
        "temperature": 0,
        "max_tokens": 400,
        "output": "prompted",
        "timeout_s": 300,
        "total_timeout_s": 900,
        "record": f"recording_{language}.jsonl",
    }


def run_language(given: argparse.Namespace, language: Language) -> Run:
    """Run every arm on the reviews of a language."""
    name = f"study_{language}"
    write_reviews(given.out / "data" / f"{name}.jsonl", given.data, language, "dev", given.reviews)
    store = build_store(given.out, given.data, language, given.store_reviews)
    conditions = [*EFFORTS, "no_reader", *MEMORY]
    return run_experiment(
        write_config(
            given.out,
            name,
            backbone=backbone(given, language),
            episodic_memory={"conditions_path": "conditions.yaml", "initial_store": store},
            experiment={
                "conditions": conditions,
                "seeds": [42],
                "concurrency": given.concurrency,
                "comparisons": [list(pair) for pair in COMPARISONS],
                "primary_metric": METRIC,
                "smallest_effect": 0.02,
                "max_failures": 100,
            },
            cache={"path": f"runs/{name}.sqlite"},
        )
    )


def figures_of(run: Run) -> dict[str, Any]:
    """Return quality and cost of every arm, and the paired differences."""
    arms = {}
    for cell in run.cells:
        of_cell = cell.metrics
        arms[cell.condition] = {
            "samples": cell.samples,
            "failed": cell.failed,
            "calls": of_cell["calls"],
            "tokens": (of_cell["tokens_in"] or 0) + (of_cell["tokens_out"] or 0),
            "f1": of_cell[METRIC],
        }
    differences = []
    for a, b in COMPARISONS:
        row = run.compare(a, b).of(METRIC)
        interval = None if row.ci_low is None else [row.ci_low, row.ci_high]
        differences.append({"a": a, "b": b, "reviews": row.n_uids, "difference": row.difference, "interval": interval})
    return {"arms": arms, "differences": differences}


def print_figures(figures: dict[str, Any]) -> None:
    """Print the figures of a language as two tables."""
    print(f"{'arm':<18}{'calls':>7}{'tokens':>8}{'F1':>7}{'failed':>8}")
    for name, arm in figures["arms"].items():
        print(f"{name:<18}{arm['calls']:>7.1f}{arm['tokens']:>8,.0f}{arm['f1']:>7.3f}{arm['failed']:>8}")
    for row in figures["differences"]:
        interval = "no review differs"
        if row["interval"] is not None:
            interval = "[{:+.3f}, {:+.3f}]".format(*row["interval"])
        print(f"{row['a']} - {row['b']}: {row['difference']:+.3f} {interval}, n = {row['reviews']}")


def save_pictures(run: Run, language: Language, folder: Path) -> None:
    """Save two figures of the report on white paper, which a dark page needs."""
    with tempfile.TemporaryDirectory() as exported:
        run.export(exported)
        for name in ("quality_over_cost_micro", "difference_by_arm"):
            picture = (Path(exported) / f"{name}.svg").read_text("utf-8")
            paper = '</style><rect x="-8" y="-8" width="100%" height="100%" fill="#fdfdfc"/>'
            (folder / f"{name}_{language}.svg").write_text(picture.replace("</style>", paper, 1), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--base-url", help="an OpenAI-compatible server; the answers are recorded in the folder")
    model.add_argument("--embedded", action="store_true", help="the embedded engine, without a model")
    model.add_argument("--replay", type=Path, help="the folder of an earlier study, whose recordings answer")
    parser.add_argument("--model", default="local", help="the name that the server knows the model by")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--language", choices=tuple(FILES), action="append")
    parser.add_argument("--reviews", type=int, default=300, help="evaluated reviews of a language")
    parser.add_argument("--store-reviews", type=int, default=900, help="train reviews that fill the store")
    parser.add_argument("--concurrency", type=int, default=48)
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="save the figures for docs/results.md here")
    given = parser.parse_args()
    if not given.data.is_dir():
        parser.error(f"no data at {given.data}; see training/README.md for what is needed")
    given.out.mkdir(parents=True, exist_ok=True)
    figures = {}
    for language in given.language or tuple(FILES):
        run = run_language(given, language)
        figures[language] = figures_of(run)
        print(f"{language}: {run.path}")
        print_figures(figures[language])
        if given.pictures is not None:
            save_pictures(run, language, given.pictures)
    (given.out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
