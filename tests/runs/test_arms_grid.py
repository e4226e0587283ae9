"""Every arm of advice beside C2 in one grid of the embedded engine: one run, looked at from many sides."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.runs.sealed_files import change_records
from tests.runs.small_grid import exact_bytes, outputs_of, write_experiment
from tests.runs.test_effort_grid import run

from episodic_absa import Analyzer, MemoryStore
from episodic_absa.backends.backend import Request
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.conditions import load_conditions
from episodic_absa.errors import ConfigError
from episodic_absa.language import find_polarity_word
from episodic_absa.memory.advice.chance import coin_value
from episodic_absa.runs.config import ExperimentData, cell_named, load_experiment, require_stores, start_stores
from episodic_absa.runs.config.cfg_hash import cfg_hash
from episodic_absa.runs.derived.derived_samples import TRACES
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.schemas.run_files.case_trace import TraceLine
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.verification import check_experiment, verify
from episodic_absa.verification.checks.arm_checks import check_arm_promises

SAMPLES_N = 9
CONSTANT = "P-STB-01"
RETIRED = ("P-CON-04", "P-NEG-04", "P-STB-01")
ARMS: dict[str, dict[str, Any]] = {
    "C2_donor": {"from": "donor", "store": "donor.jsonl"},
    "C2_constant": {"from": "constant", "principle": CONSTANT},
    "C2_retired": {"catalogue": "retired.json", "topk": 2},
}
CONDITIONS = ("C1", "C2", "C2_random", "C2_placebo", "C2_trial", *ARMS)
REVIEWS = {
    "en": ("The bed was not soft, but the view was great.", "The soup was cold and the waiter was not friendly."),
    "ko": (
        "방은 깨끗하지만 조식은 별로였어요.",
        "배송은 빠르지 않았지만 포장은 좋아요.",
        "화면은 밝은데 좁아요.",
    ),
}


class ArmsGrid(NamedTuple):
    """A finished grid, and the requests that it sent."""

    out: Path
    path: Path
    sent: list[Request]
    in_sequence: Path
    """The same experiment with one request at a time."""

    def traces(self, condition: str) -> dict[str, TraceLine]:
        """Return the traces of a cell by uid."""
        lines = (self.out / f"{condition}__seed42" / TRACES).read_text("utf-8").splitlines()
        traces = [TraceLine.model_validate_json(line) for line in lines]
        return {trace.case_trace.case_id: trace for trace in traces}

    def finals(self, condition: str) -> list[Any]:
        """Return the final tuples of a cell."""
        return [output["final_result"]["final_tuples"] for output in outputs_of(self.out / f"{condition}__seed42")]


def write_store(path: Path, *, begin: int) -> None:
    with Analyzer(condition="C2_silent", store=path) as analyzer:
        for language, reviews in REVIEWS.items():
            for number, review in enumerate(reviews[begin:]):
                analyzer.analyze(review, uid=f"{path.stem}-{language}-{number}", language_code=language)
    add_outcomes(path)


def add_outcomes(path: Path) -> None:
    """Add changes that were confirmed or stayed open. None is contradicted: a warning would take advice away."""
    with MemoryStore(path) as store:
        for number, (episode, value) in enumerate(product(list(store.load()), ("success", "neutral"))):
            changes = [{"adopted": True, "kind": kind} for kind in ("flip", "drop")]
            body = episode.model_dump(mode="json") | {"changes": changes, "outcome": {"by": "reader", "value": value}}
            store.append(body | {"provenance": body["provenance"] | {"source_id": f"{path.stem}-more-{number}"}})


def write_grid(folder: Path, out: str = "results", **experiment: Any) -> Path:
    document = yaml.safe_load(load_conditions("v3_0").path.read_text("utf-8"))
    for name, advice in ARMS.items():
        document["conditions"][name] = {**document["conditions"]["C2"], "advice": advice}
    (folder / "arms.yaml").write_text(yaml.safe_dump(document), "utf-8")
    (folder / "retired.json").write_text(json.dumps({"retired": RETIRED}), "utf-8")
    return write_experiment(
        folder,
        out=out,
        episodic_memory={"conditions_path": "arms.yaml", "build": None, "initial_store": "initial.jsonl"},
        experiment={"conditions": list(CONDITIONS), "seeds": [42], **experiment},
        data={"limit": SAMPLES_N, "train_file": None},
    )


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> ArmsGrid:
    folder = tmp_path_factory.mktemp("arms")
    write_store(folder / "donor.jsonl", begin=1)
    write_store(folder / "initial.jsonl", begin=0)
    with closing(ResponseCache.in_memory()) as cache:
        path = write_grid(folder, "in_sequence", concurrency=1, conditions=["C2_random", "C2_trial"])
        run(path, cache)
        in_sequence = load_experiment(path).out_dir
        path = write_grid(folder, speculate=True)
        sent = run(path, cache)
    return ArmsGrid(load_experiment(path).out_dir, path, sent, in_sequence)


def test_a_grid_of_arms_verifies_and_every_arm_keeps_its_promise(grid: ArmsGrid) -> None:
    verified = verify(grid.out)
    assert verified.failures == ()
    promises = {
        name.partition("__")[0]: result.result
        for name, results in verified.cells.items()
        for result in results
        if result.check == "arm_promises"
    }
    plain = dict.fromkeys(("C1", "C2"), "not_applicable")
    assert promises == dict.fromkeys(CONDITIONS, "pass") | plain


def test_a_placebo_is_as_long_as_retrieved_advice_and_changes_nothing_for_the_embedded_engine(grid: ArmsGrid) -> None:
    retrieved = grid.traces("C2")
    shown_n = 0
    for uid, trace in grid.traces("C2_placebo").items():
        memory = trace.memory
        bundle = trace.case_trace.memory_bundle
        assert abs(memory.offered_chars - memory.matched_chars) <= memory.matched_chars / 10
        assert len(bundle.retrieved) == memory.retrieved_k - memory.repeated_advisory_n - memory.opposed_advisory_n
        assert not any(find_polarity_word(advisory.message) for advisory in bundle.retrieved)
        # Where both arms retrieved the same, their whole slots are of one length, too.
        if memory.retrieved_ids == retrieved[uid].memory.retrieved_ids:
            assert memory.matched_chars == retrieved[uid].memory.offered_chars
            in_prompt = retrieved[uid].memory.prompt_injection_chars
            assert abs(memory.prompt_injection_chars - in_prompt) <= in_prompt / 10
            shown_n += in_prompt > 0
    assert shown_n > 3
    assert grid.finals("C2_placebo") == grid.finals("C1")


def test_random_episodes_are_of_the_language_and_never_what_retrieval_chose(grid: ArmsGrid) -> None:
    with MemoryStore(grid.out / "C2_random__seed42" / "episodic_store.jsonl") as store:
        stored = {episode.episode_id: episode for episode in store.load()}
    traces = grid.traces("C2_random")
    assert any(trace.memory.advised_ids for trace in traces.values())
    for trace in traces.values():
        memory = trace.memory
        assert set(memory.advised_ids).isdisjoint(memory.retrieved_ids)
        languages = {stored[episode_id].input_signature.language for episode_id in memory.advised_ids}
        assert languages <= {trace.case_trace.input_signature.language}


def test_donor_constant_and_retired_offer_what_they_name(grid: ArmsGrid) -> None:
    with MemoryStore(grid.path.parent / "donor.jsonl") as donor:
        known = {episode.episode_id for episode in donor.load()}
    donated = [trace.memory.advised_ids for trace in grid.traces("C2_donor").values()]
    assert any(donated)
    assert known.issuperset(episode_id for ids in donated for episode_id in ids)
    assert {trace.memory.offered_principles for trace in grid.traces("C2_constant").values()} == {(CONSTANT,)}
    retired = [trace.memory for trace in grid.traces("C2_retired").values()]
    assert not any(set(memory.offered_principles) & set(RETIRED) for memory in retired)
    assert max(memory.retrieved_k for memory in retired) == 2


def test_the_coins_of_a_trial_are_recorded_and_leave_out_only_their_principle(grid: ArmsGrid) -> None:
    tossed = Counter[bool]()
    for uid, trace in grid.traces("C2_trial").items():
        memory = trace.memory
        for coin in memory.coins:
            assert coin.withheld == (coin_value(uid, coin.principle_id) < 0.5)
            assert (coin.principle_id in memory.offered_principles) is not coin.withheld
            tossed[coin.withheld] += 1
        ids = [advisory.advisory_id for advisory in trace.case_trace.memory_bundle.retrieved]
        assert ids == [f"adv_{rank:06d}" for rank in range(1, len(ids) + 1)]
    assert min(tossed[True], tossed[False]) > 1


def test_arms_share_every_equal_answer(grid: ArmsGrid) -> None:
    asked = Counter((request.ask.prompt, request.ask.seed, request.ask.temperature) for request in grid.sent)
    assert set(asked.values()) == {1}
    asked_n = sum(len(trace.calls) for condition in CONDITIONS for trace in grid.traces(condition).values())
    # Stage1 is asked once for all arms, and so is the debate of a sample whose advice is all withheld.
    assert len(grid.sent) < asked_n * 0.6


def test_draws_and_coins_do_not_depend_on_how_many_samples_run_at_once(grid: ArmsGrid) -> None:
    in_sequence, at_once = exact_bytes(grid.in_sequence), exact_bytes(grid.out)
    assert {path: at_once[path] for path in in_sequence} == in_sequence


def test_the_manifest_and_the_hash_of_a_cell_cover_what_the_overlay_names(grid: ArmsGrid, tmp_path: Path) -> None:
    manifests = {
        condition: Manifest.model_validate_json((grid.out / f"{condition}__seed42" / MANIFEST).read_bytes())
        for condition in CONDITIONS
    }
    assert manifests["C2_retired"].episodic_memory.retired_principles == RETIRED
    assert manifests["C2_retired"].episodic_memory.topk == 2
    assert manifests["C2_placebo"].episodic_memory.placebo_sha256
    assert manifests["C2_donor"].condition.advice.store == Path("donor.jsonl")
    shutil.copytree(grid.path.parent, tmp_path / "copy", ignore=shutil.ignore_patterns("results", "in_sequence"))
    config = load_experiment(tmp_path / "copy" / grid.path.name)
    data = ExperimentData(config)
    for condition, file in (("C2_donor", "donor.jsonl"), ("C2_retired", "retired.json")):
        cell = cell_named(config, f"{condition}__seed42")
        before = cfg_hash(config, cell, data.hashes, None)
        named = config.root / file
        named.write_bytes(named.read_bytes() + b"\n")
        assert cfg_hash(config, cell, data.hashes, None) != before


def test_what_an_arm_names_is_checked_before_the_run(grid: ArmsGrid, tmp_path: Path) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(grid.path.parent, copied, ignore=shutil.ignore_patterns("results", "in_sequence"))
    said = {line.check: line for line in check_experiment(copied / grid.path.name).lines}
    assert said["donor_store"].level == "ok"
    (copied / "donor.jsonl").unlink()
    preflight = check_experiment(copied / grid.path.name)
    assert {line.check for line in preflight.lines if line.level == "error"} == {"stores", "donor_store"}
    written = ARMS["C2_donor"] | {"store": "results/grid/C2__seed42/episodic_store.jsonl"}
    conditions = yaml.safe_load((copied / "arms.yaml").read_text("utf-8"))
    conditions["conditions"]["C2_donor"]["advice"] = written
    (copied / "arms.yaml").write_text(yaml.safe_dump(conditions), "utf-8")
    (copied / "results/grid/C2__seed42").mkdir(parents=True)
    (copied / "results/grid/C2__seed42/episodic_store.jsonl").touch()
    config = load_experiment(copied / grid.path.name)
    with pytest.raises(ConfigError, match=r"C2_donor: advice.store is a store of this run"):
        require_stores(config, start_stores(config))


def _says_something(record: dict[str, Any]) -> None:
    advisory = record["bundle"]["retrieved"][0]
    advisory["message"] = "x" * len(advisory["message"])


def _is_short(record: dict[str, Any]) -> None:
    record["memory"]["matched_chars"] *= 2


def _draws_otherwise(record: dict[str, Any]) -> None:
    record["memory"]["advised_ids"] = ["epi_000099"]


def _draws_retrieved(record: dict[str, Any]) -> None:
    record["memory"]["advised_ids"] = record["memory"]["retrieved_ids"]


def _turns_a_coin(record: dict[str, Any]) -> None:
    coin = record["memory"]["coins"][0]
    coin["withheld"] = not coin["withheld"]


def _loses_coins(record: dict[str, Any]) -> None:
    del record["memory"]["coins"]


def _offers(principle_id: str) -> Callable[[dict[str, Any]], None]:
    def offer(record: dict[str, Any]) -> None:
        for advisory in record["bundle"]["retrieved"]:
            advisory["evidence"]["principle_id"] = principle_id

    return offer


@pytest.mark.parametrize(
    ("condition", "damage", "named"),
    [
        ("C2_placebo", _says_something, "the placebo says something"),
        ("C2_placebo", _is_short, "are due within 10 %"),
        ("C2_random", _draws_otherwise, "not those that its uid draws"),
        ("C2_random", _draws_retrieved, "not those that its uid draws"),
        ("C2_trial", _turns_a_coin, "a coin is not the one"),
        ("C2_trial", _loses_coins, "without a coin that keeps it"),
        ("C2_trial", _draws_otherwise, "other episodes than those retrieved"),
        ("C2_donor", _draws_otherwise, "the donor's store does not hold"),
        ("C2_constant", _offers("P-NEG-01"), f"something else than {CONSTANT}"),
        ("C2_retired", _offers(RETIRED[0]), f"{RETIRED[0]} was offered, though it is retired"),
    ],
)
def test_verify_finds_a_broken_promise(
    grid: ArmsGrid, tmp_path: Path, condition: str, damage: Callable[[dict[str, Any]], None], named: str
) -> None:
    cell = grid.out / f"{condition}__seed42"
    # Beside the grid, so that the donor's store is found from there.
    copied = grid.out / f"{condition}__{tmp_path.name}"
    shutil.copytree(cell, copied)
    damaged: dict[str, Any] = {}

    def change(lines: list[dict[str, Any]]) -> None:
        advised = (line for line in lines[1:] if line["bundle"]["retrieved"] and line["memory"].get("retrieved_ids"))
        damaged.update(next(advised))
        damage(next(line for line in lines[1:] if line["uid"] == damaged["uid"]))

    try:
        change_records(copied, change)
        findings = [finding for finding in check_arm_promises(CellFiles(copied)) if finding]
    finally:
        shutil.rmtree(copied)
    assert len(findings) == 1
    assert findings[0].startswith(damaged["uid"])
    assert named in findings[0]
