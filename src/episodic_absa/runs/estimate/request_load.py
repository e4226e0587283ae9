"""Guesses the tokens of single requests, before a model has answered any."""

from typing import Final, NamedTuple

from pydantic import BaseModel

from episodic_absa.backends.answer_schemas import schema_text
from episodic_absa.backends.backend import Request
from episodic_absa.vocabulary import SPEAKERS, Role

_ASSUMED_TOKENS_OUT: Final[dict[Role, int]] = {
    "ate": 80,
    "atsa": 180,
    "validator": 150,
    **dict.fromkeys(SPEAKERS, 200),
    "judge": 350,
    "stage2_ate": 120,
    "stage2_atsa": 150,
    "stage2_validator": 150,
}
# Means of a 1.5B model on English reviews, rounded up.
_ASSUMED_SHORT_TOKENS_OUT: Final[dict[Role, int]] = {
    "joint": 70,
    "ate": 20,
    "atsa": 70,
    "validator": 40,
    "epm": 60,
    "tan": 40,
    "cj": 40,
    "judge": 60,
    "stage2_ate": 50,
    "stage2_atsa": 60,
    "stage2_validator": 50,
    "referee": 10,
}
LATIN_CHARS_PER_TOKEN: Final = 4.0
_HANGUL_CHARS_PER_TOKEN: Final = 1.5


class Load(NamedTuple):
    """A number of calls and their tokens."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def plus(self, other: "Load") -> "Load":
        """Return the sum of two loads."""
        return Load(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def times(self, factor: float) -> "Load":
        """Multiply the load."""
        return Load(*(amount * factor for amount in self))


def guess_load(request: Request) -> Load:
    """Return the load of one request: the tokens of its prompt, and an assumed length of the answer."""
    ask = request.ask
    output_model: type[BaseModel] = ask.output_model
    if ask.prompt.states_form:
        # No schema is sent in words, and the answer holds only what the model can know.
        return Load(
            1, estimate_tokens(f"{ask.prompt.system}\n{request.user_text}"), _ASSUMED_SHORT_TOKENS_OUT[ask.role]
        )
    prompt = f"{ask.prompt.system}\n{schema_text(output_model)}\n{request.user_text}"
    return Load(1, estimate_tokens(prompt), _ASSUMED_TOKENS_OUT[ask.role])


def estimate_tokens(text: str) -> float:
    """Estimate the tokens of a text: models split Hangul into more tokens than Latin letters."""
    hangul_n = sum("가" <= character <= "힣" or "ㄱ" <= character <= "ㆎ" for character in text)
    return hangul_n / _HANGUL_CHARS_PER_TOKEN + (len(text) - hangul_n) / LATIN_CHARS_PER_TOKEN
