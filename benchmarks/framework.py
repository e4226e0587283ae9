"""Measures the cost of the framework per sample: the whole pipeline with a backend that answers at once.

python benchmarks/framework.py [--samples 2000]
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from episodic_absa.backends.backend import Answer, Ask, OutputT, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.conditions import load_condition
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.schemas.absa import Sample

LATEST = Path(__file__).with_name("latest.json")
REVIEWS = {
    "en": ("The battery lasts long, but the screen is too dark.", ("battery", "screen")),
    "ko": ("배터리는 오래 가지만 화면은 너무 어두워요.", ("배터리", "화면")),
}


def answers_for(terms: tuple[str, str]) -> dict[str, dict[str, Any]]:
    """Return one plausible answer per role."""
    first, second = terms
    edits = [
        {"op": "confirm_tuple", "target": {"aspect_ref": first}, "evidence": first, "confidence": 0.9},
        {"op": "set_polarity", "target": {"aspect_ref": second}, "value": "negative", "evidence": second},
    ]
    keeps = [{"aspect_term": term, "action": "keep", "reason": "fits the text"} for term in terms]
    risk = {"type": "CONTRAST_SCOPE", "severity": "mid", "description": "two clauses"}
    return {
        "ate": {"aspects": [{"aspect_term": term, "confidence": 0.9} for term in terms]},
        "atsa": {"sentiments": [{"aspect_term": term, "polarity": "positive", "evidence": term} for term in terms]},
        "validator": {"structural_risks": [risk], "consistency_score": 0.8, "suggested_label": "mixed"},
        "epm": {"proposed_edits": edits},
        "tan": {"proposed_edits": edits[:1]},
        "cj": {"proposed_edits": edits[1:]},
        "judge": {
            "final_patch": [{"op": "set_polarity", "target": {"aspect_ref": second}, "value": "negative"}],
            "final_tuples": [{"aspect_term": first, "polarity": "positive"}],
            "sentence_evidence_spans": [second],
            "aspect_evidence": {second: second},
        },
        "stage2_ate": {"reviews": keeps},
        "stage2_atsa": {"reviews": keeps},
        "stage2_validator": {"consistency_score": 0.9, "resolved_risk_ids": ["r1"], "final_consistency_score": 0.9},
    }


class InstantBackend(RemoteFacts):
    """Answers every role at once."""

    name = "instant"
    honours_seed = False

    def __init__(self, answers: dict[str, dict[str, Any]]) -> None:
        self._answers = answers

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Answer by role."""
        output = ask.output_model.model_validate(self._answers[ask.role])
        return Answer(output, Usage(100, 50, 0.0), 1, self.name)

    async def close(self) -> None:
        """Close nothing: there is no connection."""


async def cpu_ms(language: str, condition: str, samples: int, folder: Path) -> dict[str, Any]:
    """Measure CPU time per sample, in the first and the last tenth of the run."""
    text, terms = REVIEWS[language]
    supervisor = SupervisorAgent(InstantBackend(answers_for(terms)))
    with MemoryStore(folder / f"{language}_{condition}.jsonl") as store:
        memory = EpisodicOrchestrator(load_condition(condition), store)
        await supervisor.run(Sample(uid="warm", text=text), MemoryView(memory))
        marks = [time.process_time()]
        for index in range(samples):
            await supervisor.run(Sample(uid=f"s{index}", text=text), MemoryView(memory, sample_index=index))
            marks.append(time.process_time())
    tenth = max(1, samples // 10)
    return {
        "language": language,
        "condition": condition,
        "samples": samples,
        "cpu_ms_per_sample": round((marks[-1] - marks[0]) / samples * 1e3, 2),
        "last_tenth_over_first": round((marks[-1] - marks[-1 - tenth]) / (marks[tenth] - marks[0]), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Framework cost per sample without a model.")
    parser.add_argument("--samples", type=int, default=2000)
    samples = parser.parse_args().samples
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for language in REVIEWS:
            for condition in ("C1", "C2"):
                results.append(asyncio.run(cpu_ms(language, condition, samples, Path(folder))))
                print(json.dumps(results[-1]), flush=True)
    known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
    LATEST.write_text(json.dumps({**known, "framework": results}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
