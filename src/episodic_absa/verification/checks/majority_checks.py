"""Checks of the majority polarity that manifests name: it is that of the gold, and the same in the whole grid."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.majority import Majority
from episodic_absa.verification.checks.findings import Findings, NotApplicableError
from episodic_absa.vocabulary import POLARITIES, Polarity

_Unknown = Literal["unknown"]


def check_majority_agrees(cells: Sequence[CellFiles]) -> Findings:
    """All cells name the same majority, and it is that of their gold, if the scorecards hold the whole split."""
    if not cells:
        raise NotApplicableError("no cell can be read")
    commonest = Counter(cell.known_manifest.majority for cell in cells).most_common(1)[0][0]
    for cell in cells:
        same = cell.known_manifest.majority == commonest
        yield None if same else f"{cell.path.name} names another majority than other cells"
    yield majority_problem(cells, commonest)


def majority_problem(cells: Sequence[CellFiles], named: Majority | None) -> str | None:
    """Return how a majority contradicts the gold of the cells' scorecards; None if it does not, or if it is unknown."""
    data = cells[0].known_manifest.config.data
    # Train gold goes first; only a cell that was run over the train split holds it.
    train = None if data.train_file is None else _polarity_of_split(cells, "train")
    if named is not None and named.source == "train":
        right = train in ("unknown", named.polarity)
    elif train is not None and train != "unknown":
        right = False
    else:
        right = _polarity_of_split(cells, data.process_split) in ("unknown", named.polarity if named else None)
    return None if right else "majority is not that of the gold"


def _polarity_of_split(cells: Iterable[CellFiles], split: str) -> Polarity | _Unknown | None:
    gold: dict[str, Sequence[GoldTuple]] = {}
    due: set[int | None] = set()
    for cell in cells:
        if cell.known_manifest.dataset.processing_split == split:
            gold |= {card.uid: card.gold_tuples or () for card in cell.scorecards}
            due.add(cell.known_manifest.dataset.split_counts.get(cell.known_manifest.dataset.processing_split))
    # The majority is that of the whole split, of which data.limit leaves samples out.
    if due != {len(gold)}:
        return "unknown"
    polarities = [
        gold_tuple.polarity for tuples in gold.values() for gold_tuple in tuples if gold_tuple.polarity is not None
    ]
    commonest: Polarity = max(POLARITIES, key=polarities.count)  # max keeps the first of equals
    return commonest if polarities else None
