"""Opens the trained weights: checked against their manifest before the first use, never replaced by a guess."""

import gzip
import hashlib
import json
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.backends.embedded.model.linear_model import LinearModel
from episodic_absa.errors import ConfigError

SHIPPED: Final = Path(__file__).parents[1] / "weights"
MANIFEST: Final = "manifest.json"
weights_folder: ContextVar[Path] = ContextVar("weights_folder", default=SHIPPED)
"""Where this context reads weights from. Training and benchmarks try others; nobody else sets it."""
_REMEDY: Final = "reinstall episodic-absa, or train them anew with: python training/train.py"


class LanguageWeights(NamedTuple):
    """Everything trained for one language."""

    tagger: Any
    """A pycrfsuite.Tagger; the package brings no types."""
    tagger_bytes: bytes
    """What the tagger reads from: it holds no copy, so these must live as long as it does."""
    domain: LinearModel
    polarity: LinearModel
    text: LinearModel


def weights_of(language: str) -> LanguageWeights:
    """Return the weights of a language, loaded once per folder."""
    return _load(weights_folder.get(), language)


def weights_sha256(folder: Path = SHIPPED) -> str:
    """Return one hash for all weights of a folder: that of the manifest, which names the hash of every file."""
    return hashlib.sha256(_read(folder / MANIFEST)).hexdigest()


def read_linear_model(content: bytes) -> LinearModel:
    """Read a model from the bytes of its file."""
    stored = json.loads(gzip.decompress(content))
    return LinearModel(tuple(stored["classes"]), stored["scale"], stored["weights"])


@cache
def _load(folder: Path, language: str) -> LanguageWeights:
    try:
        files: dict[str, dict[str, Any]] = json.loads(_read(folder / MANIFEST))["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(folder / MANIFEST, "cannot be read as a manifest") from error
    models = {part: _linear(folder / f"{part}_{language}.json.gz", files) for part in ("domain", "polarity", "text")}
    path = folder / f"tagger_{language}.crf.gz"
    content = _checked(path, files)
    tagger = import_module("pycrfsuite").Tagger()
    try:
        model = gzip.decompress(content)
        tagger.open_inmemory(model)
    except (OSError, EOFError, ValueError) as error:
        raise _damaged(path, "is not a model of python-crfsuite") from error
    return LanguageWeights(tagger=tagger, tagger_bytes=model, **models)


def _linear(path: Path, files: dict[str, dict[str, Any]]) -> LinearModel:
    content = _checked(path, files)
    try:
        return read_linear_model(content)
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, "is not a linear model") from error


def _checked(path: Path, files: dict[str, dict[str, Any]]) -> bytes:
    content = _read(path)
    listed = files.get(path.name, {}).get("sha256")
    if listed is None:
        raise _damaged(path, f"is not listed in {MANIFEST}")
    if hashlib.sha256(content).hexdigest() != listed:
        raise _damaged(path, f"is not the file that {MANIFEST} describes")
    return content


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"weights of the embedded engine cannot be read: {path}: {error.strerror}; {_REMEDY}"
        raise ConfigError(message, path=path) from error


def _damaged(path: Path, what: str) -> ConfigError:
    return ConfigError(f"weights of the embedded engine are damaged: {path} {what}; {_REMEDY}", path=path)
