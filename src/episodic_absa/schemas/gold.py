"""What annotators found in a text. Only loaders and scorers hold these types; agents and memory accept none of them."""

from pydantic import Field, JsonValue

from episodic_absa.schemas.absa import Sample, Span
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Polarity


class GoldTuple(FrozenModel):
    """One opinion that an annotator saw."""

    aspect_ref: str | None = None
    """The annotator's category of the target, e.g. FOOD#QUALITY."""
    aspect_term: str
    """As written in the text; empty for an implicit opinion."""
    polarity: Polarity | None
    """None: the annotation names no valid polarity. Its sample is left out of quality metrics."""
    span: Span | None = None


class LabelledSample(FrozenModel):
    """A sample with what must never reach an agent: its gold and its metadata."""

    sample: Sample
    gold: tuple[GoldTuple, ...] | None = None
    """None: nobody annotated the text. Empty: annotated, and no opinion was found."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Whatever else the file says about the text; never rendered into a prompt."""
