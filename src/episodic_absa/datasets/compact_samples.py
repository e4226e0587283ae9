"""Keeps the samples of a large file small: what many samples have in common is held once."""

from typing import Any, Final

from pydantic import JsonValue

from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample

_LONGEST_SHARED: Final = 40
_MOST_SHARED: Final = 10_000
_SAMPLE_FIELDS: Final = set(Sample.model_fields)
_LABELLED_FIELDS: Final = set(LabelledSample.model_fields)


class CompactSamples:
    """Returns samples equal to those it is given, with short values and the sets of field names shared.

    pydantic keeps a set of the given fields for every model, which takes more memory than a review.
    """

    def __init__(self) -> None:
        self._shared: dict[str, str] = {}

    def compact(self, labelled: LabelledSample) -> LabelledSample:
        """Return an equal sample that takes less memory."""
        fields: dict[str, Any] = {name: self._value(value) for name, value in labelled.sample}
        return LabelledSample.model_construct(
            _fields_set=_LABELLED_FIELDS,
            sample=Sample.model_construct(_fields_set=_SAMPLE_FIELDS, **fields),
            gold=labelled.gold,
            odd_polarities=labelled.odd_polarities,
            metadata={self._text(name): self._value(value) for name, value in labelled.metadata.items()},
        )

    def _value(self, value: JsonValue) -> JsonValue:
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if len(text) > _LONGEST_SHARED:
            return text
        if len(self._shared) < _MOST_SHARED:
            return self._shared.setdefault(text, text)
        return self._shared.get(text, text)
