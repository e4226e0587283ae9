"""The lines of `check` about gold: how much there is, and what is odd about its polarities and terms."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from episodic_absa.datasets.dataset_checks import count_invalid_gold, placed_terms
from episodic_absa.datasets.dataset_file import open_text_file
from episodic_absa.datasets.tables.table_rows import separator_of
from episodic_absa.language import read_polarity
from episodic_absa.runs.config.cells import evaluated_cells
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.vocabulary import POLARITIES, Polarity

Said = tuple[Literal["ok", "warning", "error"], str, str]

_MEANT: Final[Mapping[str, Polarity]] = {
    **dict.fromkeys(("긍정", "긍정적", "좋음", "만족", "good", "p", "+", "+1", "1"), "positive"),
    **dict.fromkeys(("부정", "부정적", "나쁨", "불만", "bad", "n", "-", "-1"), "negative"),
    **dict.fromkeys(("중립", "중립적", "보통", "none", "0", "o"), "neutral"),
}
_BOTH: Final = frozenset({"mixed", "conflict", "both", "혼합", "복합"})
_GOLD_NAMES: Final = ("gold", "gold_tuples", "annotation", "annotations", "aspects", "pairs", "labels")
_ASPECT_NAMES: Final = ("aspect", "aspect_term", "aspect term", "term", "target", "속성")
_POLARITY_NAMES: Final = ("polarity", "sentiment", "label", "극성", "감성")
_SEPARATOR_NAMES: Final = {";": "';'", "\t": "tabs"}
_MOST_UIDS: Final = 5
_MOST_WORDS: Final = 6
_LONGEST_WORD: Final = 20


def separator_lines(config: ExperimentConfig, data: ExperimentData) -> Iterator[Said]:
    """Yield a line for each CSV file that is not separated by commas."""
    if config.file.data.input_format != "csv":
        return
    for path in data.paths.values():
        with open_text_file(path) as file:
            separator = separator_of(file, config.file.data.text_column)
        if separator in _SEPARATOR_NAMES:
            yield "ok", "columns", f"{path.name} is read as a table separated by {_SEPARATOR_NAMES[separator]}"


def gold_lines(config: ExperimentConfig, data: ExperimentData) -> Iterator[Said]:
    """Yield lines about how many evaluated samples have gold, and what is odd about it."""
    # The samples of a run: data.limit may leave some out.
    samples = data.samples_of(next(iter(evaluated_cells(config))))
    annotated = [labelled for labelled in samples if labelled.gold is not None]
    if not annotated:
        measured = "the run counts and compares, but measures no quality"
        yield "warning", "gold", f"none of {len(samples)} samples has gold: {measured}; {_where_to_name_gold(samples)}"
        return
    counted_n = len(annotated) - count_invalid_gold(annotated)
    some = f"{len(annotated)} of {len(samples)} samples have gold"
    if counted_n < len(annotated):
        left_out = f"{len(annotated) - counted_n} of them without a valid polarity, which are left out"
        yield "warning", "gold", f"{some}, {left_out}: quality is measured over n = {counted_n}"
    elif len(annotated) < len(samples):
        yield "warning", "gold", f"{some}: quality is measured over these n = {counted_n}"
    else:
        yield "ok", "gold", f"all {len(samples)} samples have gold: {_pair_counts(annotated)}"
    yield from _two_polarity_lines(annotated)
    yield from _polarity_word_lines(annotated)
    yield from _term_lines(annotated)


def _where_to_name_gold(samples: Sequence[LabelledSample]) -> str:
    columns = list(dict.fromkeys(name for labelled in samples for name in labelled.metadata))
    by_name = {name.lower(): name for name in columns}
    by_content = (name for name in columns if _holds_pairs(labelled.metadata.get(name) for labelled in samples))
    gold = next(by_content, None) or next((by_name[name] for name in _GOLD_NAMES if name in by_name), None)
    if gold is not None:
        return f"the column {gold!r} looks like it: set eval.gold_column to {gold!r}"
    aspect = next((by_name[name] for name in _ASPECT_NAMES if name in by_name), None)
    polarity = next((by_name[name] for name in _POLARITY_NAMES if name in by_name), None)
    if aspect is not None and polarity is not None:
        return (
            f"the columns {aspect!r} and {polarity!r} look like it: set eval.aspect_column to {aspect!r} and "
            f"eval.polarity_column to {polarity!r}"
        )
    return "name a file in eval.gold_jsonl or a column in eval.gold_column"


def _holds_pairs(cells: Iterable[object]) -> bool:
    """Return whether at least half of the cells that hold something read `term:polarity; ...`."""
    filled = [cell for cell in cells if isinstance(cell, str) and cell.strip(" -")]
    return bool(filled) and 2 * sum(map(_is_pair_cell, filled)) >= len(filled)


def _is_pair_cell(cell: str) -> bool:
    pairs = [part.rpartition(":") for part in cell.split(";") if part.strip()]
    return all(colon and read_polarity(word).polarity is not None for _, colon, word in pairs)


def _pair_counts(annotated: Sequence[LabelledSample]) -> str:
    polarities = Counter(gold_tuple.polarity for labelled in annotated for gold_tuple in labelled.gold or ())
    counts = ", ".join(f"{polarities[polarity]} {polarity}" for polarity in POLARITIES)
    return f"{polarities.total()} pairs ({counts})"


def _polarity_word_lines(annotated: Sequence[LabelledSample]) -> Iterator[Said]:
    words = Counter(word.strip() for labelled in annotated for word in labelled.odd_polarities)
    if not words:
        return
    advice = [_advice(word, times) for word, times in words.most_common(_MOST_WORDS)]
    rest = len(words) - len(advice)
    yield (
        "warning",
        "polarity_words",
        "; ".join(advice) + (f"; and {rest} more words" if rest > 0 else ""),
    )


def _advice(word: str, times: int) -> str:
    """Return what a polarity word is read as, or which spelling would be read."""
    shown = f"{word[:_LONGEST_WORD]!r} ({times}x)" if word else f"an empty polarity ({times}x)"
    polarity = read_polarity(word).polarity
    if polarity is not None:
        return f"{shown} is read as {polarity}"
    if word.lower() in _BOTH:
        return f"{shown} is not read; write one pair for each polarity"
    meant = _MEANT.get(word.lower())
    return f"{shown} is not read; " + (f"did you mean {meant}?" if meant else f"write {', '.join(POLARITIES)}")


def _two_polarity_lines(annotated: Sequence[LabelledSample]) -> Iterator[Said]:
    """Yield a line about samples that give one term two polarities: a slip, or a text that says both."""
    twofold = [labelled.sample.uid for labelled in annotated if _has_twofold_term(labelled)]
    if twofold:
        shown = ", ".join(map(repr, twofold[:_MOST_UIDS])) + (", …" if len(twofold) > _MOST_UIDS else "")
        many = "1 sample gives" if len(twofold) == 1 else f"{len(twofold)} samples give"
        yield (
            "warning",
            "gold_twofold",
            f"{many} one term two polarities ({shown}); both count: keep both only where the text says both",
        )


def _has_twofold_term(labelled: LabelledSample) -> bool:
    pairs = {
        (gold_tuple.aspect_term, gold_tuple.span, gold_tuple.polarity)
        for gold_tuple in labelled.gold or ()
        if gold_tuple.aspect_term and gold_tuple.polarity is not None
    }
    return len({(term, span) for term, span, _ in pairs}) < len(pairs)


def _term_lines(annotated: Sequence[LabelledSample]) -> Iterator[Said]:
    terms = placed_terms(annotated)
    if terms.shift is not None:
        yield "error", "gold_terms", terms.shift
    elif terms.absent:
        absent_n, first = len(terms.absent), terms.absent[0]
        pairs = "gold term is" if absent_n == 1 else "gold terms are"
        advice = "a term counts as written in the text; leave it empty if the text does not name the target"
        yield "warning", "gold_terms", f"{absent_n} {pairs} not in the text, first in {first!r}; {advice}"
