"""Puts trained readers into the package: networks, tokenisers, vectors, calibration, and a manifest of all of it.

python training/reader/ship.py IN_FOLDER [--out FOLDER] [--made-by "..."]

IN_FOLDER holds `en/` with reader.onnx.gz and tokenizer.json (export.py), vectors.npz (vectors.py), known.json and
unknown.json (evaluate.py --table; an empty table where one is absent) and settings.json (tag, threshold,
known_up_to_tokens), and `ko/` with the weights of the Korean engine and its vectors, whose pieces have a tokeniser of
their own.
"""

import argparse
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, Final

SHIPPED: Final = Path(__file__).resolve().parents[2] / "src" / "episodic_absa" / "reader" / "weights"
FILES: Final = {
    "en": ("reader.onnx.gz", "tokenizer.json", "vectors.npz"),
    "ko": (
        *("tagger.crf.gz", "everyday_tagger.crf.gz", "domain.json.gz", "polarity.json.gz", "everyday_polarity.json.gz"),
        *("text.json.gz", "opinion.json.gz", "calibration.json", "vectors.npz", "vectors.tokenizer.json"),
    ),
}
"""Of each language; a vocabulary beside vectors whose pieces are not those of a network."""
NETWORKS: Final = ("en",)
"""The languages that a network reads."""
TABLES: Final = ("known", "unknown")
CALIBRATION, MANIFEST = "calibration.json", "manifest.json"
MOST_BYTES: Final = 28_000_000
SETTINGS: Final[dict[str, Any]] = {"tag": "everyday", "threshold": 0.45, "known_up_to_tokens": 0}


def main() -> None:
    """Write the folder and say how large it is."""
    parser = argparse.ArgumentParser(description="Put trained readers into the package.")
    parser.add_argument("readers", type=Path)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--made-by", default="training/reader", help="what the manifest says of the training")
    given = parser.parse_args()
    ship(given.readers, given.out, given.made_by)
    total = sum(path.stat().st_size for path in given.out.rglob("*") if path.is_file())
    print(given.out, total, "bytes")
    if total > MOST_BYTES:
        raise SystemExit(f"more than {MOST_BYTES} bytes")


def ship(readers: Path, out: Path, made_by: str) -> None:
    """Copy the files of both readers, and write calibration and manifest."""
    for language, files in FILES.items():
        shutil.rmtree(out / language, ignore_errors=True)
        (out / language).mkdir(parents=True)
        for name in files:
            shutil.copyfile(readers / language / name, out / language / name)
    _write(out / CALIBRATION, {language: calibration_of(readers / language) for language in NETWORKS})
    names = [CALIBRATION, *(f"{language}/{name}" for language, files in FILES.items() for name in files)]
    sums = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in sorted(names)}
    _write(out / MANIFEST, {"files": sums, "made_by": made_by})


def calibration_of(folder: Path) -> dict[str, Any]:
    """Return the entry of a language in calibration.json."""
    settings = folder / "settings.json"
    told = json.loads(settings.read_text("utf-8")) if settings.exists() else {}
    return {**SETTINGS, **told, **{name: _table(folder / f"{name}.json") for name in TABLES}}


def _table(path: Path) -> dict[str, list[float]]:
    if not path.exists():
        return {"scores": [], "probabilities": []}
    table: dict[str, list[float]] = json.loads(path.read_text("utf-8"))
    # Tables are fitted on pairs that a reader lists. It is also asked about terms to which it gives next to nothing.
    return {name: [0.0, *numbers] for name, numbers in table.items()}


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
