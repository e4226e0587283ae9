"""The pairs of one joint ask, or those that most of several such asks agree on."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from episodic_absa.errors import BackendResponseError
from episodic_absa.language import norm, read_polarity
from episodic_absa.pipeline.asking import Asking, Draw, first_error
from episodic_absa.schemas.answers import JointAnswer, Pair
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.vocabulary import Language


async def ask_for_pairs(text: str, language: Language, asking: Asking, settings: PipelineSettings) -> tuple[Pair, ...]:
    """Return the pairs of a text.

    A vote that cannot be read holds no pair.

    Raises:
        BackendError: no answer can be read, or the backend cannot be reached. All asks end first, so that the recorded
            cost is the same.
    """
    inputs = AteInputs(text=text, language=language)
    context = [("text", text)]
    if settings.votes == 1:
        return (await asking.ask("joint", inputs, context, JointAnswer)).pairs
    draws = [Draw(seed, settings.vote_temperature) for seed in range(settings.votes)]
    answers = await asyncio.gather(
        *(asking.ask("joint", inputs, context, JointAnswer, draw=draw) for draw in draws), return_exceptions=True
    )
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    if len(failed) == len(answers) or any(not isinstance(error, BackendResponseError) for error in failed):
        raise first_error(*failed)
    return majority([answer.pairs if isinstance(answer, JointAnswer) else () for answer in answers])


def majority(votes: Sequence[Sequence[Pair]]) -> tuple[Pair, ...]:
    """Return the pairs that more than half of the votes hold, in the order and the words in which they first occur."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], Pair] = {}
    for vote in votes:
        counts.update({_key(pair) for pair in vote})
        for pair in vote:
            first.setdefault(_key(pair), pair)
    return tuple(pair for key, pair in first.items() if 2 * counts[key] > len(votes))


def _key(pair: Pair) -> tuple[str, str]:
    return norm(pair.term), read_polarity(pair.polarity).polarity or ""
