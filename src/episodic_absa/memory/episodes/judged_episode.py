"""An episode as a person judged it: the verdict beats what reader and referee say."""

from collections.abc import Iterable, Mapping

from episodic_absa.memory.episodes.episode_builder import TYPE_OF_OUTCOME
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, EpisodicMemoryEntryV1_2
from episodic_absa.vocabulary import Outcome, Verdict


def with_verdicts(episode: AnyEpisode, verdicts: Mapping[str | None, Verdict]) -> AnyEpisode:
    """Return the episode with the outcome that persons give it.

    Args:
        episode: as its line holds it. One of 1.1 has no outcome and is returned as it is.
        verdicts: those on its sample by aspect; the key None is the whole result. A verdict about a target that is
            not the episode's concerns it no more than a verdict about another sample.
    """
    if not verdicts or not isinstance(episode, EpisodicMemoryEntryV1_2):
        return episode
    snapshot = episode.stage_snapshot
    terms = {*snapshot.stage1.aspects_norm, *snapshot.final.aspects_norm}
    given = [verdict for aspect, verdict in verdicts.items() if aspect is None or aspect in terms]
    if not given:
        return episode
    outcome = _outcome_of(given)
    return episode.model_copy(
        update={"outcome": outcome, "outcome_by": "person", "episode_type": TYPE_OF_OUTCOME[outcome]}
    )


def _outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    given = set(verdicts)
    if "wrong" in given:
        return "contradicted"
    return "confirmed" if "right" in given else "open"
