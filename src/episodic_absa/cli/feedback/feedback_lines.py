"""Reads verdicts from stdin, line by line, and answers each once it is on disk."""

import sys

from pydantic import ValidationError

from episodic_absa.cli.output import print_json
from episodic_absa.errors import InputError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.feedback import give_feedback
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.quoted_value import reasons_of


class FeedbackLine(FrozenModel):
    """One verdict, as a program writes it."""

    uid: str
    verdict: str
    aspect: str | None = None


def read_and_give(store: MemoryStore) -> str:
    """Give every verdict of stdin to the store; return why the first bad line was refused, "" if none was.

    Reading stops at a bad line. Earlier verdicts stand, and giving them again changes nothing.
    """
    given_n = 0
    # Bytes: a line that is not UTF-8 is a bad line like any other.
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            asked = FeedbackLine.model_validate_json(line)
            given = give_feedback(store, asked.uid, asked.verdict, asked.aspect)
        except (ValidationError, InputError) as error:
            reason = reasons_of(error) if isinstance(error, ValidationError) else str(error)
            before = f"{given_n} verdict{' before it stands' if given_n == 1 else 's before it stand'}"
            return f"line {number} of stdin: {reason}. {before}; fix the line and send all lines again"
        given_n += 1
        print_json(given._asdict())
        # The program that reads the answers may wait for this one before it writes the next verdict.
        sys.stdout.flush()
    return ""
