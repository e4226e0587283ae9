"""Seed rules decide as version 0.1 did, on its recorded answers to five sentences of our own."""

import hashlib
import json
from pathlib import Path
from typing import Any

from episodic_absa import Analyzer
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts

RECORDING = Path(__file__).parent / "recordings" / "seed_rules.jsonl"
"""Made with version 0.1 before rules v3 existed: per sentence the embedded engine's answers and the line of outputs."""


class RecordedReplier(RemoteFacts):
    """Answers from the recording. A prompt that 0.1 did not send has no answer."""

    name = "recorded"

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        answers = [answer for line in lines for answer in line["answers"]]
        self._texts = {(answer["role"], answer["prompt"]): answer["text"] for answer in answers}

    async def reply(self, request: Request) -> Reply:
        ask = request.ask
        prompt = hashlib.sha256(f"{ask.prompt.system}\0{request.user_text}".encode()).hexdigest()
        return Reply(self._texts[ask.role, prompt], model=self.name)

    async def close(self) -> None:
        return None


def test_seed_rules_decide_byte_for_byte_as_version_0_1_did(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in RECORDING.read_text("utf-8").splitlines()]
    backend = RepairingBackend(RecordedReplier(lines))
    adopted = []
    with Analyzer(backend=backend, condition="C2", conditions="v1_3", store=tmp_path / "store.jsonl") as analyzer:
        for line in lines:
            result = analyzer.analyze(line["text"], uid=line["uid"])
            assert as_bytes(as_recorded(result.to_output(), line["output"])) == as_bytes(line["output"])
            adopted.append(result.adoption.adopt)
    assert {True, False} == set(adopted)


def as_recorded(output: Any, recorded: Any) -> Any:
    """Return the output without the keys that later versions added to its records."""
    if isinstance(output, dict) and isinstance(recorded, dict):
        return {key: as_recorded(value, recorded[key]) for key, value in output.items() if key in recorded}
    if isinstance(output, list) and isinstance(recorded, list) and len(output) == len(recorded):
        return [as_recorded(item, past) for item, past in zip(output, recorded, strict=True)]
    return output


def as_bytes(output: dict[str, Any]) -> bytes:
    return json.dumps(output, ensure_ascii=False, sort_keys=True).encode()
