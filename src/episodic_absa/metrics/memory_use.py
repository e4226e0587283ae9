"""How often memory is retrieved, shown and followed, and how risk changes. Reads no gold; descriptive, not causal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.sample_values import delta_risk, was_changed
from episodic_absa.metrics.ratios import count, mean, rate
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import DebateGateReason, Stage2GateReason


class Followed(NamedTuple):
    """The samples with an injected advisory, split by whether they followed it."""

    followed: tuple[Scorecard, ...]
    ignored: tuple[Scorecard, ...]


def was_injected(card: Scorecard) -> bool:
    """Return whether a debate prompt or a Stage2 prompt contained memory."""
    memory = card.memory
    return memory is not None and bool(memory.prompt_injection_chars or memory.stage2_memory_prompt_injection_chars)


def was_advised(card: Scorecard) -> bool:
    """Return whether at least one advisory was injected. Injected memory may also consist of warnings only."""
    return was_injected(card) and card.memory is not None and card.memory.advisory_expects is not None


def followed_advice(card: Scorecard) -> bool:
    """Return whether the sample did what the top injected advisory expects: change the tuples, or keep them."""
    if card.memory is None or not was_advised(card):
        return False
    return was_changed(card) == (card.memory.advisory_expects == "change")


def split_by_following(cards: Sequence[Scorecard]) -> Followed:
    """Return the samples that followed their advice and those that ignored it; others are in neither group."""
    advised = [card for card in cards if was_advised(card)]
    return Followed(
        tuple(card for card in advised if followed_advice(card)),
        tuple(card for card in advised if not followed_advice(card)),
    )


def compute_memory_use(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    """Yield the memory metrics of successful samples."""
    n = len(cards)
    metas = [card.memory for card in cards if card.memory]
    injected = [card for card in cards if was_injected(card)]
    yield rate("memory_retrieved_rate", sum(meta.retrieved_k > 0 for meta in metas), n)
    yield rate("memory_available_rate", sum(meta.retrieved_k > 0 and meta.is_exposed for meta in metas), n)
    yield rate("memory_injected_rate", len(injected), n)
    yield rate("memory_used_rate", len(injected), n)
    yield rate("memory_used_changed_rate", sum(map(was_changed, injected)), len(injected))
    debate = Counter(meta.injection_trigger_reason for meta in metas if meta.prompt_injection_chars)
    for reason in get_args(DebateGateReason):
        yield count(f"injection_trigger_{reason}_n", debate[reason])
    stage2 = Counter(meta.stage2_memory_gate_reason for meta in metas if meta.stage2_memory_prompt_injection_chars)
    for reason in get_args(Stage2GateReason):
        yield count(f"stage2_injection_trigger_{reason}_n", stage2[reason])
    yield rate("mean_prompt_injection_chars", sum(meta.prompt_injection_chars for meta in metas), n)
    stage2_chars = sum(meta.stage2_memory_prompt_injection_chars for meta in metas)
    yield rate("mean_stage2_prompt_injection_chars", stage2_chars, n)
    yield count("memory_blocked_episode_n", sum(meta.memory_blocked_episode_n for meta in metas))
    yield count("memory_blocked_advisory_n", sum(meta.memory_blocked_advisory_n for meta in metas))
    yield count("memory_demoted_advisory_n", sum(meta.memory_demoted_advisory_n for meta in metas))
    yield count("firewall_dropped_n", sum(meta.firewall_dropped_n for meta in metas))


def compute_impact(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    """Yield the change of risk where advice was followed and where it was ignored."""
    split = split_by_following(cards)
    yield rate("follow_rate", len(split.followed), len(split.followed) + len(split.ignored))
    for name, group in split._asdict().items():
        deltas = [delta_risk(card) for card in group]
        yield mean(f"mean_delta_risk_{name}", deltas)
        yield rate(f"harm_rate_{name}", sum(delta > 0 for delta in deltas), len(deltas))
