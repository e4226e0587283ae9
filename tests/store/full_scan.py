"""The rules of retrieval, applied to every episode one after the other; and episodes and queries to apply them to."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import strategies as st
from tests.store.places import draft

from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.store.ranking import Query, SignatureKey, tokens_of
from episodic_absa.vocabulary import RISK_IDS

EpisodeT = TypeVar("EpisodeT", bound=EpisodeDraftV1_3)

_STRUCTURES = (("none",), ("negation",), ("contrast",), ("negation", "contrast"), ("negation", "contrast", "irony"))
# Few values make equal keys, equal kinds and exact duplicates the rule.
EPISODES = st.builds(
    lambda language, structures, length, aspects, risks, proposals, principle, action, outcome, uid: draft(
        uid=f"review-{uid}",
        action_taken=action,
        input_signature__language=language,
        input_signature__detected_structure=structures,
        input_signature__length_bucket=length,
        input_signature__num_aspects=aspects,
        case_summary__symptom=f"risks={','.join(sorted(risks)) or 'none'}; structure=none; max_severity=none",
        case_summary__rationale_summary=f"proposals={proposals}; action=abstain; adopt=low_signal",
        correction__principle_id=principle,
        outcome__value=outcome,
    ),
    st.sampled_from(("en", "ko")),
    st.sampled_from(_STRUCTURES),
    st.sampled_from(("short", "long")),
    st.integers(0, 2),
    st.sets(st.sampled_from(RISK_IDS[:3]), max_size=2),
    st.sampled_from(("none", "FLIP_POLARITY")),
    st.sampled_from(("P-STB-01", "P-NEG-01")),
    st.sampled_from(("abstain", "defer")),
    st.sampled_from(("success", "harm", "neutral")),
    st.integers(1, 6),
)
QUERIES = st.builds(
    lambda episode, words, excluded, topk, same_language, overlap: Query(
        SignatureKey.of(episode.input_signature),
        tokens_of(words),
        excluded and episode.provenance.source_id,
        topk,
        same_language,
        overlap,
    ),
    EPISODES,
    st.sets(st.sampled_from((*RISK_IDS[:4], "FLIP_POLARITY", "irony")), max_size=3),
    st.sampled_from((None, "own")),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)


def full_scan(episodes: Sequence[EpisodeT], query: Query) -> list[EpisodeT]:
    """Return the best of episodes, given oldest first, as docs/specification/memory_rules.md says."""
    ranked = []
    for place, episode in enumerate(episodes):
        seen, wanted, summary = episode.input_signature, query.signature, episode.case_summary
        shared = set(seen.detected_structure) & set(wanted.structures)
        if query.require_same_language and seen.language != wanted.language:
            continue
        if query.require_structure_overlap and not shared and "none" not in seen.detected_structure:
            continue
        if episode.provenance.source_id == query.exclude_source:
            continue
        alike = (seen.length_bucket == wanted.length_bucket) + (seen.num_aspects == wanted.num_aspects)
        words = _words((summary.symptom, summary.rationale_summary))
        ranked.append((len(shared) + alike, len(query.tokens & words), place, episode))
    chosen: list[EpisodeT] = []
    while ranked and len(chosen) < query.topk:
        kinds = {_kind(episode) for episode in chosen}
        best = max(ranked, key=lambda rank: (rank[0], rank[1], _kind(rank[3]) not in kinds, rank[2]))
        ranked.remove(best)
        chosen.append(best[3])
    return chosen


def _words(strings: Iterable[str]) -> set[str]:
    return {word.lower() for string in strings for word in re.findall(r"\w+", string) if len(word) >= 2}


def _kind(episode: EpisodeDraftV1_3) -> tuple[str, str, str]:
    return episode.correction.principle_id, episode.action_taken, episode.outcome.value
