"""Fits what the tuples and the whole text weigh in a text's label; prints what sentence_label.py should hold.

python training/label_balance.py [--data FOLDER]

Fitted with the shipped weights on dev files. Korean adds every twentieth NSMC training text, read by text weights that
are trained here without those texts. Train the weights first: other weights, other tuples.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from corpora import CORPORA, EVERYDAY_SENTENCES, HELD_OUT, Row, public_data, read_rows
from near_copies import HeldOut
from scipy.optimize import minimize
from train import LANGUAGES, OWN_TIMES, collect, file_entry, fit_texts

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.judgement.sentence_label import LabelEvidence, label_evidence
from episodic_absa.backends.embedded.model.trained_weights import MANIFEST, SHIPPED, TrainedWeights
from episodic_absa.backends.embedded.roles.validator import first_look
from episodic_absa.schemas.role_inputs import ValidatorInputs
from episodic_absa.vocabulary import Language

EVERY = 20


class Labelled(NamedTuple):
    """The evidence for a label, and the label by gold."""

    evidence: LabelEvidence
    label: str


def main() -> None:
    """Fit both parts and print them."""
    parser = argparse.ArgumentParser(description="Fit the balance of tuples and text in the label.")
    parser.add_argument("--data", type=Path, default=public_data())
    data: Path = parser.parse_args().data
    if not data.is_dir():
        raise SystemExit(f"no data at {data}; see training/README.md for what is needed")
    engine = EmbeddedEngine()
    either_side: list[Labelled] = []
    for language in LANGUAGES:
        found = [example for rows in _dev_rows(data, language) for example in labelled(rows, language, engine)]
        either_side += found
        found += _unseen_documents(data, language)
        tuples, text = fit_lean(found)
        print(f"{language}: tuples={tuples:.2f}, text={text:.2f} (from {len(found)} texts)")
    start, weaker, contrast = fit_both(either_side)
    print(f"both: start={start:.2f}, weaker_side={weaker:.2f}, contrast={contrast:.2f}")


def labelled(rows: Iterable[Row], language: Language, engine: EmbeddedEngine) -> list[Labelled]:
    """Return what the engine makes of each row; a row that judges nothing teaches nothing."""
    found = []
    for row in rows:
        label = gold_label(row)
        if label:
            inputs = ValidatorInputs(text=row.text, language=language, aspects=None, sentiments=None)
            reading = engine.read(row.text, language)
            found.append(Labelled(label_evidence(reading, first_look(reading, inputs)), label))
    return found


def gold_label(row: Row) -> str:
    """Return the label of a text: praise and blame together are mixed; empty where nothing is known."""
    known = {gold_tuple["polarity"] for gold_tuple in row.gold} or {row.document_polarity}
    sides = known - {"neutral"}
    return "mixed" if len(sides) > 1 else next(iter(sides), "neutral")


def fit_lean(found: Sequence[Labelled]) -> list[float]:
    """Return the weights of tuples and text, from texts that are positive or negative."""
    sided = [example for example in found if example.label in ("positive", "negative")]
    rows = [[example.evidence.by_tuples, example.evidence.by_text] for example in sided]
    return _logistic_fit(rows, [example.label == "positive" for example in sided])


def fit_both(found: Sequence[Labelled]) -> list[float]:
    """Return the weights of `mixed`, from texts with tuples of both polarities."""
    both = [example for example in found if example.evidence.weaker_side]
    rows = [[1.0, example.evidence.weaker_side, float(example.evidence.has_contrast)] for example in both]
    return _logistic_fit(rows, [example.label == "mixed" for example in both])


def _logistic_fit(rows: Sequence[Sequence[float]], wanted: Sequence[bool]) -> list[float]:
    matrix, signs = np.array(rows), np.where(wanted, 1.0, -1.0)

    def loss(weights: Any) -> float:
        return float(np.logaddexp(0.0, -signs * (matrix @ weights)).mean() + 1e-4 * (weights @ weights))

    return [float(weight) for weight in minimize(loss, np.zeros(matrix.shape[1]), method="BFGS").x]


def _dev_rows(data: Path, language: Language) -> Iterable[Iterable[Row]]:
    for corpus in CORPORA:
        if corpus.language == language and corpus.kind == "aspects":
            yield read_rows(data / corpus.file.replace(".train.", ".dev."))


def _unseen_documents(data: Path, language: Language) -> list[Labelled]:
    """Return a slice of the whole-text corpora, read by text weights that never saw it; nothing if there are none."""
    held_out = HeldOut(row.text for name in HELD_OUT if (data / name).exists() for row in read_rows(data / name))
    material = collect(data, EVERYDAY_SENTENCES, language, (held_out,), None, documents=True)
    if not material.documents:
        return []
    seen = [document for at, document in enumerate(material.documents) if at % EVERY]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(SHIPPED, Path(scratch) / "weights"))
        name = f"text_{language}.json.gz"
        content = fit_texts([*material.corpora, *material.own * OWN_TIMES, *material.everyday], seen)
        (folder / name).write_bytes(content)
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        manifest["files"][name] = file_entry(content)
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        engine = EmbeddedEngine(TrainedWeights(folder))
        return labelled((document.row for document in material.documents[::EVERY]), language, engine)


if __name__ == "__main__":
    main()
