"""The opinions that annotators marked. Only loaders and scorers hold these types; agents and memory accept none."""

from pydantic import Field, JsonValue

from episodic_absa.schemas.absa import Sample, Span
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Polarity


class GoldTuple(FrozenModel):
    """One opinion that an annotator marked."""

    aspect_ref: str | None = None
    """The annotator's category of the target, e.g. FOOD#QUALITY."""
    aspect_term: str
    """As written in the text; empty for an implicit opinion."""
    polarity: Polarity | None
    """None: the annotation names no valid polarity. Its sample is left out of quality metrics."""
    span: Span | None = None


class LabelledSample(FrozenModel):
    """A sample with its gold and its metadata, which must never reach an agent."""

    sample: Sample
    gold: tuple[GoldTuple, ...] | None = None
    """None: the text is not annotated. Empty: the text is annotated and holds no opinion."""
    odd_polarities: tuple[str, ...] = ()
    """The polarity words of its gold that are not spelled as the documentation says; `check` lists them."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Further columns of the file; never rendered into a prompt."""
