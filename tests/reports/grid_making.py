"""Grids for report tests: a small real one, one with hostile reviews, and a large one copied from real lines."""

import asyncio
import base64
import copy
import gzip
import hashlib
import json
import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.runs.sealed_files import write_records, write_sealed

from episodic_absa.experiment import run_grid
from episodic_absa.runs.config import load_experiment

SHIPPED = Path(__file__).resolve().parents[2] / "experiments"
Line = dict[str, Any]

HOSTILE_REVIEWS: Mapping[str, str] = {
    "script": "The food </script><script>document.title='owned'</script> was great but the staff was rude.",
    "image": "The room <img src=x onerror=\"document.title='owned'\"> is nice, the bed is not good.",
    "comment": "음식은 <!-- --> ]]> 맛있었지만 직원은 &lt;b&gt; 불친절했어요. ${alert(1)} {{ 7*7 }}",
    "long": "The battery is great " + "가" * 900 + " " + "W" * 900 + " and the screen is terrible.",
    "emoji": "화면 👩‍👩‍👧‍👦🇰🇷 은 좋은데 배터리가 너무 빨리 닳아요 😡",
    "right_to_left": "The hotel \u202eمطعم رائع\u202c was good, but الغرفة was bad.",
    "nul": "The price\x00 is good,\x07 the service\u2028 is \ufeffslow.",
    "endless": "The food was good, but the " + "a" * 100_000 + " is terrible.",
    "slot": 'DEBATE_CONTEXT__MEMORY 는 맛있지만 STAGE2_REVIEW_CONTEXT__MEMORY "DEBATE_CONTEXT__MEMORY":{} 는 별로예요.',
    "order-2026-000117": "order-2026-000117-1 주문한 음식은 맛있었지만 배송은 느렸어요.",
    "short": "음식이 맛있어요.",
    "quote\"'><svg/onload=document.title=1>": "The coffee is excellent.",
}


def run(config: Path) -> None:
    """Run an experiment in a separate thread, because the browser driver keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(run_grid(load_experiment(config), use_cache_file=False))).result()


def run_reviews(
    folder: Path,
    rows: Sequence[Line],
    gold: Sequence[Line] = (),
    *,
    conditions_path: str | None = None,
    **experiment: Any,
) -> Path:
    """Run a grid over reviews of our own on the embedded engine; return its directory.

    Args:
        folder: where data, config and results stand.
        rows: the reviews.
        gold: their gold, if there is any.
        conditions_path: the version of the conditions file; None takes the default.
        experiment: keys of the block of that name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "valid.jsonl", rows)
    config: Line = {
        "run_id": "made",
        "data": {"input_format": "jsonl", "allowed_roots": ["."], "valid_file": "valid.jsonl"},
        "experiment": {"conditions": ["C1", "C2"], "seeds": [42], **experiment},
    }
    if conditions_path:
        config["episodic_memory"] = {"conditions_path": conditions_path}
    if gold:
        write_lines(folder / "gold.jsonl", gold)
        config["eval"] = {"gold_jsonl": "gold.jsonl"}
    (folder / "made.yaml").write_text(json.dumps(config), "utf-8")  # JSON is YAML
    run(folder / "made.yaml")
    return folder / "results" / "made"


def run_shipped(folder: Path, *, reviews: int = 24, **experiment: Any) -> Path:
    """Run a grid over the first shipped reviews, its stores filled from training reviews.

    It runs under seed rules: there memory changes results of the embedded engine, and there are overrides.
    """
    data = folder / "data"
    data.mkdir()
    for name, n in (("train", 20), ("valid", reviews)):
        rows = (SHIPPED / "data" / f"{name}.csv").read_text("utf-8").splitlines(keepends=True)
        (data / f"{name}.csv").write_text("".join(rows[: n + 1]), "utf-8")
    uids = {row.partition(",")[0] for row in (data / "valid.csv").read_text("utf-8").splitlines()}
    gold = read_lines(SHIPPED / "data" / "valid.gold.jsonl")
    write_lines(data / "valid.gold.jsonl", [line for line in gold if line["uid"] in uids])
    config: Line = {
        "run_id": "small",
        "data": {"allowed_roots": ["data"], "train_file": "data/train.csv", "valid_file": "data/valid.csv"},
        "eval": {"gold_jsonl": "data/valid.gold.jsonl"},
        "episodic_memory": {"conditions_path": "v1_2", "build": {"split": "train", "condition": "C2_silent"}},
        "experiment": {"conditions": ["C1", "C2"], "seeds": [42, 123], "shuffle": True, **experiment},
    }
    (folder / "small.yaml").write_text(json.dumps(config), "utf-8")
    run(folder / "small.yaml")
    return folder / "results" / "small"


def run_hostile(folder: Path) -> Path:
    """Run reviews that try to be more than text, with gold, uids and domains to match."""
    rows = [
        {"uid": f"{uid}-1", "text": text, "domain_id": f"</option><script>{place % 2}</script>"}
        for place, (uid, text) in enumerate(HOSTILE_REVIEWS.items())
    ]
    gold = [
        {"uid": row["uid"], "gold_tuples": [{"aspect_term": "</script>food", "polarity": "positive"}]} for row in rows
    ]
    return run_reviews(folder, rows, gold)


def run_v3(folder: Path) -> Path:
    """Run four reviews with the default conditions and less effort; a target of the first is dropped."""
    doubtful = "등본 한 통 떼려는데 보안 프로그램을 다섯 개나 깔라고 해서 포기하고 주민센터로 걸어갔습니다"
    reviews: Mapping[str, Mapping[str, str]] = {
        doubtful: {"보안 프로그램": "negative"},
        "The room was clean, but the breakfast was cold.": {"room": "positive", "breakfast": "negative"},
        "음식은 맛있었지만 서비스가 느렸어요.": {"음식": "positive", "서비스": "negative"},
        "정말 안 좋아요": {"": "negative"},
    }
    rows = [{"uid": f"v3-{number}", "text": text} for number, text in enumerate(reviews)]
    gold = [
        {
            "uid": row["uid"],
            "gold_tuples": [{"aspect_term": term, "polarity": polarity} for term, polarity in pairs.items()],
        }
        for row, pairs in zip(rows, reviews.values(), strict=True)
    ]
    return run_reviews(folder, rows, gold, conditions=["C1", "C2", "adaptive", "one_call"], strata=["language"])


def multiply(grid: Path, out: Path, cells: Sequence[str], n: int) -> Path:
    """Make a grid of n reviews from the records of real cells: new uids, longer texts, other words of the judge."""
    draw = random.Random(20_261_115)
    made, study = out / "results" / "large", grid.parents[1]
    texts = {line["case_trace"]["case_id"]: line["text"] for line in read_lines(grid / cells[0] / "traces.jsonl")}
    gold = {line["uid"]: line["gold_tuples"] for line in read_lines(grid / cells[0] / "scorecards.jsonl")}
    vocabulary = sorted({word for text in texts.values() for word in re.findall(r"\w+", text)})
    words = [" ".join(draw.choices(vocabulary, k=12)) for _ in range(n)]
    uids = [[*texts][place % len(texts)] for place in range(n)]
    reviews = [{"uid": f"{uid}-{place:05d}", "text": f"{texts[uid]} {words[place]}"} for place, uid in enumerate(uids)]
    write_lines(out / "valid.jsonl", reviews)
    write_lines(
        out / "gold.jsonl",
        [{"uid": review["uid"], "gold_tuples": gold[uid]} for review, uid in zip(reviews, uids, strict=True)],
    )
    (out / "small.yaml").write_bytes((study / "small.yaml").read_bytes())
    for cell in cells:
        folder = made / cell
        folder.mkdir(parents=True)
        manifest = json.loads((grid / cell / "manifest.json").read_text("utf-8"))
        manifest["dataset"] |= {"processing_count": n, "paths": {"valid": "valid.jsonl"}}
        manifest["cfg_canonical"]["data"]["input_format"] = "jsonl"
        manifest["gold"] |= {
            "path": "gold.jsonl",
            "sha256": hashlib.sha256((out / "gold.jsonl").read_bytes()).hexdigest(),
        }
        write_sealed(folder / "manifest.json", manifest)
        header, *records = (
            json.loads(line) for line in (grid / cell / "samples.jsonl").read_text("utf-8").splitlines()
        )
        by_uid = {record["uid"]: record for record in records}
        lines = [{key: value for key, value in header.items() if key != "sha256"}]
        for place, (review, uid) in enumerate(zip(reviews, uids, strict=True)):
            record = {key: value for key, value in by_uid[uid].items() if key != "sha256"}
            text = unicodedata.normalize("NFC", review["text"])
            record |= {"uid": review["uid"], "sample_index": place}
            record["input"] = record["input"] | {"sha256": hashlib.sha256(text.encode()).hexdigest()}
            record["analysis"] = copy.deepcopy(record["analysis"])
            if "debate" in record["analysis"]:
                record["analysis"]["debate"]["summary"]["rationale"] = words[place]
            lines.append(record)
        write_records(folder / "samples.jsonl", lines)
    return made


def read_lines(path: Path) -> list[Line]:
    """Read a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def write_lines(path: Path, lines: Sequence[Line] | Iterator[Line]) -> None:
    """Write a JSONL file."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


class PageParser(HTMLParser):
    """The parts of a page: elements with attributes, words by line, and the data in its scripts."""

    BLOCKS = frozenset(
        [
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "li",
            "tr",
            "dt",
            "dd",
            "div",
            "section",
            "figcaption",
            "caption",
            "summary",
            "option",
        ]
    )

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._ids: list[str | None] = []
        self._stack: list[str] = []
        self._words: list[str] = []
        self._quotes = 0
        self._quoted: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._stack.append(tag)
            self.scripts.append("")
            self._ids.append(dict(attrs).get("id"))
        self._quotes += tag == "q"
        if tag in self.BLOCKS:
            self._words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._quotes -= tag == "q"
        if tag in ("script", "style"):
            self._stack.pop()
        self._words.append("\n" if tag in self.BLOCKS else " ")

    def handle_data(self, data: str) -> None:
        if self._stack:
            self.scripts[-1] += data
        else:
            self._words.append(re.sub(r"\s+", " ", data))
            self._quoted += [data] if self._quotes else []

    @property
    def text(self) -> str:
        """The visible words; a table row is a line."""
        lines = "".join(self._words).split("\n")
        return "\n".join(line for line in (re.sub(r" +", " ", line).strip() for line in lines) if line)

    @property
    def own_words(self) -> str:
        """The visible words without quotations: advice of the catalogue is no claim of the report."""
        text = self.text
        for quotation in self._quoted:
            text = text.replace(re.sub(r"\s+", " ", quotation).strip(), "")
        return text

    def unpacked(self) -> list[Any]:
        """The data of the explorer: its index, then the details."""
        packed = zip(self._ids, self.scripts, strict=True)
        return [_unpacked(script) for name, script in packed if script.startswith("H4sI") and name != "files"]

    def files(self) -> dict[str, str]:
        """The files that the page's buttons save, by name."""
        saved: dict[str, str] = _unpacked(self.scripts[self._ids.index("files")])
        return saved


def _unpacked(script: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(script)))
