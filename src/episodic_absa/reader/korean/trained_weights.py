"""The trained weights of the Korean engine: two taggers and five linear models."""

import base64
import gzip
import json
import threading
from array import array
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from episodic_absa.reader.korean.linear_model import LinearModel
from episodic_absa.reader.weights_folder import WeightsFolder


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


class KoreanWeights(NamedTuple):
    """Everything that was trained."""

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


def load_weights(folder: WeightsFolder) -> KoreanWeights:
    """Return the weights of a folder, each file checked against its manifest."""
    return KoreanWeights(
        tagger=AspectTagger(gzip.decompress(folder.content("ko/tagger.crf.gz"))),
        everyday_tagger=AspectTagger(gzip.decompress(folder.content("ko/everyday_tagger.crf.gz"))),
        domain=_linear(folder.content("ko/domain.json.gz")),
        polarity=_linear(folder.content("ko/polarity.json.gz")),
        everyday_polarity=_linear(folder.content("ko/everyday_polarity.json.gz")),
        text=_linear(folder.content("ko/text.json.gz")),
        opinion=_linear(folder.content("ko/opinion.json.gz")),
    )


def _linear(content: bytes) -> LinearModel:
    stored = json.loads(gzip.decompress(content))
    classes: tuple[str, ...] = tuple(stored["classes"])
    steps = array("b", base64.b64decode(stored["steps"], validate=True))
    rows = zip(*[iter(steps)] * len(classes), strict=True)
    return LinearModel(classes, stored["scale"], dict(zip(stored["names"], rows, strict=True)))
