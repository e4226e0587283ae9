"""Runs `compare`: loads two sides, compares them, writes changed_samples.csv, and prints the result."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from episodic_absa.analysis.changed_samples import CHANGED_SAMPLES, find_changed_samples, write_changed_samples
from episodic_absa.analysis.comparability import incomparabilities
from episodic_absa.analysis.compared_runs import Side, load_sides
from episodic_absa.analysis.paired_comparison import compare_sides, count_backfilled_on_both, exploratory_of
from episodic_absa.cli.compare.comparison_view import ComparedRuns, comparison_view
from episodic_absa.cli.output import print_json, show
from episodic_absa.errors import RunDirectoryError
from episodic_absa.metrics.statistics import RESAMPLES, SEED, p_values_text, verdict_sentence

_FOLDER: Final = "comparisons"


def compare_runs(
    places: Sequence[Path], *, detect: float | None, out: Path | None, seed: int | None, as_json: bool
) -> None:
    """Compare two sides, write changed_samples.csv, and print the comparison.

    Raises:
        RunDirectoryError: a side cannot be read, or the file cannot be written. Then the comparison is printed first.
    """
    a, b = load_sides(places)
    comparison = compare_sides(a, b, seed=seed)
    changed = find_changed_samples(a.cards, b.cards, count_backfilled=count_backfilled_on_both(a, b))
    primary = comparison.primary
    folder = out or _default_folder(a, b)
    path, problem = None, None
    try:
        path = write_changed_samples(folder, changed, is_private=out is None)
    except OSError as error:
        problem = error
    compared = ComparedRuns(
        comparison=comparison,
        exploratory=exploratory_of(a, b),
        warnings=incomparabilities(a, b),
        has_gold=any(card.gold_tuples is not None for card in (*a.cards, *b.cards)),
        changed=Counter(sample.status for sample in changed),
        changed_path=path,
        detect=detect,
        detect_n=None if not detect or primary.sd is None else primary.reviews_for(detect),
    )
    if as_json:
        print_json({**_json(compared), "seed": SEED if seed is None else seed, "resamples": RESAMPLES})
    else:
        show(comparison_view(compared))
    if problem is not None:
        target = folder / CHANGED_SAMPLES
        raise RunDirectoryError(
            f"cannot write {target}: {problem.strerror}; name another folder with --out DIR", path=target
        ) from problem


def _json(compared: ComparedRuns) -> dict[str, Any]:
    comparison = compared.comparison
    verdict = comparison.verdict()
    return {
        **comparison.model_dump(mode="json"),
        "verdict": verdict.model_dump(mode="json"),
        "verdict_sentence": verdict_sentence(comparison.a, comparison.b, verdict),
        "verdict_sentence_ko": verdict_sentence(comparison.a, comparison.b, verdict, "ko"),
        "p_values": p_values_text(comparison.primary),
        "exploratory": bool(compared.exploratory),
        "exploratory_because": list(compared.exploratory),
        "warnings": list(compared.warnings),
        "changed": {status: compared.changed[status] for status in ("better", "worse", "different")},
        "changed_samples": None if compared.changed_path is None else str(compared.changed_path.resolve()),
        **({} if compared.detect is None else {"detect": compared.detect, "detect_n": compared.detect_n}),
    }


def _default_folder(a: Side, b: Side) -> Path:
    """Return a folder beside the cells of A, named after the two sides."""
    return a.grid / _FOLDER / "_vs_".join(_folder_name(side.name) for side in (a, b))


def _folder_name(name: str) -> str:
    """Return a folder name; a hash keeps names apart that lose more than slashes."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("_")
    if plain == name.replace("/", "_").strip("_") and plain not in ("", ".", ".."):
        return plain
    return f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("_")
