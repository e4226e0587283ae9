"""Reads from a first analysis what the memory's gates decide by. The memory gets values and never sees the reader."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.language import CueKind, clauses, find_contrasts, find_ironies, find_negations
from episodic_absa.memory import GateSignals, gate_signals
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis, first_place
from episodic_absa.pipeline.stage1.stage1 import readers_p
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import SentimentItem, Stage1Result, StructuralRisk
from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.serialization.yaml_file import read_yaml_file
from episodic_absa.vocabulary import Language, RiskId

SHIPPED_GATES: Final = Path(__file__).parent / "decision" / "gate_rules.yaml"
_FINDERS: Final = {"negation": find_negations, "contrast": find_contrasts, "irony": find_ironies}
_CUE_OF_RISK: Final[Mapping[RiskId, CueKind]] = {
    "NEGATION_SCOPE": "negation",
    "CONTRAST_SCOPE": "contrast",
    "IRONY": "irony",
}


class GateRules(FrozenModel):
    """The content of gate_rules.yaml."""

    structure: Annotated[tuple[CueKind, ...], Field(min_length=1)]
    """The kinds of cues that count."""
    scope_risks_need_cues: Flag
    """Whether a risk about a scope opens a gate only where the text holds a cue of its kind."""
    reader_disagrees_from: Score
    """How likely the reader must hold its own polarity to be."""
    unsure_from: Score
    """A pair with a lower calibrated confidence is almost surely wrong, which is no doubt."""
    unsure_below: Score
    """A pair with a lower calibrated confidence is unsure."""


@cache
def load_gate_rules(path: Path = SHIPPED_GATES) -> GateRules:
    """Return the thresholds of a file, the shipped one by default. A file is read once.

    Raises:
        ConfigError: the file cannot be read, or a key in it is missing, unknown or out of range.
    """
    content = read_yaml_file(path)
    try:
        return GateRules.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{path}: {key + ': ' if key else ''}{first['msg']}; fix the file", path=path, key=key or None
        ) from error


def gate_rules_sha256() -> str:
    """Return the sha256 of the shipped thresholds, by which runs tell on which of them their results depend."""
    return hashlib.sha256(SHIPPED_GATES.read_bytes()).hexdigest()


class GateReading:
    """Reads Stage1, the cues beside its aspects, and the reader.

    Args:
        rules: the thresholds.
        reader: the independent witness; None leaves it out. Without it, and in languages that it does not read, no pair
            has a calibrated confidence: then `reader_disagrees` and `unsure` are silent.
    """

    def __init__(self, rules: GateRules, reader: TextReader | None) -> None:
        self._rules = rules
        self._reader = reader

    def signals(self, first: FirstAnalysis) -> GateSignals:
        """Return the signals of one sample."""
        text, language, stage1 = first.text, first.language, first.result
        pairs = [item for item in first.pairs if item.aspect_term]
        return gate_signals(stage1.ate, stage1.atsa, stage1.validator, first.tuples)._replace(
            structural_risk_n=sum(self._counts(risk, text, language) for risk in stage1.validator.structural_risks),
            has_structure=self._has_structure(text, language, stage1),
            reader_disagrees=any(self._reader_disagrees(item, text, language) for item in pairs),
            is_unsure=any(self._is_unsure(item, text, language) for item in pairs),
        )

    def _counts(self, risk: StructuralRisk, text: str, language: Language) -> bool:
        cue = _CUE_OF_RISK.get(risk.type)
        # Without a lexicon of the language nothing speaks against the risk.
        if cue is None or language == "other" or not self._rules.scope_risks_need_cues:
            return True
        return bool(_FINDERS[cue](text, language))

    def _has_structure(self, text: str, language: Language, stage1: Stage1Result) -> bool:
        cues = [cue for kind in self._rules.structure for cue in _FINDERS[kind](text, language)]
        if not cues:
            return False
        places = [aspect.span or first_place(aspect.aspect_term, text) for aspect in stage1.ate.aspects]
        starts = [place.start for place in places if place is not None]
        return any(
            any(start <= place < end for place in starts) and any(start <= cue.start < end for cue in cues)
            for start, end in clauses(text, language)
        )

    def _reader_disagrees(self, item: SentimentItem, text: str, language: Language) -> bool:
        if self._reader is None:
            return False
        view = self._reader.view(text, language, item.aspect_term)
        return (
            view is not None and view.polarity != item.polarity and view.p_polarity >= self._rules.reader_disagrees_from
        )

    def _is_unsure(self, item: SentimentItem, text: str, language: Language) -> bool:
        confidence = readers_p(item, text, language, self._reader)
        return confidence is not None and self._rules.unsure_from <= confidence < self._rules.unsure_below
