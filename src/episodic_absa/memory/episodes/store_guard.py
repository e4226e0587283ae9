"""What a store asks before it writes anything: closed words, short terms, no text, whoever appends or imports."""

from collections.abc import Collection, Mapping
from typing import get_args

from pydantic import BaseModel

from episodic_absa.errors import LeakageError
from episodic_absa.memory.advice.principles import PrincipleCatalogue
from episodic_absa.memory.episodes.leak_guard import FORBIDDEN_KEYS, refuse_open_terms, refuse_open_vocabulary
from episodic_absa.schemas.stored.memory_v1_3 import AnswerV1_3, EpisodeDraftV1_3, VerdictV1_3
from episodic_absa.store.additions import Guard
from episodic_absa.vocabulary import ActionTaken


def store_guard(
    catalogue: PrincipleCatalogue,
    *,
    actions: Collection[str] = get_args(ActionTaken),
    context: Mapping[str, Collection[str]] | None = None,
) -> Guard:
    """Return what a store asks before it writes; it raises LeakageError.

    Args:
        catalogue: the principles that episodes may name.
        actions: the words for what was done.
        context: the keys that an episode may have beyond its signature, and the values of each.
    """
    known = {key: frozenset(values) for key, values in (context or {}).items()}

    def refuse(value: BaseModel) -> None:
        if isinstance(value, EpisodeDraftV1_3):
            refuse_open_vocabulary(value, catalogue)
            if value.action_taken not in actions:
                raise _open_word("action_taken")
            for key, word in value.context.items():
                if key in FORBIDDEN_KEYS or word not in known.get(key, ()):
                    raise _open_word("context")
        elif isinstance(value, VerdictV1_3):
            refuse_open_terms("aspect", () if value.aspect is None else (value.aspect,))
        elif isinstance(value, AnswerV1_3):
            refuse_open_terms("pairs", (pair.aspect for pair in value.pairs))

    return refuse


def _open_word(field: str) -> LeakageError:
    return LeakageError(
        f"{field} holds words outside the store's closed vocabulary; free text is never stored", field=field
    )
