"""`check` says before a run what would be wrong with it; what is a warning in a trial is an error in a paper."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.stored_lines import entries_of

from episodic_absa import run_experiment
from episodic_absa.errors import ConfigError, DatasetError
from episodic_absa.memory import MemoryStore
from episodic_absa.verification.preflight import Preflight, check_experiment

MakeConfig = Callable[..., Path]
PAPER = {"run_purpose": "paper"}


@pytest.fixture
def make_config(tmp_path: Path) -> MakeConfig:
    """Write three training and two evaluated reviews with gold, and a config that differs as told."""
    (tmp_path / "data").mkdir()
    write_reviews(tmp_path, "train", ["Fine room.", "The soup was cold.", "Nothing to add."])
    write_reviews(tmp_path, "valid", ["The bed creaks.", "Quick delivery."])
    write_gold(tmp_path, [{"polarity": "negative", "aspect_term": "bed"}], [])

    def make(**changes: dict[str, Any] | str) -> Path:
        config: dict[str, Any] = {
            "run_id": "trial",
            "data": {"allowed_roots": ["."], "train_file": "data/train.csv", "valid_file": "data/valid.csv"},
            "eval": {"gold_jsonl": "data/gold.jsonl"},
            "episodic_memory": {"build": {"split": "train", "condition": "C2_silent"}},
            "experiment": {"conditions": ["C1", "C2"], "seeds": [1]},
        }
        for key, change in changes.items():
            config[key] = {**config.get(key, {}), **change} if isinstance(change, dict) else change
        path = tmp_path / "trial.yaml"
        path.write_text(yaml.safe_dump(config), "utf-8")
        return path

    return make


def write_reviews(folder: Path, split: str, texts: list[str]) -> None:
    rows = [f"{split}-{number},{text}" for number, text in enumerate(texts)]
    (folder / "data" / f"{split}.csv").write_text("\n".join(["uid,text", *rows]) + "\n", "utf-8")


def write_gold(folder: Path, *tuples: list[dict[str, str]], uid: str = "valid-{}") -> None:
    lines = [
        json.dumps({"uid": uid.format(number), "gold_tuples": gold_tuples}) for number, gold_tuples in enumerate(tuples)
    ]
    (folder / "data" / "gold.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def level_of(found: Preflight, check: str) -> str:
    return next(line.level for line in found.lines if line.check == check)


def message_of(found: Preflight, check: str) -> str:
    return next(line.message for line in found.lines if line.check == check)


def test_two_reviews_get_a_word(make_config: MakeConfig, tmp_path: Path) -> None:
    found = check_experiment(make_config())
    assert level_of(found, "reviews") == "warning"
    assert message_of(found, "reviews").startswith("Only 2 reviews: figures of fewer than 30 describe these reviews")
    write_reviews(tmp_path, "valid", [f"Bed {number}." for number in range(30)])
    assert "reviews" not in {line.check for line in check_experiment(make_config()).lines}


def test_gold_that_is_shifted_by_one_text_is_refused_by_check_and_by_run(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    nouns = [f"part{number}" for number in range(24)]
    write_reviews(tmp_path, "valid", [f"The {noun} is fine." for noun in nouns])
    write_gold(tmp_path, *([{"aspect_term": noun, "polarity": "positive"}] for noun in nouns))
    assert not check_experiment(make_config()).has_errors
    shifted = [*nouns[1:], nouns[0]]
    write_gold(tmp_path, *([{"aspect_term": noun, "polarity": "positive"}] for noun in shifted))
    path = make_config()
    assert level_of(check_experiment(path), "gold_terms") == "error"
    with pytest.raises(DatasetError, match=r"24 of 24 gold terms are not in their text, first in 'valid-0'"):
        run_experiment(path, use_cache_file=False)
    assert not (tmp_path / "results").exists()


def test_one_gold_file_may_serve_two_splits(make_config: MakeConfig, tmp_path: Path) -> None:
    lines = [json.dumps({"uid": f"train-{number}", "gold_tuples": []}) for number in range(3)]
    gold = tmp_path / "data" / "gold.jsonl"
    gold.write_text(gold.read_text("utf-8") + "\n".join(lines) + "\n", "utf-8")
    path = make_config(experiment={"conditions": ["C1"]}, episodic_memory={"build": None})
    assert not check_experiment(path).has_errors
    assert run_experiment(path, use_cache_file=False).cells[0].samples == 2


def test_a_good_paper_has_only_ok_lines(make_config: MakeConfig) -> None:
    found = check_experiment(make_config(**PAPER))
    assert {line.level for line in found.lines if line.check != "reviews"} == {"ok"}
    assert {"paper_split", "paper_gold", "paper_answers"} <= {line.check for line in found.lines}


def test_a_missing_key_is_an_error_that_names_the_variable(
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    path = make_config(backbone={"provider": "anthropic", "model": "m"})
    preflight = check_experiment(path)
    assert level_of(preflight, "key") == "error"
    assert message_of(preflight, "key") == "no key for anthropic; set ANTHROPIC_API_KEY"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert level_of(check_experiment(path), "key") == "ok"
    own = make_config(backbone={"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"})
    assert "key" not in {line.check for line in check_experiment(own).lines}


def test_nothing_is_written(make_config: MakeConfig, tmp_path: Path) -> None:
    path = make_config()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    check_experiment(path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(("purpose", "level"), [("smoke", "warning"), ("dev", "warning"), ("paper", "error")])
def test_shared_texts_are_counted(purpose: str, level: str, make_config: MakeConfig, tmp_path: Path) -> None:
    write_reviews(tmp_path, "train", ["Fine room.", "The  bed creaks. ", "Quick delivery."])
    found = check_experiment(make_config(run_purpose=purpose))
    assert level_of(found, "shared_texts") == level
    assert message_of(found, "shared_texts").startswith("2 texts")
    assert found.has_errors == (purpose == "paper")


def test_texts_of_a_split_that_fills_no_store_are_not_compared(make_config: MakeConfig, tmp_path: Path) -> None:
    write_reviews(tmp_path, "train", ["The bed creaks."])
    found = check_experiment(make_config(episodic_memory={"build": None}))
    assert "shared_texts" not in {line.check for line in found.lines}


@pytest.mark.parametrize(("purpose", "level"), [("dev", "warning"), ("paper", "error")])
def test_invalid_gold_is_counted(purpose: str, level: str, make_config: MakeConfig, tmp_path: Path) -> None:
    write_gold(tmp_path, [{"polarity": "mixed", "aspect_term": "bed"}], [])
    found = check_experiment(make_config(run_purpose=purpose))
    assert level_of(found, "invalid_gold") == level
    assert message_of(found, "invalid_gold").startswith("1 samples")


def test_gold_is_counted_with_its_n(make_config: MakeConfig, tmp_path: Path) -> None:
    assert message_of(check_experiment(make_config()), "gold").startswith(
        "all 2 samples have gold: 1 pairs (0 positive"
    )
    write_reviews(tmp_path, "valid", ["The bed creaks.", *(f"Number {number}." for number in range(39))])
    write_gold(tmp_path, [{"polarity": "negative", "aspect_term": "bed"}])
    found = check_experiment(make_config())
    assert level_of(found, "gold") == "warning"
    assert message_of(found, "gold") == "1 of 40 samples have gold: quality is measured over these n = 1"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Gold", "set eval.gold_column to 'Gold'"),
        ("aspect,sentiment", "set eval.aspect_column to 'aspect' and eval.polarity_column to 'sentiment'"),
        ("stars", "name a file in eval.gold_jsonl or a column in eval.gold_column"),
    ],
)
def test_without_gold_the_check_names_the_column_that_looks_like_it(
    header: str, said: str, make_config: MakeConfig, tmp_path: Path
) -> None:
    cells = ",x" * len(header.split(","))
    (tmp_path / "data" / "valid.csv").write_text(f"text,{header}\nThe bed creaks.{cells}\n", "utf-8")
    found = check_experiment(make_config(eval={"gold_jsonl": None}))
    assert level_of(found, "gold") == "warning"
    assert message_of(found, "gold").startswith("none of 1 samples has gold: ")
    assert message_of(found, "gold").endswith(said)


def test_the_n_of_gold_is_that_of_the_run_and_a_term_with_two_polarities_is_told(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    bed = {"polarity": "negative", "aspect_term": "bed"}
    write_gold(tmp_path, [bed, {**bed, "polarity": "positive"}], [{"polarity": "so-so", "aspect_term": "delivery"}])
    found = check_experiment(make_config())
    assert message_of(found, "gold") == (
        "2 of 2 samples have gold, 1 of them without a valid polarity, which are left out: "
        "quality is measured over n = 1"
    )
    assert message_of(found, "gold_twofold").startswith(
        "1 sample gives one term two polarities ('valid-0'); both count"
    )
    assert found.lines[0].check == "gold", "what the user asks for comes first"


def test_a_bad_cell_does_not_hide_the_others_and_a_column_of_pairs_is_offered_whatever_its_name(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    rows = ["uid,text,notiz", "a,The bed creaks.,bed:negative", "b,Quick.,", "c,Fine bed.,bed", "d,Cold soup.,soup"]
    (tmp_path / "data" / "valid.csv").write_text("\n".join([*rows, "e,,bed:positive"]) + "\n", "utf-8")
    message = message_of(check_experiment(make_config(eval={"gold_jsonl": None, "gold_column": "notiz"})), "data")
    assert "valid.csv, lines 4, 5: column 'notiz' holds a pair without a colon; " in message
    assert "; line 6: " in message
    (tmp_path / "data" / "valid.csv").write_text("\n".join(rows[:3]) + "\n", "utf-8")
    found = check_experiment(make_config(eval={"gold_jsonl": None}))
    assert "set eval.gold_column to 'notiz'" in message_of(found, "gold")


def test_odd_polarity_words_come_with_the_spelling_that_is_read(make_config: MakeConfig, tmp_path: Path) -> None:
    cell = "bed:pos; bed:postive; bed:긍정; bed:mixed; bed:great; pillow:"
    content = f"text;gold\nThe bed creaks.;'{cell}'\n".replace("'", '"')
    (tmp_path / "data" / "valid.csv").write_text(content, "utf-8")
    found = check_experiment(make_config(eval={"gold_jsonl": None, "gold_column": "gold"}))
    assert message_of(found, "polarity_words").split("; ") == [
        "'postive' (1x) is read as positive",
        "'긍정' (1x) is not read",
        "did you mean positive?",
        "'mixed' (1x) is not read",
        "write one pair for each polarity",
        "'great' (1x) is not read",
        "write positive, negative, neutral",
        "an empty polarity (1x) is not read",
        "write positive, negative, neutral",
    ]
    assert message_of(found, "gold_terms").startswith("1 gold term is not in the text, first in 'valid:1'; ")
    assert message_of(found, "columns") == "valid.csv is read as a table separated by ';'"
    assert not found.has_errors


@pytest.mark.parametrize(("encoding", "name"), [("cp949", "CP949 (Korean Windows)"), ("utf-16", "UTF-16")])
def test_files_of_korean_windows_and_excel_are_read_and_their_encoding_is_told(
    make_config: MakeConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture, encoding: str, name: str
) -> None:
    (tmp_path / "data" / "valid.csv").write_bytes("text,gold\r\n국물이 진해요.,국물:positive\r\n".encode(encoding))
    found = check_experiment(make_config(eval={"gold_jsonl": None, "gold_column": "gold"}))
    assert message_of(found, "gold").startswith("all 1 samples have gold")
    assert not found.has_errors
    assert [record.getMessage() for record in caplog.records] == [f"{tmp_path}/data/valid.csv is read as {name}"]


def test_gold_for_an_unknown_uid_is_an_error(make_config: MakeConfig, tmp_path: Path) -> None:
    write_gold(tmp_path, [], uid="nobody-{}")
    assert "unknown uid" in message_of(check_experiment(make_config()), "data")


def test_two_splits_in_one_file_are_an_error(make_config: MakeConfig) -> None:
    found = check_experiment(make_config(data={"test_file": "data/valid.csv"}))
    assert level_of(found, "data") == "error"
    assert "distinct" in message_of(found, "data")


def test_a_uid_in_two_splits_is_an_error(make_config: MakeConfig, tmp_path: Path) -> None:
    (tmp_path / "data" / "train.csv").write_text("uid,text\nvalid-0,Something else.\n", "utf-8")
    assert "valid-0" in message_of(check_experiment(make_config()), "data")


def test_data_outside_the_allowed_roots_are_an_error(make_config: MakeConfig) -> None:
    found = check_experiment(make_config(data={"allowed_roots": ["elsewhere"]}, eval={"gold_jsonl": None}))
    assert "allowed_roots" in message_of(found, "data")


def test_a_missing_data_file_is_an_error_and_the_rest_is_still_checked(make_config: MakeConfig) -> None:
    found = check_experiment(make_config(data={"train_file": "data/missing.csv"}, **PAPER))
    assert level_of(found, "data") == "error"
    assert level_of(found, "stores") == "ok"


def test_a_condition_that_reads_an_empty_store_is_an_error(make_config: MakeConfig) -> None:
    experiment = {"conditions": ["C1", "C2_eval_only"]}
    found = check_experiment(make_config(episodic_memory={"build": None}, experiment=experiment))
    assert "allow_empty_store" in message_of(found, "stores")
    allowed = {"build": None, "allow_empty_store": True}
    assert level_of(check_experiment(make_config(episodic_memory=allowed, experiment=experiment)), "stores") == "ok"


def test_one_store_for_two_writers_is_refused(make_config: MakeConfig) -> None:
    path = make_config(
        episodic_memory={"store_path": "store.jsonl"}, experiment={"conditions": ["C2", "C2_silent"], "seeds": [1]}
    )
    with pytest.raises(ConfigError, match="store_path"):
        check_experiment(path)


def test_a_missing_initial_store_is_an_error(make_config: MakeConfig) -> None:
    found = check_experiment(make_config(episodic_memory={"build": None, "initial_store": "missing.jsonl"}))
    assert level_of(found, "initial_store") == "error"


def test_a_broken_initial_store_is_an_error(make_config: MakeConfig, tmp_path: Path) -> None:
    (tmp_path / "store.jsonl").write_text("{}\n", "utf-8")
    found = check_experiment(make_config(episodic_memory={"build": None, "initial_store": "store.jsonl"}))
    assert "is no store" in message_of(found, "initial_store")
    verdict = '{"kind":"verdict","schema_version":"1.3","source_id":"r1","verdict":"right"}'
    (tmp_path / "damaged.jsonl").write_text(f"{verdict}\n{{}}\n", "utf-8")
    found = check_experiment(make_config(episodic_memory={"build": None, "initial_store": "damaged.jsonl"}))
    assert "damaged.jsonl, line 2" in message_of(found, "initial_store")


@pytest.mark.parametrize(("purpose", "level"), [("dev", "warning"), ("paper", "error")])
def test_an_initial_store_from_evaluated_samples_is_counted(
    purpose: str, level: str, make_config: MakeConfig, tmp_path: Path, finished: Path
) -> None:
    lines = entries_of(finished / "results" / "small" / "C2__seed42" / "episodic_store.jsonl")
    episodes = [line for line in lines if b'"episode_id"' in line]
    with MemoryStore(tmp_path / "store.jsonl") as store:
        for source, line in zip(("valid-0", "elsewhere"), episodes, strict=False):
            episode = json.loads(line)
            episode["provenance"]["source_id"] = source
            store.append(episode)
    memory = {"build": None, "initial_store": "store.jsonl"}
    found = check_experiment(make_config(run_purpose=purpose, episodic_memory=memory))
    assert level_of(found, "initial_store") == level
    assert message_of(found, "initial_store").startswith("1 of 2 episodes")


def test_a_paper_must_not_evaluate_the_training_split(make_config: MakeConfig) -> None:
    changes: dict[str, Any] = {"data": {"process_split": "train"}, "eval": {"gold_jsonl": None}}
    path = make_config(**changes, episodic_memory={"build": None}, **PAPER)
    assert level_of(check_experiment(path), "paper_split") == "error"


def test_a_paper_needs_gold_for_every_sample(make_config: MakeConfig, tmp_path: Path) -> None:
    write_gold(tmp_path, [])
    found = check_experiment(make_config(**PAPER))
    assert message_of(found, "paper_gold") == "1 of 2 evaluated samples have no gold"


def test_a_paper_replays_a_recording_that_exists(make_config: MakeConfig, tmp_path: Path) -> None:
    backbone = {"provider": "replay", "model": "m", "recording": "answers.jsonl"}
    assert level_of(check_experiment(make_config(backbone=backbone, **PAPER)), "paper_answers") == "error"
    (tmp_path / "answers.jsonl").touch()
    assert level_of(check_experiment(make_config(backbone=backbone, **PAPER)), "paper_answers") == "ok"


def test_a_paper_keeps_the_answers_of_a_model(make_config: MakeConfig, tmp_path: Path) -> None:
    backbone = {"provider": "openai", "model": "m"}
    assert level_of(check_experiment(make_config(backbone=backbone, **PAPER)), "paper_answers") == "ok"
    (tmp_path / "cache").mkdir()
    path = make_config(backbone=backbone, cache={"path": "cache"}, **PAPER)
    assert level_of(check_experiment(path), "paper_answers") == "error"


def test_a_config_that_cannot_be_used_is_refused(make_config: MakeConfig) -> None:
    with pytest.raises(ConfigError, match="unknown key mood"):
        check_experiment(make_config(mood="good"))
