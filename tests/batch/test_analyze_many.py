"""Many reviews at once: in order, each with its own outcome, as if they were analysed one by one."""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from episodic_absa import Analyzer, ConfigError, Sample, SampleResult
from episodic_absa.backends.backend import Answer, Ask, OutputT, RepairingBackend
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.batch import AnalysisFailure
from episodic_absa.errors import BackendUnavailableError

ENGLISH = "The battery lasts long, but the screen is too dark."
KOREAN = "서비스는 친절했지만 음식은 별로였어"
REFUSED = "The model refuses this one."


class CountingModel(RemoteFacts):
    """The embedded engine as if it were a server: it counts what is under way, and refuses one text."""

    name = "test:counting"
    honours_seed = False

    def __init__(self) -> None:
        self._engine = RepairingBackend(EmbeddedReplier())
        self.asked: list[str] = []
        self.under_way = self.most_under_way = 0

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        if ask.role == "joint":  # the first question about a review
            self.asked.append(ask.inputs.text)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            # Other reviews get their turn; those that began later may finish first.
            for _ in range(len(ask.inputs.text) % 7):
                await asyncio.sleep(0)
            if ask.inputs.text == REFUSED:
                raise BackendUnavailableError("the model is away", backend=self.name, kind="timeout")
            return await self._engine.answer(ask)
        finally:
            self.under_way -= 1

    async def close(self) -> None:
        await self._engine.close()


def plain(outcome: SampleResult | AnalysisFailure) -> Any:
    if isinstance(outcome, AnalysisFailure):
        return (outcome.type, outcome.message)
    return (outcome.sample.text, outcome.final_result, outcome.moderator, outcome.memory)


def reviews(number: int) -> list[str]:
    return [f"{text} ({place})" for place, text in zip(range(number), itertools.cycle((ENGLISH, KOREAN)), strict=False)]


def test_outcomes_come_in_order_and_equal_texts_are_analysed_once() -> None:
    model = CountingModel()
    told: list[tuple[int, int | None]] = []
    odd: Any = None
    texts = [ENGLISH, KOREAN, REFUSED, "  ", ENGLISH, odd, Sample(uid="mine", text=KOREAN), *reviews(12)]
    with Analyzer(backend=model) as analyzer:
        outcomes = list(analyzer.analyze_many(texts, concurrency=4, on_progress=lambda *counts: told.append(counts)))
        alone = analyzer.analyze(ENGLISH)
    first, second, refused, empty, again, no_text, mine = outcomes[:7]
    assert plain(first) == plain(again) == plain(alone)
    assert plain(mine) == plain(second)
    assert isinstance(mine, SampleResult)
    assert mine.sample.uid == "mine"
    assert isinstance(refused, AnalysisFailure)
    assert (refused.type, refused.message) == ("timeout", "the model is away")
    assert isinstance(empty, AnalysisFailure)
    assert isinstance(no_text, AnalysisFailure)
    assert (empty.type, no_text.type) == ("invalid_text", "invalid_text")
    assert "the review is None" in no_text.message
    assert [outcome.sample.text for outcome in outcomes[7:] if isinstance(outcome, SampleResult)] == reviews(12)
    assert sorted(model.asked) == sorted([ENGLISH, KOREAN, REFUSED, *reviews(12), ENGLISH])
    assert model.most_under_way == 4
    assert told == [(number, len(texts)) for number in range(1, len(texts) + 1)]


def test_reviews_are_read_a_bounded_number_ahead_and_only_while_somebody_reads_the_results() -> None:
    read_n = 0

    def endless() -> Iterator[str]:
        nonlocal read_n
        for read_n in itertools.count(1):
            yield f"{ENGLISH} {read_n}"

    with Analyzer(backend=CountingModel()) as analyzer:
        outcomes = analyzer.analyze_many(endless(), concurrency=2)
        assert [str(next(outcomes)) for _ in range(3)] == ["SampleResult(mixed: battery positive, screen negative)"] * 3
        outcomes.close()
        assert read_n < 30
        assert isinstance(analyzer.analyze(KOREAN), SampleResult)


def test_a_memory_holds_what_it_would_hold_after_one_review_at_a_time(tmp_path: Path) -> None:
    samples = [Sample(uid=f"s{place}", text=text) for place, text in enumerate([*reviews(6), ENGLISH, ENGLISH])]
    one_by_one, at_once = (
        Analyzer(backend=CountingModel(), condition="C2", store=tmp_path / f"{name}.jsonl") for name in ("one", "many")
    )
    with one_by_one, at_once:
        expected = [one_by_one.analyze(sample.text, uid=sample.uid) for sample in samples]
        outcomes = list(at_once.analyze_many(samples, concurrency=8))
    assert list(map(plain, outcomes)) == list(map(plain, expected))
    assert [outcome.store for outcome in outcomes if isinstance(outcome, SampleResult)] == [
        result.store for result in expected
    ]
    assert any(result.store.episode_id for result in expected)


def test_a_stream_gives_a_result_before_it_gets_the_next_review() -> None:
    async def labels() -> list[str]:
        came = asyncio.Event()

        async def source() -> AsyncIterator[str]:
            yield ENGLISH
            await came.wait()
            yield KOREAN

        seen: list[str] = []
        with Analyzer() as analyzer:
            async for outcome in analyzer.stream(source()):
                assert isinstance(outcome, SampleResult)
                seen.append(outcome.final_result.label)
                came.set()
        return seen

    assert asyncio.run(labels()) == ["mixed", "mixed"]


def test_an_error_of_the_source_reaches_the_reader_of_a_stream() -> None:
    async def read() -> None:
        async def source() -> AsyncIterator[str]:
            yield ENGLISH
            raise LookupError("the queue is gone")

        with Analyzer() as analyzer:
            async for _ in analyzer.stream(source()):
                pass

    with pytest.raises(LookupError, match="the queue is gone"):
        asyncio.run(read())


def children() -> set[int]:
    return {
        int(child)
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
        if b"engine_processes" in Path(f"/proc/{child}/cmdline").read_bytes()
    }


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes in /proc")
def test_two_processes_give_what_one_gives_even_if_one_of_them_is_killed() -> None:
    texts = [*(f"{ENGLISH} ({place})" for place in range(90)), " "]  # English alone: Korean takes longer to load
    with Analyzer() as analyzer:
        outcomes = analyzer.analyze_many(texts, processes=2)
        first = next(outcomes)
        started = children()
        os.kill(min(started), signal.SIGKILL)  # the one that answered; the other may still be starting
        shared_out = [first, *outcomes]
        assert len(started) == 2
        assert children() == set()
        in_this_process = list(analyzer.analyze_many(texts, processes=1))
    assert list(map(plain, shared_out)) == list(map(plain, in_this_process))


def test_several_processes_are_refused_where_they_would_change_the_results(tmp_path: Path) -> None:
    with (
        Analyzer(condition="C2", store=tmp_path / "store.jsonl") as remembering,
        Analyzer(backend=CountingModel()) as asking,
    ):
        for analyzer in (remembering, asking):
            with pytest.raises(ConfigError, match="several processes serve the embedded engine and replay"):
                analyzer.analyze_many([ENGLISH], processes=2)
        with pytest.raises(ConfigError, match="concurrency must be at least 1, got 0"):
            asking.analyze_many([ENGLISH], concurrency=0)
