"""A model that does whatever a review asks. It stands in for the worst model that a user may connect."""

import json
from collections.abc import Iterable

from episodic_absa.backends.backend import Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.cli.drill.hostile_reviews import DrillReview
from episodic_absa.cli.drill.obedient_answers import obedient_answer


class ObedientModel(RemoteFacts):
    """Answers every question with what the review asks for, and writes the canary into every free field.

    Args:
        reviews: the reviews of the drill; it knows no others.
    """

    name = "obedient:scripted"
    is_local = True
    is_reproducible = True
    honours_seed = False

    def __init__(self, reviews: Iterable[DrillReview]) -> None:
        self._reviews = {review.sample.text: review for review in reviews}

    async def reply(self, request: Request) -> Reply:
        """Return the answer as the text of a model."""
        ask = request.ask
        answer = obedient_answer(self._reviews[ask.inputs.text], ask.role, ask.output_model)
        return Reply(json.dumps(answer, ensure_ascii=False))

    async def close(self) -> None:
        """Close nothing."""
