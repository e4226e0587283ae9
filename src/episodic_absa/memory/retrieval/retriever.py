"""Ranks past episodes by likeness of signature and of risks. Never sees text or labels."""

from collections.abc import Iterable, Mapping
from typing import Any

from episodic_absa.errors import ConfigError
from episodic_absa.memory.retrieval.episode_index import (
    MAX_TOPK,
    EpisodeIndex,
    IndexedEpisodes,
    Query,
    SignatureKey,
    tokens_of,
)
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1, InputSignatureV1_1


class Likeness:
    """How alike a query and an episode are; both parts of the ranking key."""

    def __init__(self, query: InputSignatureV1_1, tokens: frozenset[str]) -> None:
        self._signature = SignatureKey.of(query)
        self._tokens = tokens

    def overlap(self, entry: EpisodicMemoryEntryV1_1) -> int:
        """Count what the signatures share."""
        return self._signature.overlap(SignatureKey.of(entry.input_signature))

    def lexical(self, entry: EpisodicMemoryEntryV1_1) -> float:
        """Return the share of query tokens that the episode's summary holds."""
        if not self._tokens:
            return 0.0
        summary = entry.case_summary
        return len(self._tokens & tokens_of((summary.symptom, summary.rationale_summary))) / len(self._tokens)

    def relevance(self, entry: EpisodicMemoryEntryV1_1) -> float:
        """Weigh both into 0..1."""
        most = len(self._signature.structures) + 2
        return round(0.7 * self.overlap(entry) / most + 0.3 * self.lexical(entry), 6)


class Retriever:
    """Chooses at most `topk` episodes; exact, and as fast on a million episodes as on a thousand.

    Args:
        topk: the most episodes to return, 1 to 3.
        require_same_language: whether an episode of another language is left out.
        require_structure_overlap: whether an episode without a structure in common is left out.
        use_lexical: whether the risks that episodes and query name count too.

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
            raise ConfigError(f"episodic_memory.topk must be 1..{MAX_TOPK}, got {topk!r}", key="episodic_memory.topk")
        self.topk = topk
        self._require_same_language = require_same_language
        self._require_structure_overlap = require_structure_overlap
        self._use_lexical = use_lexical

    def retrieve(
        self,
        store_entries: IndexedEpisodes | Iterable[EpisodicMemoryEntryV1_1],
        query_signature: InputSignatureV1_1 | Mapping[str, Any],
        query_lexical: Iterable[str] | None = None,
        *,
        sample_id: str | None = None,
    ) -> list[EpisodicMemoryEntryV1_1]:
        """Return the most similar episodes, best first.

        Args:
            store_entries: a loaded store, or any episodes in store order (oldest first).
            query_signature: the signature of the current text.
            query_lexical: Stage1 risk ids and proposal types; never text.
            sample_id: uid of the current sample, whose own episodes are left out.
        """
        signature = InputSignatureV1_1.model_validate(query_signature)
        episodes = store_entries if isinstance(store_entries, IndexedEpisodes) else _Listed(store_entries)
        query = Query(
            signature=SignatureKey.of(signature),
            tokens=self.lexical_tokens(query_lexical),
            exclude_source=sample_id,
            topk=self.topk,
            require_same_language=self._require_same_language,
            require_structure_overlap=self._require_structure_overlap,
        )
        return [episodes.at(ordinal) for ordinal in episodes.episode_index.search(query)]

    def lexical_tokens(self, query_lexical: Iterable[str] | None) -> frozenset[str]:
        """Return the tokens that this retriever compares: none where the lexical part is switched off."""
        if query_lexical is None or not self._use_lexical:
            return frozenset()
        return tokens_of((query_lexical,) if isinstance(query_lexical, str) else query_lexical)


class _Listed(IndexedEpisodes):
    """Plain episodes, indexed for one retrieval."""

    def __init__(self, entries: Iterable[EpisodicMemoryEntryV1_1]) -> None:
        self._entries = list(entries)
        self._index = EpisodeIndex(keep_last_n=max(1, len(self._entries)))
        for entry in self._entries:
            self._index.add(entry)

    @property
    def episode_index(self) -> EpisodeIndex:
        return self._index

    def at(self, ordinal: int) -> EpisodicMemoryEntryV1_1:
        return self._entries[ordinal]
