"""Why samples failed: equal causes counted together, from messages or from the records of a cell."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.runs.samples_file import SAMPLES, read_samples

ALIKE_N: Final = 10
"""So many samples that all fail alike at the start stop a run."""
_RETRIES: Final = re.compile(r" \(after \d+ retr(?:y|ies)\)")


class FailureCause(NamedTuple):
    """One cause of failures."""

    message: str
    """The message of the first sample that failed for it."""
    sample_n: int


def samples(count: int) -> str:
    """Return a number of samples in words for a message.

    Example:
        >>> samples(1), samples(1200)
        ('1 sample', '1,200 samples')
    """
    return f"{count:,} sample{'' if count == 1 else 's'}"


def cause_of(message: str) -> str:
    """Return the part of a message that is equal for all failures of a kind: what stands before the details.

    Example:
        >>> cause_of("openai:m answered with status 503: try request 71 later (after 5 retries)")
        'openai:m answered with status 503'
    """
    return _RETRIES.sub("", message).split(": ", 1)[0]


def grouped_causes(messages: Iterable[str]) -> tuple[FailureCause, ...]:
    """Return the causes behind the messages, the commonest first."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for message in messages:
        cause = cause_of(message)
        first.setdefault(cause, message)
        counts[cause] += 1
    return tuple(FailureCause(first[cause], count) for cause, count in counts.most_common())


def fail_alike(messages: Sequence[str], run_n: int) -> bool:
    """Return whether all of the first samples that were run failed for the same cause.

    Args:
        messages: why samples failed.
        run_n: how many samples were run, failed ones included.
    """
    return run_n == len(messages) >= ALIKE_N and len(set(map(cause_of, messages))) == 1


def read_failures(cell: Path) -> list[str]:
    """Return the messages of the failed samples of a cell.

    Raises:
        RunDirectoryError: a line of its records is not as it was written.
    """
    return [record.error.message for record in read_samples(cell / SAMPLES).records if record.error is not None]
