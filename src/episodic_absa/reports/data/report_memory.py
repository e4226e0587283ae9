"""Builds the report's parts about memory and time: flows, gates, growth, impact, principles, latencies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from episodic_absa.metrics.memory_growth import GrowthLine as GrowthWindow
from episodic_absa.metrics.memory_use import split_by_following, was_injected
from episodic_absa.metrics.per_sample.sample_values import delta_risk, was_changed
from episodic_absa.metrics.ratios import mean_of
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.metric_tables import Groups
from episodic_absa.reports.data.report_data import ConditionCard, MemoryFlow
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.reports.plots.count_bars import CountBar, count_bars
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.growth_plot import GrowthLine, GrowthPanel, growth_plot
from episodic_absa.reports.plots.latency_plot import LatencyRow
from episodic_absa.reports.tables.table import Column, Table, column, file_stem
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import DebateGateReason, Stage2GateReason

_MOST_PRINCIPLES: Final = 12
_QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
_GATE_WORDS: Final[Mapping[str, Bilingual]] = {
    "conflict": Bilingual("conflict", "극성 충돌"),
    "validator": Bilingual("validator", "검증기의 위험"),
    "alignment": Bilingual("alignment", "정렬 실패"),
    "explicit_grounding_failure": Bilingual("explicit grounding failure", "명시 근거 실패"),
    "neutral_only": Bilingual("neutral only", "중립뿐"),
    "structure": Bilingual("structure", "부정·대조·반어 표지"),
    "reader_disagrees": Bilingual("reader disagrees", "판독기의 이견"),
    "unsure": Bilingual("unsure", "낮은 확신도"),
}
"""The reasons of both gates."""
_GROWTH: Final[tuple[tuple[str, Bilingual, bool], ...]] = (
    ("store_size", Bilingual("Episodes in the store", "저장소의 에피소드 수"), False),
    ("retrieval_hit_k", Bilingual("Share of samples with a retrieval", "검색된 에피소드가 있는 샘플 비율"), True),
    ("advisory_presence_rate", Bilingual("Share of samples shown advice", "조언이 제시된 샘플 비율"), True),
    ("follow_rate", Bilingual("Share of shown advice followed", "제시된 조언을 따른 비율"), True),
    ("store_new_entry_rate", Bilingual("Share of samples stored", "저장된 샘플 비율"), True),
    ("mean_tuple_f1_explicit", Bilingual("tuple_f1_explicit in the window", "구간 내 tuple_f1_explicit"), True),
)


_CONDITION: Final = column("condition", ("condition", "조건"), "name")


class PrincipleUse(NamedTuple):
    """A principle of the catalogue and how often its advice was retrieved and shown, in samples per condition."""

    principle_id: str
    message: Bilingual
    """In a language in which no review retrieved it, the advice stands in the other one."""
    retrieved: tuple[int, ...]
    injected: tuple[int, ...]


class Impact(NamedTuple):
    """Samples whose advice was followed beside those where it was not. Descriptive, not causal."""

    condition: str
    follow_rate: float
    followed: int
    delta_followed: float | None
    harm_followed: float | None
    ignored: int
    delta_ignored: float | None
    harm_ignored: float | None


def memory_flows(groups: Groups, cards: Sequence[ConditionCard]) -> tuple[MemoryFlow, ...]:
    """Return, for each condition that reads memory, in how many samples it came how far."""
    return tuple(_flow(card, _ok(groups[card.name])) for card in cards if card.reads)


def flow_figures(flows: Sequence[MemoryFlow]) -> Iterator[Figure]:
    """Yield what was retrieved and shown in each condition, and why its gates opened."""
    for flow in flows:
        name = flow.condition
        words = Bilingual(f"Memory in {name}", f"{name}의 메모리")
        yield Figure(file_stem("memory", name), count_bars(words, flow.steps, flow.colour))
        if flow.debate_gate:
            words = Bilingual(f"Debate gate in {name}", f"{name}의 토론 게이트")
            yield Figure(file_stem("debate_gate", name), count_bars(words, flow.debate_gate, flow.colour))
            words = Bilingual(f"Stage2 gate in {name}", f"{name}의 Stage2 게이트")
            yield Figure(file_stem("stage2_gate", name), count_bars(words, flow.stage2_gate, flow.colour))


def withheld_table(flows: Sequence[MemoryFlow]) -> Table | None:
    """Return what was kept back; None if nothing was."""
    if not any(flow.withheld for flow in flows):
        return None
    columns = (
        _CONDITION,
        column("episodes_blocked", ("episodes blocked", "차단된 에피소드"), "count", "blocked_episodes"),
        column("advisories_blocked", ("advisories blocked", "차단된 조언"), "count", "blocked_advisories"),
        column("advisories_demoted", ("demoted", "강등"), "count", "demoted_advisories"),
        column(
            "firewall_dropped",
            ("dropped by the label firewall", "라벨 방화벽이 제거"),
            "count",
            label=("label firewall", "라벨 방화벽이 제거"),
        ),
    )
    return Table("withheld_advice", Bilingual("Withheld advice", "차단된 조언"), columns, tuple(flows))


def impact_table(groups: Groups, cards: Sequence[ConditionCard]) -> Table | None:
    """Return samples that followed advice beside those that ignored it; None if no condition shows any."""
    rows = []
    for card in cards:
        followed, ignored = split_by_following(_ok(groups[card.name]))
        if followed or ignored:
            rate = len(followed) / (len(followed) + len(ignored))
            rows.append(Impact(card.name, rate, *_outcomes(followed), *_outcomes(ignored)))
    if not rows:
        return None
    columns = (
        _CONDITION,
        column("follow_rate", "follow_rate", "number", defines=True),
        *_impact_columns("followed", ("followed", "따름")),
        *_impact_columns("ignored", ("ignored", "따르지 않음")),
    )
    title = Bilingual(
        "Followed and ignored advice (descriptive, not causal)",
        "따른 조언과 따르지 않은 조언(기술 통계, 인과 관계 아님)",
    )
    return Table("followed_and_ignored", title, columns, tuple(rows))


def _impact_columns(group: str, head: tuple[str, str]) -> Iterator[Column]:
    yield column(group, head, "count")
    yield column(
        f"risk_change_{group}",
        ("mean risk change", "평균 위험 변화"),
        "signed",
        f"delta_{group}",
        digits=2,
        label=("risk change", "위험 변화"),
    )
    yield column(f"risk_rose_{group}", ("risk rose", "위험 증가"), "number", f"harm_{group}")


def _outcomes(group: Sequence[Scorecard]) -> tuple[int, float | None, float | None]:
    """Return how many samples there are, their mean change of risk, and the share in which risk rose."""
    deltas = [delta_risk(card) for card in group]
    return len(group), mean_of(deltas), mean_of([delta > 0 for delta in deltas])


def growth_figures(groups: Groups, cards: Sequence[ConditionCard]) -> Iterator[Figure]:
    """Yield each figure along the run; conditions without memory appear only in the quality panel."""
    if not any(card.reads or card.writes for card in cards):
        return
    windows = {(card.name, cell.manifest.repetition): cell.growth for card in cards for cell in groups[card.name]}
    for name, title, is_rate in _GROWTH:
        lines = []
        for card in cards:
            takes_part = card.reads or card.writes or name == "mean_tuple_f1_explicit"
            for (condition, (order, seed)), growth in windows.items():
                points = _points(growth, name) if takes_part and condition == card.name else ()
                if points and (any(value for _, value in points) or name == "mean_tuple_f1_explicit"):
                    named = order if card.orders else None
                    lines.append(GrowthLine(condition, card.colour, named, seed, points))
        if lines:
            panel = GrowthPanel(title, is_rate, tuple(lines))
            name_of_file = file_stem("along_the_run", title.en.lower())
            yield Figure(name_of_file, growth_plot(panel), growth_plot(panel, with_key=True), title=title)


def principles_table(samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]) -> Table | None:
    """Return the principles whose advice was retrieved most; None if none was."""
    uses = _principle_uses(samples, cards)
    if not uses:
        return None
    columns = [
        column("principle", ("principle", "원칙"), "code", "principle_id"),
        column("advice", ("advice", "조언"), "quote", "message"),
    ]
    for place, card in enumerate(cards):
        if card.shows:
            columns += _use_columns(place, card.name)
    title = Bilingual("Principles retrieved and shown, in samples", "검색되고 제시된 원칙(샘플 수)")
    return Table("principles_retrieved", title, tuple(columns), tuple(uses))


def _use_columns(place: int, name: str) -> Iterator[Column]:
    retrieved = (f"{name}, retrieved", f"{name}, 검색")
    yield column(f"{name}_retrieved", retrieved, "count", lambda use: use.retrieved[place], only="files")
    yield column(
        f"{name}_shown", (f"{name}, shown", f"{name}, 제시"), "count", lambda use: use.injected[place], only="files"
    )
    yield column(name, name, "uses", lambda use: (use.retrieved[place], use.injected[place]), only="page")


def _principle_uses(samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]) -> list[PrincipleUse]:
    uses = []
    for principle in {name for group in samples.values() for cell in group for name in cell.principles}:
        counts = [
            [cell.principles[principle] for cell in samples[card.name] if principle in cell.principles]
            for card in cards
        ]
        messages = {message for group in counts for count in group for message in count.messages}
        uses.append(
            PrincipleUse(
                principle,
                Bilingual(
                    en=min(messages, key=lambda message: (not message.isascii(), message)),
                    ko=min(messages, key=lambda message: (message.isascii(), message)),
                ),
                tuple(sum(count.retrieved for count in group) for group in counts),
                tuple(sum(count.injected for count in group) for group in counts),
            )
        )
    uses.sort(key=lambda use: (-sum(use.injected), -sum(use.retrieved), use.principle_id))
    return uses[:_MOST_PRINCIPLES]


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
            bar(Bilingual("retrieved", "검색됨"), sum(meta.retrieved_k > 0 for meta in metas)),
            bar(Bilingual("shown in a prompt", "프롬프트에 제시"), len(shown)),
            bar(Bilingual("shown, then changed", "제시 후 변경"), sum(map(was_changed, shown))),
            bar(Bilingual("stored", "저장됨"), sum(card.store_decision == "stored" for card in ok)),
        ),
        debate_gate=gate(get_args(DebateGateReason), lambda meta: meta.injection_trigger_reasons),
        stage2_gate=gate(get_args(Stage2GateReason), lambda meta: meta.stage2_memory_gate_reasons),
        blocked_episodes=sum(meta.memory_blocked_episode_n for meta in metas),
        blocked_advisories=sum(meta.memory_blocked_advisory_n for meta in metas),
        demoted_advisories=sum(meta.memory_demoted_advisory_n for meta in metas),
        firewall_dropped=sum(meta.firewall_dropped_n for meta in metas),
    )


def _points(windows: Sequence[GrowthWindow], name: str) -> tuple[tuple[int, float], ...]:
    values = ((window.window_end_sample, getattr(window, name)) for window in windows)
    return tuple((end, float(value)) for end, value in values if value is not None)
