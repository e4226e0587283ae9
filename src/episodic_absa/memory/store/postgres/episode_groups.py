"""Groups of episodes that retrieval cannot tell apart: kept by each reader, ranked by a query.

The closed vocabulary leaves few groups, however many episodes a store has. A group never changes.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final, NamedTuple

from episodic_absa.memory.retrieval.episode_index import Kind, NoveltyKey, Query, tokens_of
from episodic_absa.memory.retrieval.signature_key import SignatureKey
from episodic_absa.memory.store.postgres.store_tables import GROUPS, Fetch, StoreState
from episodic_absa.schemas.memory_v1_2 import AnyDraft
from episodic_absa.serialization.canonical_json import canonical_json

_MEMO_SIZE: Final = 1024
GROUP_COLUMNS: Final = (
    "language, structures, length_bucket, num_aspects, symptom, rationale, risks, principle_id, action_taken, "
    "episode_type"
)
_NEW: Final = f"""
SELECT group_id, {GROUP_COLUMNS} FROM {GROUPS}
WHERE store_id = %s AND group_id > %s AND group_id <= %s ORDER BY group_id
"""  # noqa: S608 - constants


class GroupKey(NamedTuple):
    """The columns of a group."""

    language: str
    structures: str
    length_bucket: str
    num_aspects: int
    symptom: str
    rationale: str
    risks: str
    principle_id: str
    action_taken: str
    episode_type: str

    @classmethod
    def of(cls, episode: AnyDraft) -> "GroupKey":
        """Return the group of an episode."""
        signature, summary = SignatureKey.of(episode.input_signature), episode.case_summary
        return cls(
            signature.language,
            joined(signature.structures),
            signature.length_bucket,
            signature.num_aspects,
            summary.symptom,
            summary.rationale_summary,
            joined(episode.evaluation.risk_before.tags),
            episode.correction.principle_id,
            episode.action_taken,
            episode.episode_type,
        )

    @property
    def digest(self) -> bytes:
        """What stands for the group in an index, however long its texts are."""
        return sha256(canonical_json(list(self)).encode()).digest()


class Group(NamedTuple):
    """A group as a search needs it."""

    group_id: int
    kind: Kind
    tokens: frozenset[str]
    novelty: NoveltyKey


class EpisodeGroups:
    """The groups of one store, as far as they were read."""

    def __init__(self) -> None:
        self._last = 0
        self._by_id: dict[int, Group] = {}
        self._tokens: dict[tuple[str, str], frozenset[str]] = {}
        """The tokens of each summary: many groups share one."""
        self._by_signature: dict[SignatureKey, list[Group]] = {}
        self._memo: dict[tuple[SignatureKey, frozenset[str], bool, bool], list[list[Group]]] = {}

    def read_on(self, fetch: Fetch, state: StoreState) -> None:
        """Read the groups that were added since."""
        if state.last_group <= self._last:
            return
        for group_id, *columns in fetch(_NEW, (state.store_id, self._last, state.last_group)):
            self._add(group_id, GroupKey(*columns))
        self._last = state.last_group
        self._memo.clear()

    def novelty_keys(self, group_ids: Iterable[int]) -> set[NoveltyKey]:
        """Return the novelty keys of groups."""
        return {self._by_id[group_id].novelty for group_id in group_ids}

    def levels(self, query: Query) -> list[list[Group]]:
        """Return the groups that pass the filters by rank, the best first; those of one list are equal."""
        key = (query.signature, query.tokens, query.require_same_language, query.require_structure_overlap)
        levels = self._memo.get(key)
        if levels is None:
            by_rank: dict[tuple[int, int], list[Group]] = {}
            hits = {tokens: len(query.tokens & tokens) for tokens in set(self._tokens.values())}
            for signature, groups in self._by_signature.items():
                if query.require_same_language and signature.language != query.signature.language:
                    continue
                if query.require_structure_overlap and not query.signature.admits(signature):
                    continue
                overlap = query.signature.overlap(signature)
                for group in groups:
                    by_rank.setdefault((overlap, hits[group.tokens]), []).append(group)
            levels = [by_rank[rank] for rank in sorted(by_rank, reverse=True)]
            if len(self._memo) >= _MEMO_SIZE:
                self._memo.clear()
            self._memo[key] = levels
        return levels

    def _add(self, group_id: int, key: GroupKey) -> None:
        signature = signature_of(key.language, key.structures, key.length_bucket, key.num_aspects)
        kind = (key.principle_id, key.action_taken, key.episode_type)
        risks: Any = separated(key.risks)
        novelty: NoveltyKey = (key.language, signature.structures, risks, key.symptom)
        summary = (key.symptom, key.rationale)
        tokens = self._tokens.get(summary)
        if tokens is None:
            tokens = self._tokens[summary] = tokens_of(summary)
        group = Group(group_id, kind, tokens, novelty)
        self._by_id[group_id] = group
        self._by_signature.setdefault(signature, []).append(group)


def signature_of(language: str, structures: str, length_bucket: str, num_aspects: int) -> SignatureKey:
    """Return the signature that columns hold."""
    tags: Any = separated(structures)
    return SignatureKey(language, tags, length_bucket, num_aspects)


def joined(words: Iterable[str]) -> str:
    """Return words of a closed vocabulary as the text of a column."""
    return " ".join(words)


def separated(text: str) -> tuple[str, ...]:
    """Return the words of a column."""
    return tuple(text.split())
