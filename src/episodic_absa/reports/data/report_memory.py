"""Builds the report's tables of memory and time: flows, gates, growth, impact, principles, latencies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, get_args

from episodic_absa.metrics.memory_growth import GrowthLine as GrowthWindow
from episodic_absa.metrics.memory_use import split_by_following, was_injected
from episodic_absa.metrics.per_sample.sample_values import delta_risk, was_changed
from episodic_absa.metrics.ratios import mean_of
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import (
    ConditionCard,
    CountBar,
    GrowthLine,
    GrowthPanel,
    ImpactRow,
    LatencyRow,
    MemoryFlow,
    PrincipleUse,
)
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import DebateGateReason, Stage2GateReason

Groups = Mapping[str, Sequence[FinishedCell]]
_MOST_PRINCIPLES: Final = 12
_QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
_GATE_WORDS: Final[Mapping[str, Bilingual]] = {
    "conflict": Bilingual(en="conflict", ko="극성 충돌"),
    "validator": Bilingual(en="validator", ko="검증기의 위험"),
    "alignment": Bilingual(en="alignment", ko="정렬 실패"),
    "explicit_grounding_failure": Bilingual(en="explicit grounding failure", ko="명시 근거 실패"),
    "neutral_only": Bilingual(en="neutral only", ko="중립뿐"),
    "structure": Bilingual(en="structure", ko="부정·대조·반어 표지"),
    "reader_disagrees": Bilingual(en="reader disagrees", ko="판독기의 이견"),
    "unsure": Bilingual(en="unsure", ko="낮은 확신도"),
}
"""The reasons of both gates."""
_GROWTH: Final[tuple[tuple[str, Bilingual, bool], ...]] = (
    ("store_size", Bilingual(en="Episodes in the store", ko="저장소의 에피소드 수"), False),
    ("retrieval_hit_k", Bilingual(en="Share of samples with a retrieval", ko="검색된 에피소드가 있는 샘플 비율"), True),
    ("advisory_presence_rate", Bilingual(en="Share of samples shown advice", ko="조언이 제시된 샘플 비율"), True),
    ("follow_rate", Bilingual(en="Share of shown advice followed", ko="제시된 조언을 따른 비율"), True),
    ("store_new_entry_rate", Bilingual(en="Share of samples stored", ko="저장된 샘플 비율"), True),
    ("mean_tuple_f1_explicit", Bilingual(en="tuple_f1_explicit in the window", ko="구간 내 tuple_f1_explicit"), True),
)


def memory_flows(groups: Groups, cards: Sequence[ConditionCard]) -> tuple[MemoryFlow, ...]:
    """Return, for each condition that reads memory, in how many samples it came how far."""
    return tuple(_flow(card, _ok(groups[card.name])) for card in cards if card.reads)


def impact_rows(groups: Groups, cards: Sequence[ConditionCard]) -> tuple[ImpactRow, ...]:
    """Return samples that followed advice beside those that ignored it, for conditions that show any."""
    rows = []
    for card in cards:
        followed, ignored = split_by_following(_ok(groups[card.name]))
        if followed or ignored:
            rows.append(_impact(card.name, followed, ignored))
    return tuple(rows)


def growth_panels(groups: Groups, cards: Sequence[ConditionCard]) -> tuple[GrowthPanel, ...]:
    """Return each figure along the run; conditions without memory appear only in the quality panel."""
    if not any(card.reads or card.writes for card in cards):
        return ()
    windows = {(card.name, cell.manifest.repetition): cell.growth for card in cards for cell in groups[card.name]}
    panels = []
    for name, title, is_rate in _GROWTH:
        lines = []
        for card in cards:
            takes_part = card.reads or card.writes or name == "mean_tuple_f1_explicit"
            for (condition, (order, seed)), growth in windows.items():
                points = _points(growth, name) if takes_part and condition == card.name else ()
                if points and (any(value for _, value in points) or name == "mean_tuple_f1_explicit"):
                    named = order if card.orders else None
                    lines.append(
                        GrowthLine(condition=condition, colour=card.colour, order=named, seed=seed, points=points)
                    )
        if lines:
            panels.append(GrowthPanel(title=title, is_rate=is_rate, lines=tuple(lines)))
    return tuple(panels)


def principle_uses(
    samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]
) -> tuple[PrincipleUse, ...]:
    """Return the principles whose advice was retrieved most."""
    uses = []
    for principle in {name for group in samples.values() for cell in group for name in cell.principles}:
        counts = [
            [cell.principles[principle] for cell in samples[card.name] if principle in cell.principles]
            for card in cards
        ]
        known = [count for group in counts for count in group]
        messages = {message for count in known for message in count.messages}
        uses.append(
            PrincipleUse(
                principle_id=principle,
                advisory_type=known[0].advisory_type,
                message=Bilingual(
                    en=min(messages, key=lambda message: (not message.isascii(), message)),
                    ko=min(messages, key=lambda message: (message.isascii(), message)),
                ),
                retrieved=tuple(sum(count.retrieved for count in group) for group in counts),
                injected=tuple(sum(count.injected for count in group) for group in counts),
            )
        )
    uses.sort(key=lambda use: (-sum(use.injected), -sum(use.retrieved), use.principle_id))
    return tuple(uses[:_MOST_PRINCIPLES])


def latency_rows(
    samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]
) -> tuple[LatencyRow, ...]:
    """Return how long the samples of each condition took; a condition without a timed sample has no row."""
    import numpy as np

    rows = []
    for card in cards:
        group = samples[card.name]
        times = [time for cell in group for time in cell.answering_ms]
        if times:
            low, quarter, median, three_quarters, high = np.quantile(times, _QUANTILES).tolist()
            rows.append(
                LatencyRow(
                    condition=card.name,
                    colour=card.colour,
                    samples=len(times),
                    quantiles=(low, quarter, median, three_quarters, high),
                    calls=sum(cell.calls for cell in group),
                    cached_calls=sum(cell.cached_calls for cell in group),
                )
            )
    return tuple(rows)


def _ok(cells: Sequence[FinishedCell]) -> list[Scorecard]:
    return [card for cell in cells for card in cell.cards if card.status == "ok"]


def _flow(card: ConditionCard, ok: Sequence[Scorecard]) -> MemoryFlow:
    total = len(ok)
    metas = [card.memory for card in ok if card.memory is not None]
    shown = [card for card in ok if was_injected(card)]

    def bar(label: Bilingual, count: int) -> CountBar:
        return CountBar(label=label, count=count, total=total)

    def gate(values: Sequence[str], reasons: Callable[[MemoryMeta], Sequence[str]]) -> tuple[CountBar, ...]:
        # Gates depend on Stage1 alone; in a condition that never shows memory an open gate has no effect.
        if not card.shows:
            return ()
        return tuple(bar(_GATE_WORDS[value], sum(value in reasons(meta) for meta in metas)) for value in values)

    return MemoryFlow(
        condition=card.name,
        colour=card.colour,
        steps=(
            bar(Bilingual(en="retrieved", ko="검색됨"), sum(meta.retrieved_k > 0 for meta in metas)),
            bar(Bilingual(en="shown in a prompt", ko="프롬프트에 제시"), len(shown)),
            bar(Bilingual(en="shown, then changed", ko="제시 후 변경"), sum(map(was_changed, shown))),
            bar(Bilingual(en="stored", ko="저장됨"), sum(card.store_decision == "stored" for card in ok)),
        ),
        debate_gate=gate(get_args(DebateGateReason), lambda meta: meta.injection_trigger_reasons),
        stage2_gate=gate(get_args(Stage2GateReason), lambda meta: meta.stage2_memory_gate_reasons),
        blocked_episodes=sum(meta.memory_blocked_episode_n for meta in metas),
        blocked_advisories=sum(meta.memory_blocked_advisory_n for meta in metas),
        demoted_advisories=sum(meta.memory_demoted_advisory_n for meta in metas),
        firewall_dropped=sum(meta.firewall_dropped_n for meta in metas),
    )


def _impact(condition: str, followed: Sequence[Scorecard], ignored: Sequence[Scorecard]) -> ImpactRow:
    deltas_followed, deltas_ignored = ([delta_risk(card) for card in group] for group in (followed, ignored))
    return ImpactRow(
        condition=condition,
        followed=len(followed),
        ignored=len(ignored),
        follow_rate=len(followed) / (len(followed) + len(ignored)),
        delta_followed=mean_of(deltas_followed),
        delta_ignored=mean_of(deltas_ignored),
        harm_followed=mean_of([delta > 0 for delta in deltas_followed]),
        harm_ignored=mean_of([delta > 0 for delta in deltas_ignored]),
    )


def _points(windows: Sequence[GrowthWindow], name: str) -> tuple[tuple[int, float], ...]:
    values = ((window.window_end_sample, getattr(window, name)) for window in windows)
    return tuple((end, float(value)) for end, value in values if value is not None)
