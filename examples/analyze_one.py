"""Analyses one review: prints its aspects with their polarities, and its label. No key, no network."""

import sys

from episodic_absa import analyze

text = sys.argv[1] if len(sys.argv) > 1 else "서비스는 친절했지만 음식은 별로였어"
result = analyze(text)
for pair in result.final_result.final_tuples:
    print(pair.aspect_term or "(implicit)", pair.polarity, f"{pair.confidence:.2f}", sep="\t")
print("label", result.final_result.label, f"{result.final_result.confidence:.2f}", sep="\t")
