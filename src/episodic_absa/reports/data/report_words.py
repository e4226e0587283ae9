"""The sentences of a report's first screen. Claims about intervals come from the statistics."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_absa.analysis.failures import RunFailures
from episodic_absa.metrics.per_sample.term_similarity import SIMILARITY_NAME
from episodic_absa.metrics.statistics import FEWEST_REVIEWS, few_reviews
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.comparisons import ComparisonPart
from episodic_absa.reports.data.report_data import CellState, ConditionCard, RunFacts
from episodic_absa.runs.failure_causes import samples
from episodic_absa.schemas.run_files.manifest import Majority

NO_MANIFEST: Final = Bilingual(en="skipped: no manifest.json", ko="제외: manifest.json 없음")
_NAMES_SHOWN: Final = 6
_POLARITIES_KO: Final = {"positive": "긍정", "negative": "부정", "neutral": "중립"}
_SOURCES_KO: Final = {"train": "학습", "evaluation": "평가"}
_NOTES_KO: Final = {
    f"similarity: {SIMILARITY_NAME}": "유사도: 문자 2-gram과 3-gram의 코사인",
    "eligible=false: the backend ignores the seed and memory is never shown, so all seeds are one trial": (
        "백엔드가 시드를 무시하고 메모리를 보여 주지 않으므로 모든 시드가 한 번의 시행입니다"
    ),
    "eligible=false: the backend ignores the seed and the order is not shuffled, so all seeds are one trial": (
        "백엔드가 시드를 무시하고 순서를 섞지 않으므로 모든 시드가 한 번의 시행입니다"
    ),
    "eligible=false: the backend ignores the seed, and orders are not compared, so all seeds are one trial": (
        "백엔드가 시드를 무시하고 순서끼리는 비교하지 않으므로 모든 시드가 한 번의 시행입니다"
    ),
    "eligible=false: no sample has two trials": "두 번 이상 시행한 샘플이 없습니다",
    "a price is not known": "단가를 알 수 없습니다",
    "no gold to take a majority from": "다수 극성을 구할 정답이 없습니다",
}


def majority_words(majority: Majority) -> Bilingual:
    """Return the majority polarity and its source."""
    return Bilingual(
        en=f"{majority.polarity} ({majority.source} gold)",
        ko=f"{_POLARITIES_KO[majority.polarity]}({_SOURCES_KO[majority.source]} 정답)",
    )


def note_words(note: str) -> Bilingual:
    """Return the note of a metric in both languages; a note without a translation stays as it is."""
    return Bilingual(en=note, ko=_NOTES_KO.get(note, note))


def headline_of(
    facts: RunFacts, cards: Sequence[ConditionCard], comparisons: Sequence[ComparisonPart]
) -> tuple[Bilingual, Bilingual | None]:
    """Return the result of the run in one sentence, and one about the power of its sample size."""
    if facts.with_gold and comparisons:
        first = comparisons[0]
        return first.answer, first.power if first.power.en else None
    if not facts.reviews:
        return Bilingual(en="No sample has been analysed yet.", ko="아직 분석된 샘플이 없습니다."), None
    if not facts.with_gold:
        return _without_gold(cards), None
    return _alone(cards), None


def notes_of(
    facts: RunFacts, cells: Sequence[CellState], *, compared_n: int | None = None, only_build: str = ""
) -> tuple[Bilingual, ...]:
    """Return what a reader must know before the figures.

    Args:
        facts: the run.
        cells: the state of each cell, unreadable ones included.
        compared_n: the reviews that the headline compares; None if it compares none.
        only_build: the cell that a grid's page shows if no condition has been run yet.
    """
    notes = [*_damage(cells), *_notes(facts, cells, facts.reviews if compared_n is None else compared_n)]
    if only_build:
        first = Bilingual(
            en=f"No condition has been run yet: this page shows only {only_build}, which builds a store.",
            ko=f"아직 실행된 조건이 없습니다. 이 보고서는 저장소를 만든 셀 {only_build}만 보여 줍니다.",
        )
        notes.insert(0, first)
    return tuple(notes)


def failure_of(failures: RunFailures, *, with_text: bool) -> Bilingual | None:
    """Return what is wrong if more than half of a cell's samples or some of a stopped run failed, with the cause.

    Args:
        failures: of the run.
        with_text: False leaves out the message of the cause, in which a server may have its say.
    """
    if not failures.mostly_failed and (failures.is_finished or not failures.failed_n):
        return None
    failed_n, total, names = failures.failed_n, failures.sample_n, _listed(failures.mostly_failed)
    en = f"{failed_n:,} of {samples(total)} failed" + (f", more than half of those of {names}." if names else ".")
    ko = f"샘플 {total:,}개 중 {failed_n:,}개가 실패했습니다."
    if names:
        ko += f" {names}에서는 절반이 넘게 실패했습니다."
    if not failures.is_finished:
        en = f"The run is not finished. {en}"
        ko = f"실행이 끝나지 않았습니다. {ko}"
    if with_text and failures.causes:
        cause = failures.causes[0]
        en += f" The commonest cause ({samples(cause.sample_n)}): {cause.message}"
        ko += f" 가장 흔한 원인({cause.sample_n:,}개): {cause.message}"
    return Bilingual(en=en, ko=ko)


def _without_gold(cards: Sequence[ConditionCard]) -> Bilingual:
    changed = ", ".join(f"{card.name} {card.changed:,} / {card.samples:,}" for card in cards)
    return Bilingual(
        en=f"Without gold nothing can be said about quality; samples changed after review: {changed}.",
        ko=f"정답이 없어 품질은 말할 수 없습니다. 검토 후 바뀐 샘플: {changed}.",
    )


def _alone(cards: Sequence[ConditionCard]) -> Bilingual:
    scores = "; ".join(f"{card.name} {_score(card)}" for card in cards)
    return Bilingual(
        en=f"tuple_f1_explicit: {scores}. No comparison is made here.",
        ko=f"tuple_f1_explicit: {scores}. 여기서는 조건을 비교하지 않습니다.",
    )


def _score(card: ConditionCard) -> str:
    if card.score is None:
        return "–"
    interval = f", 95 % CI [{card.low:.3f}, {card.high:.3f}]" if card.low is not None and card.high is not None else ""
    return f"{card.score:.3f}{interval}"


def _damage(cells: Sequence[CellState]) -> Iterator[Bilingual]:
    """Yield notes about samples and cells that are missing from the figures."""
    orphans = [cell.name for cell in cells if cell.expected is None]
    if orphans:
        names = _listed(orphans)
        yield Bilingual(
            en=f"Skipped, no manifest.json: {names}. No figure counts them.",
            ko=f"manifest.json이 없어 제외한 셀: {names}. 어떤 수치에도 포함되지 않습니다.",
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", …" if len(names) > _NAMES_SHOWN else "")


def _notes(facts: RunFacts, cells: Sequence[CellState], reviews_n: int) -> Iterator[Bilingual]:
    unfinished = [cell for cell in cells if not cell.completed and cell.expected is not None]
    if unfinished:
        done, due = sum(cell.done for cell in unfinished), sum(cell.expected or 0 for cell in unfinished)
        names = _listed([cell.name for cell in unfinished])
        yield Bilingual(
            en=f"Not finished: {len(unfinished)} of {len(cells)} cells ({names}), {done:,} of {due:,} samples there.",
            ko=f"끝나지 않은 셀: {len(cells)}개 중 {len(unfinished)}개 ({names}), 샘플 {due:,}개 중 {done:,}개.",
        )
    failed = sum(cell.failed for cell in cells)
    if failed:
        total = sum(cell.done for cell in cells)
        yield Bilingual(
            en=f"{failed:,} of {samples(total)} failed; they are left out of every rate and listed below.",
            ko=f"샘플 {total:,}개 중 {failed:,}개가 실패했으며, 모든 비율에서 제외하고 아래에 나열합니다.",
        )
    if 0 < reviews_n < FEWEST_REVIEWS:
        yield Bilingual(en=few_reviews(reviews_n, "en"), ko=few_reviews(reviews_n, "ko"))
    if facts.reviews and not facts.with_gold:
        yield Bilingual(
            en="No gold: quality, corrections and the baseline have no value.",
            ko="정답이 없어 품질, 수정, 기준선 지표에는 값이 없습니다.",
        )
    if facts.is_embedded_engine:
        yield Bilingual(
            en="Answered by the embedded engine (one small reader), not by a language model: "
            "figures show how the instrument works.",
            ko="언어 모델이 아닌 내장 엔진(작은 판독기)의 결과입니다. 수치는 도구의 동작을 보여 줄 뿐입니다.",
        )
