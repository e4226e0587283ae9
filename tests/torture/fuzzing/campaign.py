"""Fuzzes one target: by coverage where atheris is installed, else with hypothesis over the kept corpus."""

import functools
import importlib.metadata
import json
import os
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn

from tests.torture.fuzzing.mutation import mutated
from tests.torture.fuzzing.outcome import Finding, Target, examine
from tests.torture.fuzzing.targets import first_inputs

MAX_INPUT_BYTES: Final = 20_000
HANG_S: Final = 60
"""No input needs a hundredth of this; the machine may be busy."""
_FUZZER_FAILED: Final = 70
_MAX_MEGABYTES: Final = 4_096
_COVERED = re.compile(rb"(?:INITED|DONE|NEW|pulse|REDUCE)\s+cov: (\d+)")
_SHARE_OF_STRUCTURED: Final = 0.6


@dataclass(frozen=True)
class Campaign:
    """What fuzzing one target came to."""

    target: str
    engine: str
    inputs: int
    edges_before: int
    """Branches of the package that the first inputs reach; 0 where they are not counted."""
    edges: int
    findings: tuple[Finding, ...]


def engine() -> str:
    """Return what fuzzes here, in words."""
    name = "atheris" if find_spec("atheris") is not None else "hypothesis"
    version = importlib.metadata.version(name)
    return f"{name} {version}" if name == "atheris" else f"{name} {version} (atheris is not installed)"


class Examiner:
    """Gives inputs to a target one by one, and keeps the first input of every finding."""

    def __init__(self, target: Target, folder: Path, findings: Path) -> None:
        self._target = target
        self._folder = folder
        self.findings = findings
        self._known: set[tuple[str, str]] = set()
        self.inputs_n = 0

    @property
    def name(self) -> str:
        """The name of the target."""
        return self._target.name

    def __call__(self, data: bytes) -> None:
        """Examine one input; a finding is written down and does not end the campaign."""
        self.inputs_n += 1
        finding = examine(self._target, data, self._folder)
        if finding is None or (finding.kind, finding.place) in self._known:
            return
        self._known.add((finding.kind, finding.place))
        name = f"{self._target.name}-{len(self._known)}"
        (self.findings / f"{name}.input").write_bytes(data)
        (self.findings / f"{name}.json").write_text(json.dumps(finding._asdict()), "utf-8")


def _fast_folder() -> str | None:
    """Return a folder in memory if there is one: durable files are synced for every input."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - mkdtemp makes a private one in it


@functools.cache
def _prepare_hypothesis() -> None:
    """Draw some numbers: hypothesis then has read the constants of all modules, and the children need not."""
    from hypothesis import given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    @seeded(1)
    @settings(max_examples=5, database=None, deadline=None)
    @given(st.lists(st.integers(), min_size=50, max_size=50))
    def draw(_numbers: list[int]) -> None:
        pass

    draw()


def run_campaign(target: Target, inputs: int, seed: int, kept: Path) -> Campaign:
    """Fuzz a target in a child process and return what came out; a child that dies is a finding, too.

    Args:
        target: what reads the inputs.
        inputs: how many.
        seed: chooses them; the same ones again.
        kept: where inputs with findings are written.
    """
    first = first_inputs(target)
    if find_spec("atheris") is None:
        _prepare_hypothesis()
    log = kept / f"{target.name}.log"
    for old in kept.glob(f"{target.name}-*"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="fuzz_", dir=_fast_folder()) as place:
        child = os.fork()
        if child == 0:
            _become_fuzzer(target, inputs, seed, Path(place), kept, log, first)
        _, status = os.waitpid(child, 0)
    said = log.read_bytes()
    findings = [Finding(**json.loads(path.read_bytes())) for path in sorted(kept.glob(f"{target.name}-*.json"))]
    code = os.waitstatus_to_exitcode(status)
    if code:
        last_words = said[-1500:].decode("utf-8", "replace")
        findings.append(Finding(target.name, "crash", "", f"exit code {code}: {last_words}"))
    covered = [int(edges) for edges in _COVERED.findall(said)]
    counted = re.findall(rb"inputs: (\d+)", said) or re.findall(rb"stat::number_of_executed_units: (\d+)", said)
    inputs_n = int(counted[-1]) if counted else 0
    before, after = (covered[0], covered[-1]) if covered else (0, 0)
    return Campaign(target.name, engine(), inputs_n, before, after, tuple(findings))


def _become_fuzzer(
    target: Target, inputs: int, seed: int, place: Path, kept: Path, log: Path, first: Sequence[bytes]
) -> NoReturn:
    """Fuzz until the inputs are spent, then end this process, whatever happens."""
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        fuzz = _fuzz_by_coverage if find_spec("atheris") is not None else _fuzz_with_hypothesis
        folder, corpus = place / "folder", place / "corpus"
        folder.mkdir()
        corpus.mkdir()
        fuzz(Examiner(target, folder, kept), inputs, seed, corpus, first)
    except BaseException:  # noqa: BLE001 - the child must not go on as its parent
        traceback.print_exc()
        os._exit(_FUZZER_FAILED)
    os._exit(0)


def _fuzz_by_coverage(examiner: Examiner, inputs: int, seed: int, corpus: Path, first: Sequence[bytes]) -> None:
    import atheris

    for number, data in enumerate(first):
        (corpus / f"{number:03d}").write_bytes(data[:MAX_INPUT_BYTES])

    def structured(data: bytes, max_size: int, chosen: int) -> bytes:
        chance = random.Random(chosen)
        if chance.random() < _SHARE_OF_STRUCTURED:
            return mutated(data, chance, first)[:max_size]
        changed: bytes = atheris.Mutate(data, max_size)
        return changed

    options = [
        *(f"-runs={inputs}", f"-seed={seed}", f"-max_len={MAX_INPUT_BYTES}", f"-timeout={HANG_S}"),
        *(f"-rss_limit_mb={_MAX_MEGABYTES}", "-print_final_stats=1", "-len_control=0", "-reload=0"),
        *(f"-artifact_prefix={examiner.findings}/{examiner.name}-", str(corpus)),
    ]
    atheris.Setup([sys.argv[0], *options], examiner, custom_mutator=structured)
    atheris.Fuzz()  # ends the process


def _fuzz_with_hypothesis(examiner: Examiner, inputs: int, seed: int, _corpus: Path, first: Sequence[bytes]) -> None:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    begins = list(first) or [b""]

    @seeded(seed)
    @settings(max_examples=inputs, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(begins), st.randoms(use_true_random=False), st.integers(0, 6))
    def give(data: bytes, chance: random.Random, times: int) -> None:
        for _ in range(times):
            data = mutated(data, chance, begins)
        examiner(data[:MAX_INPUT_BYTES])

    give()
    sys.stdout.write(f"inputs: {examiner.inputs_n}\n")
    sys.stdout.flush()


def as_line(campaign: Campaign) -> str:
    """Return a campaign as one line of JSON."""
    return json.dumps({**asdict(campaign), "findings": [finding._asdict() for finding in campaign.findings]})
