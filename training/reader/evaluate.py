"""Scores readings of dev texts: strict F1, whole texts exactly right, and how far p is from the share that is right.

python training/reader/evaluate.py PACK.json.xz READINGS.jsonl.gz [MORE.jsonl.gz ...] [--tau 0.45] [--weights 1 1]
    [--tag own] [--table TABLE.json]

Several files are averaged pair by pair: seeds of one model, or a model and another engine that wrote the same lines.
Readings hold no text: uid, corpus, tag, `[start, end, polarity, p, topic]` of each pair, label. Test files are not read
here: benchmarks/ counts them once a model is chosen. --table fits how likely a pair of score p is right, and says how
far off it is on each corpus when fitted on the others alone.
"""

import argparse
import json
import lzma
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import numpy as np
from reading import Answers, Read, read_lines, read_texts, tag_id
from strict_score import strict_score, trimmed_term

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TAU: Final = 0.45
_BINS: Final = 10
_TABLE_BINS: Final = 30
Line: TypeAlias = dict[str, Any]
"""One text as it was read: corpus, uid, tag, pairs, label."""
Judged: TypeAlias = tuple[float, bool]
"""p of a pair, and whether it is right."""
Weighed: TypeAlias = dict[tuple[str, str], float]
"""p of each (term, polarity) of a text."""


def main() -> None:
    """Print the scores of each corpus and tag."""
    parser = argparse.ArgumentParser(description="Score readings of dev texts.")
    parser.add_argument("pack", type=Path)
    parser.add_argument("readings", type=Path, nargs="+")
    parser.add_argument("--tau", type=float, default=TAU, help="the least p of a pair that counts as an answer")
    parser.add_argument("--weights", type=float, nargs="+", help="one for each file; equal unless given")
    parser.add_argument("--tag", help="score what was read under this tag alone; `own`: each corpus under its own")
    parser.add_argument("--table", type=Path, help="fit p to the share that is right, and write the table")
    given = parser.parse_args()
    weights = given.weights or [1.0] * len(given.readings)
    if len(weights) != len(given.readings):
        parser.error(f"{len(weights)} weights for {len(given.readings)} files of readings")
    texts = {row["uid"]: row for parts in read_pack(given.pack).values() for row in parts["dev"]}
    judged: dict[str, list[Judged]] = {}
    for figures in scores(texts, [read_lines(path) for path in given.readings], weights, given.tau):
        wanted = own_tag(figures["corpus"]) if given.tag == "own" else given.tag
        if wanted in (None, figures["tag"]):
            print(told(figures))
            judged.setdefault(figures["corpus"], []).extend(figures["judged"])
    if given.table is not None:
        for corpus in judged:
            others = fit_table([pair for name, pairs in judged.items() if name != corpus for pair in pairs])
            after = [(float(np.interp(p, *others)), is_right) for p, is_right in judged[corpus]]
            print(f"{corpus}: calibration error {calibration_error(after):.3f} with a table of the other corpora")
        scored, shares = fit_table([pair for pairs in judged.values() for pair in pairs])
        given.table.write_text(json.dumps({"scores": scored, "probabilities": shares}) + "\n", encoding="utf-8")


def read_pack(path: Path) -> dict[str, Any]:
    """Return what `pack.py` gathered."""
    packed: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return packed


def dev_lines(rows: Sequence[Line], tokenizer: "Tokenizer", answers: Answers) -> Iterator[Line]:
    """Yield every dev text as read under its own corpus' tag, the everyday tag and none."""
    by_corpus: dict[str, list[Line]] = defaultdict(list)
    for row in rows:
        by_corpus[row["corpus"]].append(row)
    for corpus, members in by_corpus.items():
        for tag in tags_of(corpus):
            yield from lines(members, tokenizer, answers, tag)


def tags_of(corpus: str) -> tuple[str, ...]:
    """Return the tags that a dev text is read under: its own corpus', the everyday tag and none."""
    return tuple(dict.fromkeys((own_tag(corpus), "everyday", "no_tag")))


def own_tag(corpus: str) -> str:
    """Return the tag of a dev file; everyday_dev and everyday_extra are of the corpus everyday."""
    return corpus.partition("_")[0]


def lines(rows: Sequence[Line], tokenizer: "Tokenizer", answers: Answers, tag: str) -> Iterator[Line]:
    """Yield the texts as read under one tag."""
    found = read_texts([row["text"] for row in rows], tokenizer, answers, tag_id(tag))
    for row, read in zip(rows, found, strict=True):
        yield line_of(row, tag, read)


def line_of(row: Line, tag: str, read: Read) -> Line:
    """Return a text as it was read."""
    return {
        "corpus": row["corpus"],
        "uid": row["uid"],
        "tag": tag,
        "pairs": [[pair.start, pair.end, pair.polarity, pair.p, pair.topic] for pair in read.pairs],
        "label": [read.label, read.label_p],
    }


def scores(
    texts: dict[str, Line], files: Sequence[Sequence[Line]], weights: Sequence[float], tau: float
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each corpus and tag that every file has read."""
    share = [weight / sum(weights) for weight in weights]
    weighed: dict[tuple[str, str], dict[str, list[Weighed]]] = defaultdict(lambda: defaultdict(list))
    for file in files:
        for line in file:
            of_text = weighed[line["corpus"], line["tag"]]
            of_text[line["uid"]].append(by_pair(texts[line["uid"]]["text"], line["pairs"]))
    for (corpus, tag), by_uid in weighed.items():
        if all(len(found) == len(files) for found in by_uid.values()):
            yield {"corpus": corpus, "tag": tag, **_figures(texts, by_uid, share, tau)}


def told(figures: dict[str, Any]) -> str:
    """Return figures in one line."""
    return (
        f"{figures['corpus']} as {figures['tag']}: f1 {figures['f1']:.4f} (precision {figures['precision']:.3f}, "
        f"recall {figures['recall']:.3f}), exact {figures['exact']} of {figures['texts']}, "
        f"calibration error {figures['calibration_error']:.3f}"
    )


def by_pair(text: str, pairs: Sequence[Sequence[Any]]) -> Weighed:
    """Return p of each (term, polarity) of a text that was read."""
    weighed: Weighed = {}
    for start, end, polarity, p, *_ in pairs:
        key = (trimmed_term(text[start:end]), polarity)
        weighed[key] = max(p, weighed.get(key, 0.0))
    return weighed


def _figures(
    texts: dict[str, Line], by_uid: dict[str, list[Weighed]], share: Sequence[float], tau: float
) -> dict[str, Any]:
    gold, shown, judged = [], [], []
    for uid, found in by_uid.items():
        wanted = {(trimmed_term(term), polarity) for term, polarity in texts[uid]["pairs"]} - {("", "")}
        explicit = {pair for pair in wanted if pair[0]}
        mean = averaged(found, share)
        gold.append(explicit)
        shown.append({pair for pair, p in mean.items() if p >= tau})
        judged += [(p, pair in explicit) for pair, p in mean.items()]
    right = sum(wanted == answer for wanted, answer in zip(gold, shown, strict=True))
    return {
        "texts": len(gold),
        **strict_score(gold, shown).rounded(),
        "exact": right,
        "calibration_error": calibration_error(judged),
        "judged": judged,
    }


def averaged(found: Sequence[Weighed], share: Sequence[float]) -> Weighed:
    """Return the weighed mean of p, at most one polarity a term; a file that does not know a pair gives it none."""
    mean: Weighed = defaultdict(float)
    for weighed, weight in zip(found, share, strict=True):
        for pair, p in weighed.items():
            mean[pair] += weight * p
    best: dict[str, tuple[str, str]] = {}
    for pair in sorted(mean, key=lambda pair: (mean[pair], pair)):
        best[pair[0]] = pair
    return {pair: mean[pair] for pair in best.values()}


def calibration_error(judged: Sequence[Judged]) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    gaps: dict[int, float] = defaultdict(float)
    for p, is_right in judged:
        gaps[min(_BINS - 1, int(p * _BINS))] += p - is_right
    return round(sum(map(abs, gaps.values())) / max(1, len(judged)), 4)


def fit_table(judged: Sequence[Judged]) -> tuple[list[float], list[float]]:
    """Return scores and the shares that are right at them, rising: bins of equal size, pooled until they rise."""
    blocks: list[tuple[int, float, int]] = []  # pairs, sum of p, right ones
    ordered = sorted(judged)
    size = max(1, len(ordered) // _TABLE_BINS)
    for at in range(0, len(ordered), size):
        members = ordered[at : at + size]
        blocks.append((len(members), sum(p for p, _ in members), sum(is_right for _, is_right in members)))
        while len(blocks) > 1 and blocks[-1][2] * blocks[-2][0] <= blocks[-2][2] * blocks[-1][0]:
            (n, p, right), (more, more_p, more_right) = blocks.pop(), blocks.pop()
            blocks.append((n + more, p + more_p, right + more_right))
    return [round(p / n, 4) for n, p, _ in blocks], [round(right / n, 4) for n, _, right in blocks]


if __name__ == "__main__":
    main()
