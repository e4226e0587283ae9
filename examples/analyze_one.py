"""One review in; its aspects, their polarities and the label out. No key, no network."""

import sys

from episodic_absa import analyze

text = sys.argv[1] if len(sys.argv) > 1 else "서비스는 친절했지만 음식은 별로였어"
result = analyze(text)
for item in result.final_result.final_tuples:
    print(item.aspect_term or "(implicit)", item.polarity, f"{item.confidence:.2f}", sep="\t")
print("label", result.final_result.label, f"{result.final_result.confidence:.2f}", sep="\t")
