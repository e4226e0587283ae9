"""Finds the best episodes without a scan of the store.

The closed vocabulary leaves few distinct keys, so episodes are grouped by everything that decides their rank
(signature, tokens of the summary) and by what breaks ties (principle, action, outcome). Only the newest few of a
group can ever be chosen; a search follows the links from the newest one, however large the store is.
"""

import re
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from episodic_absa.memory.columns.column_file import Column, Columns, MappedColumns
from episodic_absa.memory.columns.number_column import ColumnTail, NumberColumn
from episodic_absa.memory.columns.source_table import source_hash
from episodic_absa.memory.retrieval.known_samples import KnownSamples
from episodic_absa.memory.retrieval.newest_chains import NewestChains
from episodic_absa.memory.retrieval.signature_key import SignatureKey
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.memory_v1_2 import AnyDraft
from episodic_absa.vocabulary import RiskId, Structure

MAX_TOPK: Final = 3
NOVELTY_WINDOW: Final = 200
_TOKEN = re.compile(r"\w{2,}")
_LEXICAL_MEMO_SIZE: Final = 128
_LEVELS_MEMO_SIZE: Final = 1024
_KEY_PARTS: Final = ("group", "token_set", "kind", "key")

Kind = tuple[str, str, str]
"""(principle_id, action_taken, episode_type): among episodes of equal rank a kind not yet chosen is preferred."""
NoveltyKey = tuple[str, tuple[Structure, ...], tuple[RiskId, ...], str]
_Keys = list[tuple[Kind, int]]
"""Kinds with the numbers of their chains."""


def tokens_of(strings: Iterable[str]) -> frozenset[str]:
    """Return the lower-cased runs of two or more letters, digits and underscores."""
    return frozenset(token for string in strings for token in _TOKEN.findall(string.lower()))


class Query(NamedTuple):
    """A search: the signature and tokens to compare, and the filters."""

    signature: SignatureKey
    tokens: frozenset[str]
    """If empty, the lexical score of every episode is 0."""
    exclude_source: str | None
    """The uid of a sample whose episodes are not returned."""
    topk: int
    require_same_language: bool
    require_structure_overlap: bool


def novelty_key(draft: AnyDraft) -> NoveltyKey:
    """Return the key by which an episode counts as new: language, structures, risks before and symptom."""
    signature = draft.input_signature
    return (
        signature.language,
        signature.detected_structure,
        draft.evaluation.risk_before.tags,
        draft.case_summary.symptom,
    )


class IndexState(FrozenModel):
    """What a snapshot keeps of an index besides its columns. It does not depend on `keep_last_n`."""

    count: int
    tokens: tuple[str, ...]
    token_sets: tuple[str, ...]
    """The bits of each, in hexadecimal digits."""
    signatures: tuple[SignatureKey, ...]
    kinds: tuple[Kind, ...]
    languages: tuple[str, ...]
    recent: tuple[NoveltyKey, ...]


@dataclass(slots=True)
class _Group:
    """All episodes of one signature."""

    by_tokens: dict[int, dict[Kind, int]] = field(default_factory=dict)
    """Token set (as bits) -> kind -> chain."""
    regardless_of_tokens: dict[Kind, int] = field(default_factory=dict)
    """Kind -> chain."""
    memo: dict[int, list[tuple[int, _Keys]]] = field(default_factory=dict)
    """Query bits -> chains by number of shared tokens. Few queries occur, so the table stays small."""


class EpisodeIndex:
    """Finds episodes by query and returns their ordinals. Only the last `keep_last_n` episodes are found."""

    def __init__(self, keep_last_n: int, samples: KnownSamples | None = None) -> None:
        self.keep_last_n = keep_last_n
        self.count = 0
        """The number of episodes added so far, which is the ordinal of the next one."""
        self.samples = samples or KnownSamples()
        """The tallies and verdicts of the store."""
        self._groups: dict[SignatureKey, _Group] = {}
        self._token_bit: dict[str, int] = {}
        self._bits_of_summary: dict[tuple[str, str], int] = {}
        self._levels_memo: dict[tuple[SignatureKey, bool, bool], list[list[_Group]]] = {}
        self._by_language: dict[str, NumberColumn] = {}
        self._recent: deque[NoveltyKey] = deque(maxlen=NOVELTY_WINDOW)
        self._sources = NumberColumn("Q")
        self._with_tokens = NewestChains(self._sources)
        self._regardless = NewestChains(self._sources)

    @property
    def first_live(self) -> int:
        """The ordinal of the oldest episode that is not pruned."""
        return max(0, self.count - self.keep_last_n)

    def is_novel(self, draft: AnyDraft) -> bool:
        """Return whether none of the last 200 episodes has the same novelty key."""
        # The snapshot of a store keeps 200 keys, and an index of fewer live episodes looks at no others.
        recent = list(self._recent)[-self.keep_last_n :] if self.keep_last_n < NOVELTY_WINDOW else self._recent
        return novelty_key(draft) not in recent

    def add(self, entry: AnyDraft) -> None:
        """Add the next episode in store order."""
        signature = SignatureKey.of(entry.input_signature)
        group = self._groups.get(signature)
        if group is None:
            group = self._groups[signature] = _Group()
            self._levels_memo.clear()
        kind = (entry.correction.principle_id, entry.action_taken, entry.episode_type)
        self._sources.append(source_hash(entry.provenance.source_id))
        self._push(group, group.by_tokens.setdefault(self._summary_bits(entry), {}), kind, self._with_tokens)
        self._push(group, group.regardless_of_tokens, kind, self._regardless)
        ordinals = self._by_language.get(signature.language)
        if ordinals is None:
            ordinals = self._by_language[signature.language] = NumberColumn("I")
        ordinals.append(self.count)
        self._recent.append(novelty_key(entry))
        self.count += 1
        # Once per window the chains that were pruned as a whole leave the memos.
        if self.count % self.keep_last_n == 0:
            self._forget_memos()

    def _push(self, group: _Group, keys: dict[Kind, int], kind: Kind, chains: NewestChains) -> None:
        key = keys.get(kind)
        if key is None:
            key = keys[kind] = chains.new_key()
        if not chains.is_live(key, self.first_live):
            group.memo.clear()
        chains.push(key, self.count)

    def live_in(self, language: str) -> Sequence[int]:
        """Return the ordinals of the live episodes in a language, oldest first."""
        ordinals = self._by_language.get(language)
        return () if ordinals is None else ColumnTail(ordinals, bisect_left(ordinals, self.first_live))

    def search(self, query: Query) -> list[int]:
        """Return the ordinals of the best episodes, best first. A full scan gives the same."""
        bits = 0
        for token in query.tokens:
            bits |= self._token_bit.get(token, 0)
        chosen: list[int] = []
        kinds_chosen: set[Kind] = set()
        chains = self._with_tokens if bits else self._regardless
        for level in self._levels(query):
            by_hits: dict[int, _Keys] = {}
            for group in level:
                for hits, keys in self._ranked(group, bits):
                    by_hits.setdefault(hits, []).extend(keys)
            for hits in sorted(by_hits, reverse=True):
                self._choose_among_equals(by_hits[hits], chains, query, chosen, kinds_chosen)
                if len(chosen) == query.topk:
                    return chosen
        return chosen

    def _ranked(self, group: _Group, query_bits: int) -> list[tuple[int, _Keys]]:
        """Return the live chains of a group by the number of tokens that they share with a query."""
        ranked = group.memo.get(query_bits)
        if ranked is None:
            first_live = self.first_live
            chains = self._with_tokens if query_bits else self._regardless
            by_tokens = group.by_tokens if query_bits else {0: group.regardless_of_tokens}
            by_hits: dict[int, _Keys] = {}
            for bits, kinds in by_tokens.items():
                live = [(kind, key) for kind, key in kinds.items() if chains.is_live(key, first_live)]
                if live:
                    by_hits.setdefault((bits & query_bits).bit_count(), []).extend(live)
            ranked = sorted(by_hits.items(), reverse=True)
            if len(group.memo) >= _LEXICAL_MEMO_SIZE:
                group.memo.clear()
            group.memo[query_bits] = ranked
        return ranked

    def _levels(self, query: Query) -> list[list[_Group]]:
        """Return the groups that pass the filters by overlap, highest first."""
        key = (query.signature, query.require_same_language, query.require_structure_overlap)
        levels = self._levels_memo.get(key)
        if levels is None:
            by_overlap: dict[int, list[_Group]] = {}
            for signature, group in self._groups.items():
                if query.require_same_language and signature.language != query.signature.language:
                    continue
                if query.require_structure_overlap and not query.signature.admits(signature):
                    continue
                by_overlap.setdefault(query.signature.overlap(signature), []).append(group)
            levels = [by_overlap[overlap] for overlap in sorted(by_overlap, reverse=True)]
            if len(self._levels_memo) >= _LEVELS_MEMO_SIZE:
                self._levels_memo.clear()
            self._levels_memo[key] = levels
        return levels

    def _choose_among_equals(
        self, keys: _Keys, chains: NewestChains, query: Query, chosen: list[int], kinds_chosen: set[Kind]
    ) -> None:
        """Add episodes of equal rank to `chosen`: kinds not yet chosen first, then the newest."""
        excluded = None if query.exclude_source is None else source_hash(query.exclude_source)
        first_live = self.first_live
        candidates: dict[Kind, list[int]] = {}
        for kind, key in keys:
            newest = chains.newest(key, first_live, excluded, query.topk)
            if newest:
                candidates.setdefault(kind, []).extend(newest)
        choose_among_equals(candidates, query.topk, chosen, kinds_chosen)

    def _summary_bits(self, entry: AnyDraft) -> int:
        summary = (entry.case_summary.symptom, entry.case_summary.rationale_summary)
        bits = self._bits_of_summary.get(summary)
        if bits is None:
            bits = 0
            for token in tokens_of(summary):
                bits |= self._token_bit.setdefault(token, 1 << len(self._token_bit))
            self._bits_of_summary[summary] = bits
        return bits

    def _forget_memos(self) -> None:
        for group in self._groups.values():
            group.memo.clear()
        self._bits_of_summary.clear()

    def state(self, columns: Columns) -> IndexState:
        """Return what a snapshot keeps, and put everything that grows with the store into its columns."""
        token_sets: dict[int, int] = {}
        kinds: dict[Kind, int] = {}
        with_tokens, regardless = _SavedKeys(), _SavedKeys()
        for number, group in enumerate(self._groups.values()):
            for bits, keys in group.by_tokens.items():
                with_tokens.add(number, token_sets.setdefault(bits, len(token_sets)), keys, kinds)
            regardless.add(number, 0, group.regardless_of_tokens, kinds)
        with_tokens.save("with_tokens", columns)
        regardless.save("regardless", columns)
        self._with_tokens.save("with_tokens", columns)
        self._regardless.save("regardless", columns)
        columns["episodes.sources"] = Column("Q", self._sources.parts)
        for language, ordinals in self._by_language.items():
            columns[f"ordinals.{language}"] = Column("I", ordinals.parts)
        return IndexState(
            count=self.count,
            tokens=tuple(self._token_bit),
            token_sets=tuple(f"{bits:x}" for bits in token_sets),
            signatures=tuple(self._groups),
            kinds=tuple(kinds),
            languages=tuple(self._by_language),
            recent=tuple(self._recent),
        )

    def restore(self, state: IndexState, columns: MappedColumns) -> None:
        """Load what a snapshot keeps; nothing was added before."""
        self.count = state.count
        self._token_bit = {token: 1 << place for place, token in enumerate(state.tokens)}
        self._recent.extend(state.recent)
        self._sources = NumberColumn("Q", columns.numbers("episodes.sources"))
        self._with_tokens, self._regardless = NewestChains(self._sources), NewestChains(self._sources)
        self._with_tokens.restore("with_tokens", columns)
        self._regardless.restore("regardless", columns)
        groups = [self._groups.setdefault(signature, _Group()) for signature in state.signatures]
        token_sets = [int(digits, 16) for digits in state.token_sets]
        for group, token_set, kind, key in _saved_keys("with_tokens", columns):
            groups[group].by_tokens.setdefault(token_sets[token_set], {})[state.kinds[kind]] = key
        for group, _, kind, key in _saved_keys("regardless", columns):
            groups[group].regardless_of_tokens[state.kinds[kind]] = key
        for language in state.languages:
            self._by_language[language] = NumberColumn("I", columns.numbers(f"ordinals.{language}"))


def choose_among_equals(
    candidates: dict[Kind, list[int]], topk: int, chosen: list[int], kinds_chosen: set[Kind]
) -> None:
    """Add episodes of equal rank to `chosen` until there are `topk`: kinds not yet chosen first, then the newest.

    Args:
        candidates: the ordinals of the newest episodes of each kind; used up.
        topk: how many are wanted.
        chosen: ordinals, best first.
        kinds_chosen: their kinds.
    """
    for ordinals in candidates.values():
        ordinals.sort()
    while candidates and len(chosen) < topk:
        fresh = [kind for kind in candidates if kind not in kinds_chosen]
        kind = max(fresh or candidates, key=lambda kind: candidates[kind][-1])
        chosen.append(candidates[kind].pop())
        kinds_chosen.add(kind)
        if not candidates[kind]:
            del candidates[kind]


class _SavedKeys:
    """The keys of chains as columns: their group, token set and kind, and the number of the chain."""

    def __init__(self) -> None:
        self._columns = (array("I"), array("I"), array("I"), array("I"))

    def add(self, group: int, token_set: int, keys: Mapping[Kind, int], kinds: dict[Kind, int]) -> None:
        for kind, key in keys.items():
            row = (group, token_set, kinds.setdefault(kind, len(kinds)), key)
            for column, number in zip(self._columns, row, strict=True):
                column.append(number)

    def save(self, name: str, columns: Columns) -> None:
        for part, column in zip(_KEY_PARTS, self._columns, strict=True):
            columns[f"{name}.{part}"] = Column("I", (memoryview(column),))


def _saved_keys(name: str, columns: MappedColumns) -> Iterator[tuple[int, int, int, int]]:
    group, token_set, kind, key = (columns.numbers(f"{name}.{part}") for part in _KEY_PARTS)
    return zip(group, token_set, kind, key, strict=True)
