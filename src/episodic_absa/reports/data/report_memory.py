"""Builds the report's parts about memory and time: flows, gates, growth, impact, principles, latencies."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from episodic_absa.metrics.memory_growth import GrowthLine as GrowthWindow
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.sample_values import was_changed
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.metric_tables import Groups
from episodic_absa.reports.data.report_data import ConditionCard
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


_DEBATE: Final = Bilingual("Debate", "토론")
_STAGE2: Final = Bilingual("Stage2", "Stage2")


class PrincipleUse(NamedTuple):
    """A principle of the catalogue and how often its advice was retrieved and shown, in samples per condition."""

    principle_id: str
    message: Bilingual
    """In a language in which no review retrieved it, the advice stands in the other one."""
    retrieved: tuple[int, ...]
    injected: tuple[int, ...]


def flow_figures(groups: Groups, cards: Sequence[ConditionCard]) -> Iterator[Figure]:
    """Yield, for each condition that reads memory, in how many samples it came how far, and why its gates opened."""
    for card in cards:
        if not card.reads:
            continue
        ok = _ok(groups[card.name])
        metas, shown = [sample.memory for sample in ok if sample.memory is not None], list(filter(was_injected, ok))
        steps = {
            ("retrieved", "검색됨"): sum(meta.retrieved_k > 0 for meta in metas),
            ("shown in a prompt", "프롬프트에 제시"): len(shown),
            ("shown, then changed", "제시 후 변경"): sum(map(was_changed, shown)),
            ("stored", "저장됨"): sum(sample.store_decision == "stored" for sample in ok),
        }
        bars = [CountBar(Bilingual(*label), count, len(ok)) for label, count in steps.items()]
        words = Bilingual(f"Memory in {card.name}", f"{card.name}의 메모리")
        yield _bar_figure("memory", card, words, bars, Bilingual(card.name, card.name))
        # Gates depend on Stage1 alone; in a condition that never shows memory an open gate has no effect.
        if card.shows:
            yield from _gate_figures(card, metas, len(ok))


def _gate_figures(card: ConditionCard, metas: Sequence[MemoryMeta], total: int) -> Iterator[Figure]:
    debate = [meta.injection_trigger_reasons for meta in metas]
    stage2 = [meta.stage2_memory_gate_reasons for meta in metas]
    for name, gate, values, reasons in (
        ("debate_gate", _DEBATE, get_args(DebateGateReason), debate),
        ("stage2_gate", _STAGE2, get_args(Stage2GateReason), stage2),
    ):
        bars = [CountBar(_GATE_WORDS[value], sum(value in given for given in reasons), total) for value in values]
        words = Bilingual(f"{gate.en} gate in {card.name}", f"{card.name}의 {gate.ko} 게이트")
        caption = Bilingual(f"{card.name}: {gate.en.replace('D', 'd')}", f"{card.name}: {gate.ko}")
        yield _bar_figure(name, card, words, bars, caption)


def _bar_figure(
    name: str, card: ConditionCard, words: Bilingual, bars: Sequence[CountBar], caption: Bilingual
) -> Figure:
    return Figure(file_stem(name, card.name), count_bars(words, bars, card.colour), section=name, caption=caption)


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
            yield Figure(
                name_of_file, growth_plot(panel), growth_plot(panel, with_key=True), section="growth", caption=title
            )


def principles_table(samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]) -> Iterator[Table]:
    """Yield the principles whose advice was retrieved most; nothing if none was."""
    uses = _principle_uses(samples, cards)
    if not uses:
        return
    columns = [
        column("principle", ("principle", "원칙"), "code", "principle_id"),
        column("advice", ("advice", "조언"), "quote", "message"),
    ]
    for place, card in enumerate(cards):
        if card.shows:
            columns += _use_columns(place, card.name)
    title = Bilingual("Principles retrieved and shown, in samples", "검색되고 제시된 원칙(샘플 수)")
    yield Table("principles_retrieved", title, tuple(columns), tuple(uses))


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


def _points(windows: Sequence[GrowthWindow], name: str) -> tuple[tuple[int, float], ...]:
    values = ((window.window_end_sample, getattr(window, name)) for window in windows)
    return tuple((end, float(value)) for end, value in values if value is not None)
