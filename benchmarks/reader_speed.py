"""Measures the reader: reviews a second, the first answer, memory, and one very long review.

python benchmarks/reader_speed.py [--reviews 2000] [--threads 2]

Every figure comes from a process of its own. Other work on the machine makes all of them worse: the load is told.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from many_reviews import reviews

LATEST: Final = Path(__file__).with_name("latest.json")
LONG: Final = 20_000
FIRST: Final = {"en": "The room was clean.", "ko": "방이 깨끗해요."}
SENTENCES: Final = {
    "en": "The room was clean, but the staff at the front desk was rude and the breakfast was cold. ",
    "ko": "방은 깨끗했지만 직원이 불친절했고 아침 식사는 다 식어 있었어요. ",
}
PARTS: Final = ("many", "first_en", "first_ko", "memory", "long_en", "long_ko")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reviews", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--part", choices=PARTS, help="measure one figure in this process and print it")
    parser.add_argument("--keep", action="store_true", help="write no benchmarks/latest.json")
    given = parser.parse_args()
    if given.part:
        print(measure(given.part, given.reviews, given.threads))
        return
    figures: dict[str, Any] = {
        "reviews": given.reviews,
        "threads": given.threads,
        "cores": len(os.sched_getaffinity(0)),
        "other_load": round(os.getloadavg()[0], 2),
        "reviews_per_s": _apart("many", given),
        "first_answer_s": {language: _apart(f"first_{language}", given) for language in FIRST},
        "resident_mb_with_both_languages": _apart("memory", given),
        f"{LONG}_characters_s": {language: _apart(f"long_{language}", given) for language in FIRST},
    }
    print(json.dumps(figures, indent=2))
    if not given.keep:
        known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
        LATEST.write_text(json.dumps({**known, "reader_speed": figures}, indent=2, sort_keys=True) + "\n")


def measure(part: str, reviews_n: int, threads: int) -> float:
    """Return one figure, measured in this process."""
    started = time.perf_counter()
    from episodic_absa.reader.reader import Reader

    reader = Reader(threads=threads)
    what, _, language = part.partition("_")
    if what == "first":
        reader.read(FIRST[language])
        return round(time.perf_counter() - started, 2)
    for text in FIRST.values():
        reader.read(text)
    if what == "memory":
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    texts = reviews(reviews_n) if what == "many" else []
    long = (SENTENCES.get(language, "") * LONG)[:LONG]
    started = time.perf_counter()
    if what == "many":
        for _ in reader.read_many(texts):
            pass
        return round(reviews_n / (time.perf_counter() - started), 1)
    reader.read(long)
    return round(time.perf_counter() - started, 2)


def _apart(part: str, given: argparse.Namespace) -> float:
    command = [
        sys.executable,
        __file__,
        "--part",
        part,
        "--reviews",
        str(given.reviews),
        "--threads",
        str(given.threads),
    ]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
