"""What each question asks a model for, in words for messages."""

from typing import Final

from episodic_absa.vocabulary import Role

_ASKED_FOR: Final[dict[Role, str]] = {
    "ate": "aspects",
    "atsa": "the sentiment of each aspect",
    "validator": "structural risks",
    "joint": "aspects",
    "epm": "the first speech of the debate",
    "tan": "the second speech of the debate",
    "cj": "the third speech of the debate",
    "judge": "the verdict of the debate",
    "stage2_ate": "the second look at aspects",
    "stage2_atsa": "the second look at sentiments",
    "stage2_validator": "the second look at structural risks",
    "referee": "the better of two results",
}


def question_of(role: Role) -> str:
    """Return what was asked, with the name under which files know it.

    Example:
        >>> question_of("joint")
        'the question for aspects (joint)'
    """
    return f"the question for {_ASKED_FOR[role]} ({role})"
