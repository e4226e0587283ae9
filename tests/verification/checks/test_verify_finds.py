"""Each damage that can be done to a finished run makes `verify` fail and name the check that is about it."""

import contextlib
import json
import re
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.runs.sealed_files import change_records, write_sealed
from tests.stored_lines import entries_of, rewrite

from episodic_absa.analysis import derive_tables, load_run
from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import MemoryStore
from episodic_absa.runs.reading.cell_files import rebuild_sample_files
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.verification import verify
from episodic_absa.vocabulary import STAGE_OF_ROLE

C1, C2, SILENT, EVAL_ONLY = "C1__seed42", "C2__seed42", "C2_silent__seed42", "C2_eval_only__seed42"
BUILD, SEED_RULES = "build__seed42", "C2_seed_rules__seed42"
OUTPUTS, SCORECARDS, TRACES = "outputs.jsonl", "scorecards.jsonl", "traces.jsonl"
METRICS, TRIPTYCH, GROWTH = "structural_metrics.csv", "triptych.csv", "memory_growth.jsonl"
STORE, DECISIONS = "episodic_store.jsonl", "override_gate_debug.jsonl"
Line = dict[str, Any]


class Run:
    """A cell to be damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> list[Line]:
        lines = entries_of(self.path / name) if name == STORE else (self.path / name).read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    def write(self, name: str, lines: list[Line]) -> None:
        raw = [(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n").encode() for line in lines]
        if name == STORE:
            rewrite(self.path / name, [line.rstrip() for line in raw])
        else:
            (self.path / name).write_bytes(b"".join(raw))

    def edit(self, name: str, change: Callable[[Line], object], *, at: int = 0) -> None:
        """Change a line of a derived file or of the store."""
        lines = self.read(name)
        change(lines[at])
        self.write(name, lines)

    def edit_records(self, change: Callable[[list[Line]], object]) -> None:
        """Change the records, header first; seals fit and derived files follow, so that only the records are wrong."""
        change_records(self.path, change)
        with contextlib.suppress(RunDirectoryError):
            rebuild_sample_files(self.path)

    def edit_record(self, change: Callable[[Line], object], *, at: int = 0) -> None:
        self.edit_records(lambda lines: change(lines[at + 1]))

    @staticmethod
    def episodes(lines: list[Line]) -> list[Line]:
        """The lines of a store that are episodes."""
        return [line for line in lines if "episode_id" in line]

    def edit_manifest(self, change: Callable[[Line], object]) -> None:
        manifest = json.loads((self.path / "manifest.json").read_bytes())
        change(manifest)
        write_sealed(self.path / "manifest.json", manifest)

    def edit_analysis(self, change: Callable[[Line], object], *, at: int = 0) -> None:
        self.edit_record(lambda record: change(record["analysis"]), at=at)

    def edit_memory(self, change: Callable[[Line], object], *, at: int = 0) -> None:
        self.edit_record(lambda record: change(record["memory"]), at=at)

    @property
    def shown_at(self) -> int:
        """The first sample that memory was shown to."""
        cards = self.read(SCORECARDS)
        return next(place for place, card in enumerate(cards) if card["memory"]["prompt_injection_chars"])

    @property
    def retrieving_at(self) -> int:
        """The first sample that retrieved something."""
        cards = self.read(SCORECARDS)
        return next(place for place, card in enumerate(cards) if card["memory"]["retrieved_ids"])

    @property
    def text(self) -> str:
        """The text of the last sample whose text is long enough to leak."""
        return next(str(line["text"]) for line in reversed(self.read(TRACES)) if len(line["text"].split()) > 6)


def other_polarity(analysis: Line) -> None:
    one = analysis["final_tuples"][0]
    one["polarity"] = "negative" if one["polarity"] == "positive" else "positive"


def other_confidence(analysis: Line) -> None:
    analysis["final_tuples"][0]["confidence"] = 0.123


def contradict_pairs(run: Run) -> None:
    """Give a sample of rules v3 a label that is none of its pairs'."""

    def other_label(analysis: Line) -> None:
        polarities = {final_tuple["polarity"] for final_tuple in analysis["final_tuples"]}
        analysis["moderator"]["final_label"] = "negative" if "positive" in polarities else "positive"

    run.edit_analysis(other_label)


def other_term(analysis: Line) -> None:
    for item in (*analysis["stage1"]["atsa"]["sentiments"], *analysis["final_tuples"]):
        item["aspect_term"] = "zeppelin"


def swap_records(lines: list[Line]) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def change_one_byte_of_records(run: Run) -> None:
    path = run.path / SAMPLES
    path.write_bytes(path.read_bytes().replace(b'"language":"en"', b'"language":"ko"', 1))


def tear_records(run: Run) -> None:
    content = (run.path / SAMPLES).read_bytes()
    (run.path / SAMPLES).write_bytes(content[:-20])


def show_in_call(run: Run, stage: str) -> None:
    def change(record: Line) -> None:
        next(call for call in record["calls"] if STAGE_OF_ROLE[call["role"]] == stage)["slot_shown"] = True

    run.edit_record(change)


def retrieve_own(run: Run) -> None:
    trace = run.read(TRACES)[run.retrieving_at]
    lines, wanted = run.read(STORE), trace["memory"]["retrieved_ids"][0]
    next(line for line in lines if line.get("episode_id") == wanted)["provenance"]["source_id"] = trace["case_trace"][
        "case_id"
    ]
    run.write(STORE, lines)


def retrieve_future(run: Run) -> None:
    # A store that grew no further after the first retrieval still has a future: an episode nobody has stored yet.
    last = str(run.episodes(run.read(STORE))[-1]["episode_id"])
    later = f"{last.rstrip('0123456789')}{int(last[len(last.rstrip('0123456789')) :]) + 1:06d}"
    run.edit_memory(lambda memory: memory["retrieved_ids"].__setitem__(0, later), at=run.retrieving_at)


def mend(run: Run, name: str, row: str) -> None:
    """Write another number into a row of a table."""
    lines = (run.path / name).read_text("utf-8").splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if line.startswith(row))
    lines[place] = (
        re.sub(r"\b[0-9.]+\b", "0.123", lines[place], count=1) if name == METRICS else lines[place][:-2] + "\n"
    )
    (run.path / name).write_text("".join(lines), "utf-8")


def advise(run: Run, wording: str) -> None:
    def change(record: Line) -> None:
        record["bundle"]["retrieved"][0]["message"] = wording

    run.edit_record(change, at=run.shown_at)


def name_aspect(run: Run) -> None:
    term = next(
        aspect["aspect_term"]
        for aspect in run.read(TRACES)[run.shown_at]["case_trace"]["stage1_output"]["ate"]["aspects"]
        if len(aspect["aspect_term"]) > 1
    )
    advise(run, f"Look at {term} again.")


def leak_into_store(run: Run) -> None:
    """The leaked text is that of the sample which the episode is from."""
    lines = run.read(STORE)
    texts = {line["case_trace"]["case_id"]: line["text"] for line in run.read(TRACES)}
    own = next(line for line in run.episodes(lines) if line["provenance"]["source_id"] in texts)
    own["case_summary"]["symptom"] = texts[own["provenance"]["source_id"]]
    run.write(STORE, lines)


def leak_into_bundle(run: Run) -> None:
    text = run.read(TRACES)[run.shown_at]["text"]
    advise(run, text)


def descend(run: Run) -> None:
    lines = run.read(STORE)
    first, second, *_ = run.episodes(lines)
    first["episode_id"], second["episode_id"] = second["episode_id"], first["episode_id"]
    run.write(STORE, lines)


def drop_episode(run: Run) -> None:
    lines = run.read(STORE)
    lines.remove(run.episodes(lines)[-1])
    run.write(STORE, lines)


def limit_chars(run: Run) -> None:
    run.edit_manifest(
        lambda manifest: manifest["cfg_canonical"]["pipeline"].update(memory_prompt_injection_chars_cap=10)
    )


def show_to_nobody(record: Line) -> None:
    record["memory"].pop("injection_trigger_reasons")
    for call in record["calls"]:
        call.pop("slot_shown", None)


def let_only_judge_see(run: Run) -> None:
    run.edit_manifest(
        lambda manifest: manifest["cfg_canonical"]["pipeline"]["debate"].update(memory_visible_to=["judge"])
    )


def change_one_byte_of_store(run: Run) -> None:
    path = run.path / STORE
    *before, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(before) + last.replace(b'"language":"en"', b'"language":"ko"', 1))


def remove_store_line(run: Run, at: int) -> None:
    lines = (run.path / STORE).read_bytes().splitlines(keepends=True)
    del lines[at]
    (run.path / STORE).write_bytes(b"".join(lines))


def lose_verdict(run: Run) -> None:
    """A person's verdict is in no record: only the database beside the file tells that it is gone."""
    with MemoryStore(run.path / STORE) as store:
        store.append_verdict(VerdictV1_3(source_id="valid-0", verdict="wrong"))
    remove_store_line(run, -1)


def stored_at(run: Run) -> int:
    """The first sample that was stored."""
    return next(at for at, card in enumerate(run.read(SCORECARDS)) if card["store_decision"] == "stored")


def putting(edit: str, keys: list[str | int], /, *, at: str = "", **values: Any) -> Callable[[Run], object]:
    """Return a damage that puts other values below these keys of what `edit` changes; `at` names the sample."""
    return lambda run: _changed(run, edit, at, lambda line: reduce(getitem, keys, line).update(values))


def losing(edit: str, keys: list[str | int], /, name: str, *, at: str = "") -> Callable[[Run], object]:
    """Return a damage that loses a value."""
    return lambda run: _changed(run, edit, at, lambda line: reduce(getitem, keys, line).pop(name))


def _changed(run: Run, edit: str, at: str, change: Callable[[Any], object]) -> object:
    return getattr(run, edit)(change, **({"at": getattr(run, at)} if at else {}))


class Damage(NamedTuple):
    name: str
    cell: str
    do: Callable[[Run], object]
    found_by: str


DAMAGES = [
    Damage(
        "a tuple is another one in outputs",
        C2,
        lambda run: run.edit(OUTPUTS, lambda line: other_polarity(line["final_result"])),
        "derived_files",
    ),
    Damage(
        "a tuple is another one in traces",
        C2,
        lambda run: run.edit(TRACES, lambda line: other_polarity(line["case_trace"]["final_output"])),
        "derived_files",
    ),
    Damage(
        "usage in a scorecard leaves a call out",
        C2,
        lambda run: run.edit(SCORECARDS, lambda line: line["usage"].update(calls=9)),
        "derived_files",
    ),
    Damage(
        "gold in a scorecard was changed",
        C2,
        lambda run: run.edit(SCORECARDS, lambda line: line.update(gold_tuples=[])),
        "derived_files",
    ),
    Damage("a derived line is missing", C2, lambda run: run.write(TRACES, run.read(TRACES)[:-1]), "derived_files"),
    Damage(
        "an override decision is lost",
        SEED_RULES,
        lambda run: run.write(DECISIONS, run.read(DECISIONS)[1:]),
        "derived_files",
    ),
    Damage("a derived file is missing", C2, lambda run: (run.path / OUTPUTS).unlink(), "derived_files"),
    Damage("a tuple changed without adoption", C2, lambda run: run.edit_analysis(other_polarity), "selected_stage"),
    Damage(
        "a confidence differs from Stage1 without adoption",
        C2,
        lambda run: run.edit_analysis(other_confidence),
        "candidates_applied",
    ),
    Damage(
        "selected_stage contradicts adoption",
        C2,
        putting("edit_analysis", ["moderator"], selected_stage="stage2"),
        "selected_stage",
    ),
    Damage("a label contradicts its pairs under rules v3", C2, contradict_pairs, "label_agrees"),
    Damage("a final term does not stand in the text", C2, lambda run: run.edit_analysis(other_term), "terms_in_text"),
    Damage("two records are swapped", C2, lambda run: run.edit_records(swap_records), "samples_read"),
    Damage("a record is missing", C2, lambda run: run.edit_records(lambda lines: lines.pop()), "samples_read"),
    Damage(
        "a record stands twice", C2, lambda run: run.edit_records(lambda lines: lines.append(lines[-1])), "samples_read"
    ),
    Damage("a record holds nothing", C2, losing("edit_record", [], "analysis"), "samples_read"),
    Damage("a record was changed", C2, change_one_byte_of_records, "samples_read"),
    Damage("the records end within a line", C2, tear_records, "samples_read"),
    Damage("a record has an unknown key", C2, putting("edit_record", [], mood="good"), "samples_read"),
    Damage(
        "a sentiment says implicit and names a term",
        C2,
        putting("edit_analysis", ["stage1", "atsa", "sentiments", 0], is_implicit=True),
        "samples_read",
    ),
    Damage(
        "the records are of another configuration", C2, putting("edit_records", [0], cfg_hash="0" * 64), "samples_read"
    ),
    Damage("a sample lost its domain", C2, losing("edit_record", ["input"], "domain_id"), "samples"),
    Damage("a record names another text", C2, putting("edit_record", ["input"], sha256="0" * 64), "samples_read"),
    Damage(
        "the manifest has another data hash",
        C2,
        putting("edit_manifest", ["dataset", "sha256"], valid="0" * 64),
        "data_hashes",
    ),
    Damage(
        "the manifest has another gold hash", C2, putting("edit_manifest", ["gold"], sha256="0" * 64), "samples_read"
    ),
    Damage(
        "the manifest has another prompt hash",
        C2,
        putting("edit_manifest", ["prompt_versions"], **{"ate.v1": "0" * 64}),
        "resources",
    ),
    Damage(
        "the manifest has another lexicon hash", C2, putting("edit_manifest", [], lexicon_sha256="0" * 64), "resources"
    ),
    Damage(
        "the manifest has another catalogue hash",
        C2,
        putting("edit_manifest", [], catalogue_sha256="0" * 64),
        "resources",
    ),
    Damage(
        "the manifest has another setting than was run",
        C2,
        putting("edit_manifest", ["cfg_canonical", "pipeline"], override_profile="t2"),
        "cfg_hash",
    ),
    Damage(
        "the manifest has other flags than the condition",
        C2,
        putting("edit_manifest", ["conditions", "flags"], use_lexical=False),
        "resources",
    ),
    Damage("the manifest cannot be read", C2, lambda run: (run.path / "manifest.json").write_text("{"), "manifest"),
    Damage("the run is not completed", C2, putting("edit_manifest", [], completed=False), "completed"),
    Damage(
        "the manifest names another majority", C2, putting("edit_manifest", ["majority"], polarity="neutral"), "samples"
    ),
    Damage(
        "a metric was mended by hand", C2, lambda run: mend(run, METRICS, "tuple_f1_explicit,"), "tables_recomputed"
    ),
    Damage("a triptych row is of another run", C2, lambda run: mend(run, TRIPTYCH, '"valid'), "tables_recomputed"),
    Damage(
        "a window of the memory's growth is missing",
        C2,
        lambda run: (run.path / GROWTH).write_bytes(b""),
        "tables_recomputed",
    ),
    Damage(
        "a metrics table is cut short",
        C2,
        lambda run: (run.path / METRICS).write_text("metric,value\n"),
        "tables_recomputed",
    ),
    Damage(
        "C1 retrieved",
        C1,
        lambda run: run.edit_record(lambda record: record.setdefault("memory", {}).update(retrieval_calls=1)),
        "retrieval_calls",
    ),
    Damage("C2_silent did not retrieve", SILENT, losing("edit_memory", [], "retrieval_calls"), "retrieval_calls"),
    Damage(
        "a debate prompt of C2_silent held the slot", SILENT, lambda run: show_in_call(run, "debate"), "hidden_memory"
    ),
    Damage(
        "a Stage2 prompt of C2_eval_only held the slot",
        EVAL_ONLY,
        lambda run: show_in_call(run, "stage2"),
        "hidden_memory",
    ),
    Damage("a Stage1 prompt of C2 held the slot", C2, lambda run: show_in_call(run, "stage1"), "hidden_memory"),
    Damage(
        "C2_silent counts injected characters",
        SILENT,
        putting("edit_memory", [], prompt_injection_chars=7),
        "hidden_memory",
    ),
    Damage(
        "C2_eval_only counts characters injected into Stage2",
        EVAL_ONLY,
        putting("edit_memory", [], stage2_memory_prompt_injection_chars=7),
        "hidden_memory",
    ),
    Damage(
        "characters were shown to no call of the debate, and without a gate's reason",
        C2,
        lambda run: run.edit_record(show_to_nobody, at=run.shown_at),
        "shown_memory",
    ),
    Damage(
        "Stage2 counts characters of a slot that it was not given, without a gate's reason",
        C2,
        lambda run: run.edit_memory(
            lambda memory: (
                memory.pop("stage2_memory_injected", None),
                memory.pop("stage2_memory_gate_reasons", None),
                memory.update(stage2_memory_prompt_injection_chars=7),
            ),
            at=run.shown_at,
        ),
        "shown_memory",
    ),
    Damage("more characters were shown than the cap allows", C2, limit_chars, "shown_memory"),
    Damage("a call saw the slot that may not", C2, let_only_judge_see, "shown_memory"),
    Damage(
        "memory was shown without a gate's reason",
        C2,
        losing("edit_memory", [], "injection_trigger_reasons", at="shown_at"),
        "shown_memory",
    ),
    Damage(
        "the record denies that a prompt held memory",
        C2,
        losing("edit_memory", [], "prompt_injection_chars", at="shown_at"),
        "shown_memory",
    ),
    Damage("an advisory names a polarity", C2, lambda run: advise(run, "The last one was negative."), "messages"),
    Damage("an advisory names a polarity in Korean", C2, lambda run: advise(run, "지난번에는 긍정이었다."), "messages"),
    Damage("an advisory names an aspect of the sample", C2, name_aspect, "messages"),
    Damage("an advisory quotes the review", C2, leak_into_bundle, "private_text"),
    Damage(
        "the bundle says that memory was off",
        C2,
        putting("edit_record", ["bundle"], memory_on=False),
        "bundle_matches_flags",
    ),
    Damage("a retrieved episode was stored later", C2, retrieve_future, "retrieved_is_past"),
    Damage(
        "a retrieved episode is in no store",
        EVAL_ONLY,
        lambda run: run.edit_memory(
            lambda memory: memory["retrieved_ids"].__setitem__(0, "epi_999999"), at=run.retrieving_at
        ),
        "retrieved_is_past",
    ),
    Damage("a sample retrieved its own episode", C2, retrieve_own, "retrieved_is_past"),
    Damage(
        "a store line is edited",
        C2,
        lambda run: run.edit(STORE, lambda line: line.update(risk_type=None, error_category=["irony"])),
        "store_follows",
    ),
    Damage("one byte of the last store line is another", C2, change_one_byte_of_store, "store_follows"),
    Damage(
        "a store line is no episode",
        C2,
        lambda run: run.edit(STORE, lambda line: line.pop("evaluation")),
        "store_lines",
    ),
    Damage(
        "a store line holds free words",
        C2,
        lambda run: run.edit(STORE, lambda line: line["case_summary"].update(symptom="the usual")),
        "store_lines",
    ),
    Damage(
        "a store line has a forbidden key",
        C2,
        lambda run: run.edit(STORE, lambda line: line["case_summary"].update(raw_text="")),
        "store_lines",
    ),
    Damage("the first line of the store is missing", C2, lambda run: remove_store_line(run, 0), "store_follows"),
    Damage("a line in the middle of the store is missing", C2, lambda run: remove_store_line(run, 2), "store_follows"),
    Damage("a verdict is missing", C2, lose_verdict, "store_lines"),
    Damage("a store line quotes its review", BUILD, leak_into_store, "store_text"),
    Damage("store ids descend", C2, descend, "store_follows"),
    Damage("a stored episode is missing", BUILD, drop_episode, "store_follows"),
    Damage(
        "a sample denies that it stored",
        BUILD,
        lambda run: run.edit_analysis(
            lambda analysis: analysis["kept"].update(store_decision="skipped"), at=stored_at(run)
        ),
        "stored_episodes",
    ),
    Damage(
        "a sample stored the episode of another one",
        BUILD,
        lambda run: run.edit_analysis(
            lambda analysis: analysis["kept"]["episode"]["provenance"].update(source_id="other"), at=stored_at(run)
        ),
        "stored_episodes",
    ),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=[damage.name for damage in DAMAGES])
def test_verify_names_what_is_wrong_when(damage: Damage, grid: Path) -> None:
    run = Run(grid / damage.cell)
    text = run.text
    damage.do(run)
    verified = verify(run.path)
    failed = {result.check: result for _, result in verified.failures}
    assert damage.found_by in failed
    assert failed[damage.found_by].count > 0
    told = (run.path / "integrity.json").read_text("utf-8")
    assert damage.found_by in told
    assert text not in told


@pytest.mark.parametrize("cell", [C1, SILENT, EVAL_ONLY])
def test_conditions_that_never_show_memory_must_agree(cell: str, grid: Path) -> None:
    Run(grid / cell).edit_analysis(other_polarity)
    derive_tables(load_run(grid))
    verified = verify(grid)
    assert {result.check for name, result in verified.failures if name == "grid"} == {"never_shown_agree"}
    assert "never_shown_agree" in (grid / "integrity.json").read_text("utf-8")


def test_conditions_need_not_agree_where_answers_were_not_shared(grid: Path) -> None:
    Run(grid / C1).edit_analysis(other_polarity)
    for cell in (C1, SILENT, EVAL_ONLY):
        Run(grid / cell).edit_manifest(lambda manifest: manifest.update(answers_shared=False))
    (found,) = [result for result in verify(grid).grid if result.check == "never_shown_agree"]
    assert found.result == "not_applicable"


def test_a_condition_that_shows_memory_may_differ(grid: Path) -> None:
    Run(grid / C2).edit_analysis(other_polarity)
    derive_tables(load_run(grid))
    assert not [result for name, result in verify(grid).failures if name == "grid"]


def test_a_grid_table_that_was_mended_by_hand_is_found(grid: Path) -> None:
    table = grid / "grid_metrics.csv"
    table.write_text(table.read_text("utf-8").replace("0.", "0.9", 1), "utf-8")
    assert ("grid", "tables_recomputed") in {(name, result.check) for name, result in verify(grid).failures}


@pytest.mark.parametrize(
    ("was", "becomes"), [(",none,", ",significant,"), ("C2,C1,tuple_f1_explicit,", "C2,C1,other,")]
)
def test_a_comparison_that_was_mended_by_hand_is_found(grid: Path, was: str, becomes: str) -> None:
    table = grid / "comparisons.csv"
    text = table.read_text("utf-8")
    assert was in text
    table.write_text(text.replace(was, becomes, 1), "utf-8")
    assert [(name, result.check) for name, result in verify(grid).failures] == [("grid", "tables_recomputed")]


@pytest.mark.parametrize("name", ["grid_metrics.csv", "comparisons.csv", f"{C2}/{TRIPTYCH}", f"{BUILD}/{GROWTH}"])
def test_one_missing_table_of_a_finished_grid_is_missed(grid: Path, name: str) -> None:
    (grid / name).unlink()
    failures = {(cell, result.check): result.detail for cell, result in verify(grid).failures}
    assert failures.pop(("grid", "tables_recomputed")).startswith(f"{name} is missing")
    if "/" in name:
        cell, file = name.split("/")
        assert failures.pop((cell, "tables_recomputed")).startswith(f"{file} is missing")
    assert failures == {}


def test_a_grid_without_any_table_misses_none(grid: Path) -> None:
    for path in (*grid.glob("*.csv"), *grid.glob("*/*.csv"), *grid.glob(f"*/{GROWTH}")):
        path.unlink()
    verified = verify(grid)
    assert verified.failures == ()
    assert {result.check: result.result for result in verified.grid}["tables_recomputed"] == "not_applicable"


def test_tables_that_nobody_derived_are_not_missed(grid: Path) -> None:
    for name in (METRICS, TRIPTYCH, GROWTH):
        (grid / C2 / name).unlink()
    verified = verify(grid / C2)
    results = {result.check: result.result for result in verified.cells[C2]}
    assert verified.failures == ()
    assert results["tables_recomputed"] == "not_applicable"


def test_a_store_that_is_not_the_seed_s_build_is_found(grid: Path) -> None:
    Run(grid / BUILD).edit(STORE, lambda line: line.update(risk_type=None))
    failed = {(name, result.check) for name, result in verify(grid).failures}
    assert ("grid", "build_stores") in failed


def test_a_cell_without_a_manifest_fails_the_grid(grid: Path) -> None:
    (grid / C2 / "manifest.json").unlink()
    assert (C2, "manifest") in {(name, result.check) for name, result in verify(grid).failures}


def test_changed_data_are_found(grid: Path) -> None:
    with open(grid.parents[1] / "data" / "valid.csv", "a", encoding="utf-8") as file:
        file.write("late,A late review.,en,unknown,unknown\n")
    failed = {result.check for _, result in verify(grid / C2).failures}
    assert "data_hashes" in failed
