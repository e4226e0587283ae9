"""All targets, and the inputs that each begins with."""

from pathlib import Path
from typing import Final

from tests.torture.fuzzing.answer_targets import ANSWER_TARGETS
from tests.torture.fuzzing.config_targets import CONFIG_TARGETS
from tests.torture.fuzzing.dataset_targets import DATASET_TARGETS
from tests.torture.fuzzing.memory_targets import MEMORY_TARGETS
from tests.torture.fuzzing.outcome import Target
from tests.torture.fuzzing.run_targets import RUN_TARGETS

CORPUS: Final = Path(__file__).parents[1] / "corpus"
TARGETS: Final[dict[str, Target]] = {
    target.name: target
    for target in (*DATASET_TARGETS, *CONFIG_TARGETS, *ANSWER_TARGETS, *MEMORY_TARGETS, *RUN_TARGETS)
}


def kept_inputs(target: Target) -> dict[str, bytes]:
    """Return the kept corpus of a target: file name -> input."""
    folder = CORPUS / target.name
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


def first_inputs(target: Target) -> list[bytes]:
    """Return what fuzzing a target begins with: the kept corpus, and valid inputs that are made anew."""
    return [*kept_inputs(target).values(), *target.seeds()]
