"""What `compare` does: load two sides, compare them, list what changed, tell it."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from episodic_absa.analysis.changed_samples import CHANGED_SAMPLES, find_changed_samples, write_changed_samples
from episodic_absa.analysis.comparability import incomparabilities
from episodic_absa.analysis.compared_runs import Side, load_sides
from episodic_absa.analysis.paired_comparison import compare_sides, count_backfilled_on_both
from episodic_absa.cli.compare.comparison_view import ComparedRuns, comparison_view
from episodic_absa.cli.output import print_json, show
from episodic_absa.errors import RunDirectoryError
from episodic_absa.metrics.statistics import RESAMPLES, SEED, claim_sentence, required_n

_FOLDER: Final = "comparisons"


def compare_runs(
    places: Sequence[Path], *, detect: float | None, out: Path | None, seed: int | None, as_json: bool
) -> None:
    """Compare, write changed_samples.csv, and print what was found; also where the file cannot be written."""
    a, b = load_sides(places)
    comparison = compare_sides(a, b, seed=seed)
    changed = find_changed_samples(a.cards, b.cards, count_backfilled=count_backfilled_on_both(a, b))
    primary = comparison.metrics[0]
    folder = out or _default_folder(a, b)
    path, problem = None, None
    try:
        path = write_changed_samples(folder, changed)
    except OSError as error:
        problem = error
    found = ComparedRuns(
        comparison=comparison,
        warnings=incomparabilities(a, b),
        has_gold=any(card.gold_tuples is not None for card in (*a.cards, *b.cards)),
        changed=Counter(one.status for one in changed),
        changed_path=path,
        detect=detect,
        detect_n=required_n(detect, primary.sd) if detect is not None and primary.sd is not None else None,
    )
    if as_json:
        print_json({**_json(found), "seed": SEED if seed is None else seed, "resamples": RESAMPLES})
    else:
        show(comparison_view(found))
    if problem is not None:
        target = folder / CHANGED_SAMPLES
        raise RunDirectoryError(
            f"cannot write {target}: {problem.strerror}; name another folder with --out DIR", path=target
        ) from problem


def _json(found: ComparedRuns) -> dict[str, Any]:
    comparison = found.comparison
    return {
        **comparison.model_dump(mode="json"),
        "sentence": claim_sentence(comparison.a, comparison.b, comparison.metrics[0]),
        "sentence_ko": claim_sentence(comparison.a, comparison.b, comparison.metrics[0], "ko"),
        "warnings": list(found.warnings),
        "changed": {status: found.changed[status] for status in ("better", "worse", "different")},
        "changed_samples": None if found.changed_path is None else str(found.changed_path.resolve()),
        **({} if found.detect is None else {"detect": found.detect, "detect_n": found.detect_n}),
    }


def _default_folder(a: Side, b: Side) -> Path:
    """Return a folder beside the cells of A, named after the two sides."""
    return a.grid / _FOLDER / "_vs_".join(_folder_name(side.name) for side in (a, b))


def _folder_name(name: str) -> str:
    """Return a name for a folder; where more than slashes had to go, a hash tells it from others."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("_")
    if plain == name.replace("/", "_").strip("_") and plain not in ("", ".", ".."):
        return plain
    return f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("_")
