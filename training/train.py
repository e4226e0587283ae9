"""Trains the weights of the embedded engine and writes them with their manifest.

python training/train.py [--data FOLDER] [--out src/episodic_absa/backends/embedded/weights]
python training/train.py --language ko --leave-out hotel --out /tmp/without_hotel
python training/train.py --only everyday      the everyday weights and the domains; the weights of the domains stay

The same data give the same bytes. Texts that resemble held-out ones are left out, and counted in the manifest.
"""

import argparse
import gzip
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pycrfsuite
from corpora import (
    CORPORA,
    EVERYDAY_SENTENCES,
    HELD_OUT,
    HELD_OUT_TABLE,
    OWN_DATA,
    OWN_SENTENCES,
    OWN_TABLES,
    ROOT,
    TRAINING_TABLES,
    Corpus,
    Row,
    file_sha256,
    public_data,
    read_everyday,
    read_marked_sentences,
    read_own_rows,
    read_rows,
    read_table,
)
from examples import Example, Judged, judged_targets, judged_text, read_examples, tagged_words, without_predicates
from linear_training import fit_linear
from near_copies import HeldOut, refuse_near_copies

from episodic_absa.backends.embedded.model.polarity_features import domain_features, in_domain, opinion_features
from episodic_absa.backends.embedded.model.tagger_features import adapted
from episodic_absa.backends.embedded.model.trained_weights import MANIFEST, SHIPPED
from episodic_absa.backends.embedded.model.weighing import EVERYDAY, JUDGES, NO_OPINION, OTHER_DOMAIN
from episodic_absa.vocabulary import POLARITIES, Language

LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")
_TAGGER: Final = {
    "c1": 0.3,
    "c2": 1.0,
    "max_iterations": 150,
    "feature.minfreq": 2,
    "feature.possible_transitions": True,
}


_MOST_OF_A_DOMAIN: Final = 1000
"""The weight of one domain in the general part of a polarity model, in examples."""
_MOST_OF_OWN: Final = 2500
"""The weight of our own sentences among the domains, in texts."""
_MOST_OF_A_CORPUS: Final = 1000
"""How many texts of a corpus train the everyday weights: they should know its words, not its annotators' habits."""
_NEUTRAL_SHARES: Final = {
    corpus.domain: (corpus.own_neutral_share, corpus.neutral_share) for corpus in CORPORA if corpus.kind == "aspects"
}


class Material(NamedTuple):
    """The training data of one language, and its sources."""

    corpora: list[Example]
    documents: list[Example]
    own: list[Example]
    """Sentences written for this project that every model learns."""
    everyday: list[Example]
    """Short reviews of anything, written for this project for the everyday weights."""
    sources: list[dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the languages named on the command line."""
    parser = argparse.ArgumentParser(description="Train the weights of the embedded engine.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--everyday", type=Path, default=EVERYDAY_SENTENCES, help="the folder of everyday sentences")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--leave-out", metavar="DOMAIN", help="train without this domain")
    parser.add_argument("--no-documents", action="store_true", help="leave whole-text corpora out (quicker)")
    parser.add_argument("--only", choices=("everyday",), help="train only these weights and the domains")
    given = parser.parse_args(arguments)
    if not given.data.is_dir():
        raise SystemExit(f"no data at {given.data}; see training/README.md for what is needed")
    train(
        given.data,
        given.out,
        given.language or LANGUAGES,
        everyday=given.everyday,
        leave_out=given.leave_out,
        documents=not given.no_documents,
        only_everyday=given.only is not None,
    )


def train(
    data: Path,
    out: Path,
    languages: Sequence[Language],
    *,
    everyday: Path = EVERYDAY_SENTENCES,
    leave_out: str | None = None,
    documents: bool = True,
    only_everyday: bool = False,
) -> dict[str, Any]:
    """Train, write the weights and return their manifest; weights of other languages in that folder stay."""
    out.mkdir(parents=True, exist_ok=True)
    held_out = HeldOut(row.text for name in HELD_OUT if (data / name).exists() for row in read_rows(data / name))
    own_held_out = HeldOut(
        row.text
        for language in LANGUAGES
        for row in (
            *read_own_rows(language, "valid"),
            *read_table(HELD_OUT_TABLE, language),
            *read_everyday(language),
        )
    )
    files: dict[str, bytes] = {}
    sources: list[dict[str, Any]] = []
    for language in languages:
        material = collect(data, everyday, language, (held_out, own_held_out), leave_out, documents=documents)
        sources += material.sources
        if not only_everyday:
            files |= train_language(language, material)
        files |= train_everyday(language, material)
    for name, content in files.items():
        (out / name).write_bytes(content)
    manifest = _manifest(out, files, sources, languages, leave_out)
    (out / MANIFEST).write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return manifest


def _manifest(
    out: Path,
    files: dict[str, bytes],
    sources: list[dict[str, Any]],
    languages: Sequence[Language],
    leave_out: str | None,
) -> dict[str, Any]:
    known: dict[str, Any] = json.loads((out / MANIFEST).read_text()) if (out / MANIFEST).exists() else {}
    kept = [source for source in known.get("trained_on", []) if source["language"] not in languages]
    listed = {name: entry for name, entry in known.get("files", {}).items() if (out / name).exists()}
    listed |= {name: file_entry(content) for name, content in files.items()}
    return {
        "format": 1,
        "left_out_domain": leave_out,
        "trained_on": sorted((*kept, *sources), key=lambda source: (source["language"], source["file"])),
        "files": listed,
        "bytes": sum(entry["bytes"] for entry in listed.values()),
    }


def file_entry(content: bytes) -> dict[str, Any]:
    """Return the manifest's entry of a file; the engine opens no other file."""
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


OWN_TIMES: Final = 2
"""How often each of our own sentences is repeated: they are few and clean, the corpora are large and noisy."""


def collect(
    data: Path,
    sentences: Path,
    language: Language,
    held_out: Sequence[HeldOut],
    leave_out: str | None,
    *,
    documents: bool,
) -> Material:
    """Return the training data without texts that resemble a held-out one."""
    examples: list[Example] = []
    whole_texts: list[Example] = []
    own: list[Example] = []
    everyday: list[Example] = []
    sources: list[dict[str, Any]] = []
    for corpus in CORPORA:
        path = data / corpus.file
        if corpus.language != language or (leave_out is not None and corpus.domain == leave_out) or not path.exists():
            continue
        if corpus.kind == "documents" and not documents:
            continue
        rows, dropped = _without_near_copies(list(read_rows(path)), held_out)
        found = read_examples(rows, language, corpus.domain if corpus.has_habits else OTHER_DOMAIN)
        (whole_texts if corpus.kind == "documents" else examples).extend(found)
        sources.append(_source(corpus, path, len(rows), dropped))
        say(f"{language}: {corpus.file}: {len(rows)} texts, {dropped} left out as near copies of held-out ones")
    own_files = [(OWN_DATA / "train.csv", read_own_rows(language), own)]
    own_files += [(OWN_TABLES / name, read_table(name, language), own) for name in TRAINING_TABLES]
    own_files += [(path, read_marked_sentences(path), own) for path in sorted(OWN_SENTENCES.glob(f"{language}.txt"))]
    for path in sorted(sentences.glob(f"{language}_*.txt")):
        own_files.append((path, read_marked_sentences(path), everyday))
    for path, found_rows, kind in own_files:
        rows, dropped = _without_near_copies(found_rows, held_out)
        kind += read_examples(rows, language, None)
        written = Corpus(path.name, language, None, "MIT", f"this project, {_place(path)}")
        sources.append(_source(written, path, len(rows), dropped))
    return Material(examples, whole_texts, own, everyday, sources)


def train_language(language: Language, material: Material) -> dict[str, bytes]:
    """Train the models that follow the corpora of a language, and return their files."""
    examples = [*material.corpora, *material.own * OWN_TIMES]
    say(f"{language}: tagger on {len(examples)} texts")
    files = {f"tagger_{language}.crf.gz": train_tagger(examples)}
    targets = [judged for example in examples for judged in judged_targets(example)]
    say(f"{language}: polarity of {len(targets)} targets")
    files[f"polarity_{language}.json.gz"] = fit_polarity(targets, penalty=4.0, min_count=2)
    say(f"{language}: polarity of whole texts")
    files[f"text_{language}.json.gz"] = fit_texts([*examples, *material.everyday], material.documents)
    return files


def train_everyday(language: Language, material: Material) -> dict[str, bytes]:
    """Train the models that read as an ordinary reader does, and those that tell which texts they are for."""
    own = [*material.own, *material.everyday]
    corpora: dict[str, list[Example]] = {}
    for example in material.corpora:
        corpora.setdefault(example.domain or "", []).append(example)
    some = [example for found in corpora.values() for example in evenly(found, _MOST_OF_A_CORPUS)]
    say(f"{language}: everyday tagger on {len(some) + len(own)} texts")
    files = {f"everyday_tagger_{language}.crf.gz": train_tagger([*some, *own * OWN_TIMES], with_domains=False)}
    targets = [judged for example in [*material.corpora, *own * OWN_TIMES] for judged in judged_targets(example)]
    say(f"{language}: everyday polarity of {len(targets)} targets")
    files[f"everyday_polarity_{language}.json.gz"] = fit_polarity(targets, penalty=4.0, min_count=2, with_domains=False)
    say(f"{language}: texts without an opinion")
    files[f"opinion_{language}.json.gz"] = fit_linear(
        [opinion_features(example.reading) for example in own],
        [JUDGES if example.row.gold else NO_OPINION for example in own],
        (JUDGES, NO_OPINION),
        penalty=2.0,
        min_count=2,
    )
    say(f"{language}: domains")
    files[f"domain_{language}.json.gz"] = fit_domains(material.corpora, own)
    return files


def fit_domains(corpora: Sequence[Example], own: Sequence[Example]) -> bytes:
    """Fit what tells the domains apart. Our own sentences are many: at full weight they would claim most texts."""
    placed = [*corpora, *own]
    names = [example.domain or EVERYDAY for example in placed]
    of_own = min(1.0, _MOST_OF_OWN / max(1, len(own)))
    return fit_linear(
        [domain_features(example.reading) for example in placed],
        names,
        sorted({*names, EVERYDAY}),
        penalty=0.3,
        min_count=2,
        shares=[of_own if name == EVERYDAY else 1.0 for name in names],
    )


def evenly(examples: Sequence[Example], most: int) -> Sequence[Example]:
    """Return at most so many examples, evenly spaced."""
    step = max(1.0, len(examples) / most)
    return [examples[int(at * step)] for at in range(min(most, len(examples)))]


def train_tagger(examples: Sequence[Example], *, with_domains: bool = True) -> bytes:
    """Train a tagger with every text twice, once with its domain and once without; or only without."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(_TAGGER)
    for example in examples:
        features, labels = tagged_words(example)
        if with_domains and example.habits is not None:
            trainer.append(adapted(features, example.habits), labels)
        # One corpus marks predicates ("works well") as targets; the general part must not learn that habit.
        trainer.append(features, without_predicates(example.reading, labels))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger.crf"
        trainer.train(str(path))
        return gzip.compress(path.read_bytes(), mtime=0)


def fit_texts(examples: Sequence[Example], documents: Sequence[Example]) -> bytes:
    """Fit the polarity of whole texts. Rare features are dropped: among so many documents they are mostly chance."""
    texts = [judged for example in [*examples, *documents] if (judged := judged_text(example)) is not None]
    return fit_polarity(texts, penalty=12.0 if documents else 6.0, min_count=5 if documents else 2)


def fit_polarity(judged: Sequence[Judged], *, penalty: float, min_count: int, with_domains: bool = True) -> bytes:
    """Fit a polarity model with every example twice, with and without its domain, at half weight or less each.

    Without domains every example counts once, as outside its domain.
    """
    sizes = Counter(example.domain for example in judged)
    rows, labels, shares = [], [], []
    for example in judged:
        for domain in dict.fromkeys((example.domain, None)) if with_domains else (None,):
            rows.append(in_domain(example.features, domain))
            labels.append(example.polarity)
            shares.append(example.share * _share(example, sizes, is_general=domain is None))
    return fit_linear(rows, labels, POLARITIES, penalty=penalty, min_count=min_count, shares=shares)


def _share(example: Judged, sizes: Counter[str | None], *, is_general: bool) -> float:
    """Return the weight of an example. In the general part the weight of a large domain is limited."""
    if example.domain is None:
        return 1.0
    own, general = _NEUTRAL_SHARES.get(example.domain, (1.0, 1.0)) if example.polarity == "neutral" else (1.0, 1.0)
    if not is_general:
        return 0.5 * own
    return 0.5 * general * min(1.0, _MOST_OF_A_DOMAIN / sizes[example.domain])


def say(message: str) -> None:
    """Show progress."""
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def _without_near_copies(rows: list[Row], held_out: Sequence[HeldOut]) -> tuple[list[Row], int]:
    kept = [row for row in rows if not any(held_out_set.resembles(row.text) for held_out_set in held_out)]
    for held_out_set in held_out:
        refuse_near_copies((row.text for row in kept), held_out_set)
    return kept, len(rows) - len(kept)


def _place(path: Path) -> str:
    """Return the folder of one of our own files, as a stranger finds it."""
    return (path.relative_to(ROOT).parent if path.is_relative_to(ROOT) else path.parent).as_posix()


def _source(corpus: Corpus, path: Path, texts: int, dropped: int) -> dict[str, Any]:
    return {
        "file": corpus.file,
        "language": corpus.language,
        "domain": corpus.domain,
        "kind": corpus.kind,
        "source": corpus.source,
        "licence": corpus.licence,
        "sha256": file_sha256(path),
        "texts": texts,
        "left_out_as_near_copies": dropped,
    }


if __name__ == "__main__":
    main()
