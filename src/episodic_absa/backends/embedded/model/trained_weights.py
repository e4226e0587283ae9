"""Loads the trained weights and checks every file against the manifest."""

import base64
import gzip
import hashlib
import json
import threading
from array import array
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.backends.embedded.model.linear_model import LinearModel
from episodic_absa.errors import ConfigError

SHIPPED: Final = Path(__file__).parents[1] / "weights"
MANIFEST: Final = "manifest.json"
_REMEDY: Final = "reinstall episodic-absa, or train them anew with: python training/train.py"


class AspectTagger:
    """The conditional random field that says which words name a target."""

    def __init__(self, model: bytes) -> None:
        # The tagger holds no copy of the model, so the bytes must live as long as it does.
        self._model = model
        self._tagger: Any = import_module("pycrfsuite").Tagger()
        self._tagger.open_inmemory(model)
        self._one_text = threading.Lock()

    def marginals(self, features: Sequence[Sequence[str]]) -> list[tuple[float, float]]:
        """Return per word how likely it begins a target, and how likely it continues one."""
        # The tagger holds one text at a time.
        with self._one_text:
            self._tagger.set(features)
            marginal = self._tagger.marginal
            return [(marginal("B", at), marginal("I", at)) for at in range(len(features))]


class LanguageWeights(NamedTuple):
    """Everything trained for one language."""

    tagger: AspectTagger
    """Names targets as the annotators of each trained domain did."""
    everyday_tagger: AspectTagger
    """Names targets as an ordinary reader would, in texts of any domain."""
    domain: LinearModel
    polarity: LinearModel
    everyday_polarity: LinearModel
    text: LinearModel
    opinion: LinearModel
    """Tells texts that judge something from those that tell, plan or ask."""


class TrainedWeights:
    """The weights of a folder; each language is loaded and checked when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loaded: dict[str, LanguageWeights] = {}
        self._loading = threading.Lock()

    def of(self, language: str) -> LanguageWeights:
        """Return the weights of a language; raise ConfigError if a file is missing or damaged."""
        known = self._loaded.get(language)
        if known is not None:
            return known
        with self._loading:
            if language not in self._loaded:
                self._loaded[language] = _load(self.folder, language)
            return self._loaded[language]


SHIPPED_WEIGHTS: Final = TrainedWeights(SHIPPED)
"""What the package brings. Nothing is read before the first text."""


def weights_sha256(folder: Path = SHIPPED) -> str:
    """Return the hash of a folder's manifest, which holds the hash of every weight file."""
    return hashlib.sha256(_read(folder / MANIFEST)).hexdigest()


def read_linear_model(content: bytes) -> LinearModel:
    """Read a model from the bytes of its file."""
    stored = json.loads(gzip.decompress(content))
    classes: tuple[str, ...] = tuple(stored["classes"])
    steps = array("b", base64.b64decode(stored["steps"], validate=True))
    rows = zip(*[iter(steps)] * len(classes), strict=True)
    return LinearModel(classes, stored["scale"], dict(zip(stored["names"], rows, strict=True)))


def _load(folder: Path, language: str) -> LanguageWeights:
    try:
        files: dict[str, dict[str, Any]] = json.loads(_read(folder / MANIFEST))["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(folder / MANIFEST, "cannot be read as a manifest") from error
    return LanguageWeights(
        tagger=_tagger(folder / f"tagger_{language}.crf.gz", files),
        everyday_tagger=_tagger(folder / f"everyday_tagger_{language}.crf.gz", files),
        domain=_linear(folder / f"domain_{language}.json.gz", files),
        polarity=_linear(folder / f"polarity_{language}.json.gz", files),
        everyday_polarity=_linear(folder / f"everyday_polarity_{language}.json.gz", files),
        text=_linear(folder / f"text_{language}.json.gz", files),
        opinion=_linear(folder / f"opinion_{language}.json.gz", files),
    )


def _tagger(path: Path, files: dict[str, dict[str, Any]]) -> AspectTagger:
    content = _checked(path, files)
    try:
        return AspectTagger(gzip.decompress(content))
    except (OSError, EOFError, ValueError) as error:
        raise _damaged(path, "is not a model of python-crfsuite") from error


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
