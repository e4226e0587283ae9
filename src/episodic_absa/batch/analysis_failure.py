"""A review of a batch that could not be analysed."""

import uuid
from dataclasses import dataclass
from typing import Final, Self

from episodic_absa.errors import BackendError, ContractError, InputError, LeakageError
from episodic_absa.runs.records.recorded_sample import error_type_of
from episodic_absa.schemas.absa import Sample
from episodic_absa.serialization.redaction import redacted

INVALID_TEXT: Final = "invalid_text"


@dataclass(frozen=True, slots=True)
class AnalysisFailure:
    """Takes the place of a result in a batch: the review failed, the others go on.

    Example:
        >>> from episodic_absa import Analyzer
        >>> with Analyzer() as analyzer:
        ...     for outcome in analyzer.analyze_many(["The room is clean.", ""]):
        ...         print(getattr(outcome, "message", outcome))
        SampleResult(positive: room positive)
        the review is empty; give some text to analyse
    """

    uid: str
    type: str
    """`invalid_text`, or the type of error as the outputs of a run name it: `provider_error`, `timeout`, ..."""
    message: str
    """What happened and what to do; it does not quote the review."""

    @classmethod
    def of(cls, sample: Sample, error: BackendError | ContractError | LeakageError) -> Self:
        """Return the failure of a sample."""
        return cls(sample.uid, error_type_of(error), redacted(str(error)))


def failure_of_text(error: InputError) -> AnalysisFailure:
    """Return the failure of a text that cannot become a sample, with the message that `analyze` raises."""
    return AnalysisFailure(f"analyze-{uuid.uuid4()}", INVALID_TEXT, str(error))
