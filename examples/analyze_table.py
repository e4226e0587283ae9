"""Analyses the reviews of a CSV file: prints what is praised and criticised most, writes one row per aspect.

python examples/analyze_table.py [REVIEWS.csv] [ASPECTS.csv]

No key, no network. `episodic-absa analyze REVIEWS.csv --summary page.html` shows the same as a page.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

from episodic_absa import AnalysisFailure, Analyzer

REVIEWS = Path(__file__).resolve().parents[1] / "experiments" / "data" / "valid.csv"

reviews = Path(sys.argv[1]) if len(sys.argv) > 1 else REVIEWS
aspects = Path(sys.argv[2] if len(sys.argv) > 2 else "aspects.csv")
with reviews.open(encoding="utf-8-sig", newline="") as lines:
    texts = [row["text"] for row in csv.DictReader(lines)]

counts: dict[str, Counter[str]] = {"positive": Counter(), "negative": Counter(), "neutral": Counter()}
with Analyzer() as analyzer, aspects.open("w", encoding="utf-8", newline="") as lines:
    table = csv.writer(lines)
    table.writerow(["review", "term", "polarity", "confidence"])
    for number, result in enumerate(analyzer.analyze_many(texts), start=1):
        if isinstance(result, AnalysisFailure):
            print(f"review {number}: {result.message}", file=sys.stderr)
            continue
        for aspect in result.aspects:
            table.writerow([number, aspect.term, aspect.polarity, f"{aspect.confidence:.2f}"])
            if aspect.term:
                counts[aspect.polarity][aspect.term] += 1

print(f"{len(texts)} reviews")
for polarity in ("positive", "negative"):
    commonest = ", ".join(f"{term} {count}" for term, count in counts[polarity].most_common(5))
    print(f"{polarity}: {commonest}")
print(aspects)
