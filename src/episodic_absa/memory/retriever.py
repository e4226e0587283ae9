"""Ranks past episodes by the similarity of signatures and risks. It never sees text or labels."""

from collections.abc import Iterable, Mapping
from typing import Any

from episodic_absa.errors import ConfigError
from episodic_absa.memory.memory_store import StoredEpisodes
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.store.ranking import MAX_TOPK, Query, SignatureKey, best_of, tokens_of


def relevance(query: InputSignatureV1_1, tokens: frozenset[str], episode: EpisodicMemoryEntryV1_3) -> float:
    """Return the similarity of a query and an episode from 0 to 1: both parts of the ranking key, weighed.

    Args:
        query: the signature of the sample.
        tokens: the tokens of its lexical query.
        episode: the episode.
    """
    wanted, summary = SignatureKey.of(query), episode.case_summary
    overlap = wanted.overlap(SignatureKey.of(episode.input_signature)) / (len(wanted.structures) + 2)
    shared = tokens & tokens_of((summary.symptom, summary.rationale_summary))
    return round(0.7 * overlap + 0.3 * (len(shared) / len(tokens) if tokens else 0.0), 6)


class Retriever:
    """Returns the `topk` most similar episodes. The time does not grow with the store.

    Args:
        topk: the most episodes to return, 1 to 3.
        require_same_language: leave out episodes in other languages.
        require_structure_overlap: leave out episodes that have structures but share none with the query.
        use_lexical: compare risk ids and proposal types, too.

    Raises:
        ConfigError: `topk` is not 1, 2 or 3.

    Example:
        >>> from episodic_absa import MemoryStore, Retriever, SignatureBuilder, analyze
        >>> result = analyze("The bed was soft, but the wall was thin.", condition="C2", store="beds.jsonl")
        >>> signature = SignatureBuilder().build("The screen is bright, but the battery is weak.", "en", 2)
        >>> with MemoryStore("beds.jsonl") as store:
        ...     [episode.episode_id for episode in Retriever(topk=1).retrieve(store.load(), signature)]
        ['epi_000001']
    """

    def __init__(
        self,
        *,
        topk: int = MAX_TOPK,
        require_same_language: bool = True,
        require_structure_overlap: bool = True,
        use_lexical: bool = True,
    ) -> None:
        if isinstance(topk, bool) or not isinstance(topk, int) or not 1 <= topk <= MAX_TOPK:
            raise ConfigError(f"episodic_memory.topk must be 1 to {MAX_TOPK}, got {topk!r}", key="episodic_memory.topk")
        self.topk = topk
        self._require_same_language = require_same_language
        self._require_structure_overlap = require_structure_overlap
        self._use_lexical = use_lexical

    def retrieve(
        self,
        store_entries: StoredEpisodes | Iterable[EpisodicMemoryEntryV1_3],
        query_signature: InputSignatureV1_1 | Mapping[str, Any],
        query_lexical: Iterable[str] | None = None,
        *,
        sample_id: str | None = None,
    ) -> list[EpisodicMemoryEntryV1_3]:
        """Return the most similar episodes, best first.

        Args:
            store_entries: a loaded store, or any episodes in store order (oldest first).
            query_signature: the signature of the current text, as a model or a dict.
            query_lexical: the risk ids and proposal types of Stage1; never text.
            sample_id: the uid of the current sample; its own episodes are not returned.
        """
        signature = InputSignatureV1_1.model_validate(query_signature)
        query = Query(
            signature=SignatureKey.of(signature),
            tokens=self.lexical_tokens(query_lexical),
            exclude_source=sample_id,
            topk=self.topk,
            require_same_language=self._require_same_language,
            require_structure_overlap=self._require_structure_overlap,
        )
        if isinstance(store_entries, StoredEpisodes):
            return store_entries.search(query)
        return best_of(list(store_entries), query)

    def lexical_tokens(self, query_lexical: Iterable[str] | None) -> frozenset[str]:
        """Return the tokens that this retriever compares: none if `use_lexical` is off."""
        if query_lexical is None or not self._use_lexical:
            return frozenset()
        return tokens_of((query_lexical,) if isinstance(query_lexical, str) else query_lexical)
