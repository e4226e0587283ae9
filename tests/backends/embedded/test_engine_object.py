"""One engine holds its weights and readings; nothing about it is shared by accident."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.backends.embedded.role_chain import table

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.model.trained_weights import SHIPPED, SHIPPED_WEIGHTS, TrainedWeights
from episodic_absa.backends.embedded.model.weighing import weigh
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.vocabulary import Language

ROWS = table("sentence_table.yaml") + table("second_table.yaml")


def stage1_answers(engine: EmbeddedEngine, text: str, language: Language) -> list[str]:
    answers = [
        engine.answer("ate", AteInputs(text=text, language=language)),
        engine.answer("atsa", AtsaInputs(text=text, language=language, aspects=None)),
        engine.answer("validator", ValidatorInputs(text=text, language=language, aspects=None, sentiments=None)),
    ]
    return [answer.model_dump_json() for answer in answers]


def test_threads_that_share_an_engine_get_the_answers_of_one_thread() -> None:
    expected = [stage1_answers(EmbeddedEngine(), row.text, row.language) for row in ROWS]
    shared = EmbeddedEngine(TrainedWeights(SHIPPED))
    with ThreadPoolExecutor(max_workers=4) as threads:
        orders = [ROWS, ROWS[::-1], ROWS, ROWS[::-1]]
        found = list(threads.map(lambda rows: [stage1_answers(shared, row.text, row.language) for row in rows], orders))
    assert found == [expected, expected[::-1], expected, expected[::-1]]


def test_engines_share_the_shipped_weights_and_keep_their_own_readings() -> None:
    first, second = EmbeddedEngine(), EmbeddedEngine()
    assert first.weights is second.weights is SHIPPED_WEIGHTS
    text = "The room was clean."
    assert first.read(text, "en") is first.read(text, "en")
    assert first.read(text, "en") is not second.read(text, "en")
    assert first.read(text, "en") == second.read(text, "en")


def test_engines_with_other_weights_stand_side_by_side(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "weights"))
    shipped, other = EmbeddedEngine(), EmbeddedEngine(TrainedWeights(folder))
    assert shipped.fingerprint == other.fingerprint, "equal files are equal weights"
    (folder / "notes.json").write_text("{}")
    assert EmbeddedEngine(TrainedWeights(folder)).fingerprint != shipped.fingerprint
    text = "직원이 친절하고 매장이 깨끗합니다"
    assert weigh(shipped.read(text, "ko")) == weigh(other.read(text, "ko"))
    assert shipped.weights.of("ko") is not other.weights.of("ko")
