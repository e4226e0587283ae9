"""What the rules alone say of a target: whether an opinion is tied to it, whether a sentence is plainly about it."""

from episodic_absa.reader.korean.reading import Reading, Target


def judged_at(reading: Reading, start: int, end: int) -> int | None:
    """Return the index of the target at exactly this place if the rules tie an opinion to it."""
    for index in reading.opinions_of:
        if (reading.targets[index].start, reading.targets[index].end) == (start, end):
            return index
    return None


def is_plain_subject(target: Target) -> bool:
    """Whether a sentence is plainly about this."""
    return target.is_nameable and target.case in ("subject", "topic")
