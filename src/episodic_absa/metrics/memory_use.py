"""How often memory was found, shown and followed, and what became of risk then. No gold; descriptive, not causal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.sample_values import delta_risk, was_changed
from episodic_absa.metrics.ratios import count, mean, rate
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.scorecard import Scorecard
from episodic_absa.vocabulary import DebateGateReason, Stage2GateReason


class Followed(NamedTuple):
    """The samples that were shown advice, by whether they did what it expects."""

    followed: tuple[Scorecard, ...]
    ignored: tuple[Scorecard, ...]


def was_injected(card: Scorecard) -> bool:
    """Whether a prompt of the debate or of Stage2 held memory."""
    memory = card.memory
    return memory is not None and bool(memory.prompt_injection_chars or memory.stage2_memory_prompt_injection_chars)


def was_advised(card: Scorecard) -> bool:
    """Whether at least one advisory was injected; what was injected may also be warnings alone."""
    return was_injected(card) and card.memory is not None and card.memory.advisory_expects is not None


def followed_advice(card: Scorecard) -> bool:
    """Whether the sample did what the top injected advisory expects: change its tuples, or hold them."""
    if card.memory is None or not was_advised(card):
        return False
    return was_changed(card) == (card.memory.advisory_expects == "change")


def split_by_following(cards: Sequence[Scorecard]) -> Followed:
    """Tell samples that followed advice from those that were shown some and did not."""
    present = [card for card in cards if was_advised(card)]
    return Followed(
        tuple(card for card in present if followed_advice(card)),
        tuple(card for card in present if not followed_advice(card)),
    )


def compute_memory_use(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    """Yield the memory metrics of samples that ended well."""
    n = len(cards)
    metas = [card.memory for card in cards if card.memory]
    injected = [card for card in cards if was_injected(card)]
    yield rate("memory_retrieved_rate", sum(one.retrieved_k > 0 for one in metas), n)
    yield rate("memory_available_rate", sum(one.retrieved_k > 0 and _is_exposed(one) for one in metas), n)
    yield rate("memory_injected_rate", len(injected), n)
    yield rate("memory_used_rate", len(injected), n)
    yield rate("memory_used_changed_rate", sum(map(was_changed, injected)), len(injected))
    debate = Counter(one.injection_trigger_reason for one in metas if one.prompt_injection_chars)
    for reason in get_args(DebateGateReason):
        yield count(f"injection_trigger_{reason}_n", debate[reason])
    stage2 = Counter(one.stage2_memory_gate_reason for one in metas if one.stage2_memory_prompt_injection_chars)
    for reason in get_args(Stage2GateReason):
        yield count(f"stage2_injection_trigger_{reason}_n", stage2[reason])
    yield rate("mean_prompt_injection_chars", sum(one.prompt_injection_chars for one in metas), n)
    stage2_chars = sum(one.stage2_memory_prompt_injection_chars for one in metas)
    yield rate("mean_stage2_prompt_injection_chars", stage2_chars, n)
    yield count("memory_blocked_episode_n", sum(one.memory_blocked_episode_n for one in metas))
    yield count("memory_blocked_advisory_n", sum(one.memory_blocked_advisory_n for one in metas))
    yield count("memory_demoted_advisory_n", sum(one.memory_demoted_advisory_n for one in metas))
    yield count("firewall_dropped_n", sum(one.firewall_dropped_n for one in metas))


def compute_impact(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    """Yield how risk went where advice was followed and where it was ignored."""
    split = split_by_following(cards)
    yield rate("follow_rate", len(split.followed), len(split.followed) + len(split.ignored))
    for name, group in split._asdict().items():
        deltas = [delta_risk(card) for card in group]
        yield mean(f"mean_delta_risk_{name}", deltas)
        yield rate(f"harm_rate_{name}", sum(delta > 0 for delta in deltas), len(deltas))


def _is_exposed(memory: MemoryMeta) -> bool:
    return memory.exposed_to_debate or memory.exposed_to_stage2
