"""Outages come and go in mid-run, in every arm: nothing is lost or paid twice, and the end is that of a calm run."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.torture.misbehaving_server import Chooser, MisbehavingServer, Prompt, no_fault
from tests.torture.served_grids import HonestModel, ServedGrid, honest_model, served_grid
from tests.torture.server_faults import ANSWER_FAULTS, TRANSPORT_FAULTS, Fault
from tests.torture.table import Row, Tally

from episodic_absa.errors import RunDirectoryError

ARMS = (
    *("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen", "C2_random", "C2_placebo", "C2_trial"),
    *("adaptive", "stage1_only", "one_call", "one_call_votes"),
)
_FEW_ARMS = ("C1", "C2", "C2_frozen", "C2_trial", "adaptive", "one_call_votes")
_MOST_RUNS = 12
_NONSENSE = 0.2
_SMALL = 0.2
"""Below this scale few samples are run, and half of the arms."""
_BY_NAME = {fault.name: fault for fault in TRANSPORT_FAULTS}
_OUTAGES = tuple(_BY_NAME[name] for name in ("503", "429", "hung up", "reset in the body", "page", "500"))


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per kind of outage."""
    samples, arms = ({"limit": 2}, _FEW_ARMS) if scale < _SMALL else ({"limit": 16}, ARMS)
    with TemporaryDirectory() as name:
        folder = Path(name)
        model = honest_model(folder / "offline", arms, data=samples)
        with MisbehavingServer(model) as server:
            calm = served_grid(folder / "calm", server.base_url, arms, data=samples)
            calm.run()
        whole = calm.exact_bytes()
        for kind in (_Storms, _ClosedPort, _Nonsense):
            tally = Tally(kind.name, f"{len(arms)} arms of {samples['limit']} samples and the build of their store")
            for round_n in range(max(1, round(kind.rounds * scale))):
                place = folder / f"{kind.__name__}{round_n}"
                chance = random.Random(f"{kind.name} {round_n}")
                kind(model, server.port, arms, chance).try_out(place, samples, whole, tally)
            yield tally.row()


class _Outage:
    """One kind of outage: what the server does in which run."""

    name = ""
    rounds = 6

    def __init__(self, model: HonestModel, port: int, arms: Sequence[str], chance: random.Random) -> None:
        # The address is part of the configuration, and so of what episodes hold of it.
        self.model, self.server, self.arms, self.chance = model, MisbehavingServer(model, port=port), arms, chance

    def begin_run(self, run_n: int) -> None:
        """Prepare the server for the next run."""
        raise NotImplementedError

    def try_out(self, folder: Path, samples: dict[str, int], whole: dict[str, bytes], tally: Tally) -> None:
        """Run a grid again and again until nothing fails, and count what became of it."""
        grid = served_grid(folder, self.server.base_url, self.arms, data=samples)
        run_n, failed_n, is_left = 0, 0, True
        while is_left and run_n < _MOST_RUNS:
            self.begin_run(run_n)
            is_left = self._run(grid)
            failed_n += grid.failed_n() if grid.out.exists() else 0
            run_n += 1
        answered = Counter(exchange.content for exchange in self.server.exchanges if exchange.fault is None)
        twice_n = sum(count - 1 for count in answered.values())
        missing = [name for name in whole if name not in grid.exact_bytes()]
        words = f"after {run_n} runs {twice_n} answers were paid twice"
        tally.count(lost=len(missing) + twice_n, differing=grid.exact_bytes() != whole, words=words)
        if is_left or not failed_n:
            tally.problem(f"{run_n} runs, {failed_n} failed samples: the outage did not do its work")
            tally.torn += 1

    def _run(self, grid: ServedGrid) -> bool:
        """Run what is left, and return whether samples failed or the run stopped."""
        try:
            with self.server:
                grid.run()
        except RunDirectoryError:  # too many failures, or the first ones all alike
            return True
        return grid.failed_n() > 0


class _Storms(_Outage):
    """For some requests in a row the server refuses everything, each time in another way."""

    name = "outages within a run"

    def begin_run(self, run_n: int) -> None:
        self.server.choose = no_fault if run_n >= _MOST_RUNS // 2 else self._storms()

    def _storms(self) -> Chooser:
        until_change, fault = self.chance.randint(10, 60), None

        def choose(_prompt: Prompt, _content: str, _try_n: int) -> Fault | None:
            nonlocal until_change, fault
            until_change -= 1
            if not until_change:
                fault = self.chance.choice(_OUTAGES) if fault is None else None
                until_change = self.chance.randint(20, 60)
            return fault

        return choose


class _ClosedPort(_Outage):
    """The port closes in mid-run; the next run begins while it is closed, a later one when it is open."""

    name = "the port closes, and a run begins without it"
    rounds = 4

    def begin_run(self, run_n: int) -> None:
        self.server.down_after = (self.chance.randint(20, 90), 1, self.chance.randint(20, 90), None)[min(run_n, 3)]


class _Nonsense(_Outage):
    """In the first run some prompts get nothing but unusable answers, which must not be kept for the second."""

    name = "a model that talks nonsense for a while"
    rounds = 3

    def begin_run(self, run_n: int) -> None:
        seed = self.chance.random()

        def choose(prompt: Prompt, _content: str, _try_n: int) -> Fault | None:
            fate = random.Random(f"{seed} {prompt.system} {prompt.first_user}")
            # Debate and Stage2 do without a speaker that cannot be understood; their samples do not fail.
            is_needed = self.model.role_of(prompt) in ("ate", "atsa", "joint")
            return fate.choice(ANSWER_FAULTS) if is_needed and fate.random() < _NONSENSE else None

        self.server.choose = no_fault if run_n else choose
