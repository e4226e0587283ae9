"""The neural reader in miniature, end to end on a CPU: pre-training, fine-tuning, export and reading."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

for package in ("torch", "tokenizers", "safetensors", "onnx", "onnxruntime"):
    pytest.importorskip(package, reason="pip install -r training/reader/requirements.txt")

READER = Path(__file__).resolve().parents[2] / "training" / "reader"
sys.path.insert(0, str(READER))

import torch  # noqa: E402 - may be absent
from evaluate import dev_lines, scores  # noqa: E402
from export import compared, export  # noqa: E402
from exported import load_exported  # noqa: E402
from finetune import Texts, answers_of, create_reader, examples_of, fit, targets_of  # noqa: E402
from network import Encoder, MaskedReader, Reader, Shape, load_weights, minilm_weights, save_weights, start_from  # noqa: E402
from pack import write_pack  # noqa: E402
from pretrain import pretrain, token_stream, words_begin  # noqa: E402
from reading import LABELS, MARKS, RESERVED, TAGS, TOPICS, Output, encode, per_letter, read_lines, read_texts, tag_id  # noqa: E402
from taught import Taught, read_taught, write_taught  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from vectors import neighbour_vectors, term_vector, write_table  # noqa: E402
from vocabularies import SLOTS, english_tokens, korean_pieces, korean_syllables  # noqa: E402

torch.set_num_threads(1)
SMALL = Shape(vocabulary=1, width=48, layers=2, heads=4, inner=96)
SUBJECTS = ("room", "staff", "soup", "screen", "battery", "price", "pool", "driver")
VERDICTS = (("great", "positive"), ("awful", "negative"))


def make_rows() -> list[dict[str, Any]]:
    """Return two hundred texts whose pairs a small network learns in a few passes."""
    rows: list[dict[str, Any]] = []
    for at in range(200):
        subject = SUBJECTS[at % len(SUBJECTS)]
        word, polarity = VERDICTS[at // len(SUBJECTS) % 2]
        text = f"the {subject} was {word} on day {at % 7}"
        row = {"corpus": "hotel", "uid": str(at), "text": text, "label": polarity, "pairs": [[subject, polarity]]}
        rows.append({**row, "spans": [[4, 4 + len(subject), polarity, "place"]]})
    rows += [
        {
            "corpus": "everyday",
            "uid": f"n{at}",
            "text": f"we came on day {at}",
            "label": "none",
            "spans": [],
            "pairs": [],
        }
        for at in range(7)
    ]
    return rows


def texts_of(rows: list[dict[str, Any]], tokenizer: Tokenizer, slots: int, taught: Taught | None = None) -> Texts:
    examples = [
        example
        for at, row in enumerate(rows)
        for example in examples_of(
            row["text"],
            tokenizer,
            slots,
            row["corpus"],
            spans=None if taught else row["spans"],
            label=-100 if taught else LABELS.index(row["label"]),
            text=at if taught else -1,
        )
    ]
    return Texts([(examples, taught)], slots, "cpu")


@pytest.fixture(scope="module", params=[1, SLOTS], ids=["tokens", "letters"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Reader, Path]:
    """Fine-tune a small reader, which marks tokens or letters, and export it."""
    folder = tmp_path_factory.mktemp("reader")
    rows = make_rows()
    vocabulary = korean_pieces if request.param == 1 else korean_syllables
    tokenizer = vocabulary((row["text"] for row in rows), 200)
    tokenizer.save(str(folder / "small.json"))
    save_weights(Encoder(SMALL), SMALL, folder / "start.safetensors")
    reader = create_reader(tokenizer, folder / "start.safetensors", request.param)
    fit(reader, texts_of(rows, tokenizer, request.param), seed=1, epochs=8, rate=5e-3, batch=16)
    save_weights(reader, reader.encoder.shape, folder / "small.safetensors")
    weights, shape = load_weights(folder / "small.safetensors")
    reader.load_state_dict(weights)
    export(weights, shape, folder / "small.json", folder / "model")
    return reader, folder / "model"


def test_a_small_reader_learns_its_texts_and_says_none_where_nothing_is_judged(trained: tuple[Reader, Path]) -> None:
    tokenizer, answers = load_exported(trained[1])
    rows = make_rows()
    figures = {
        (found["corpus"], found["tag"]): found
        for found in scores(
            {row["uid"]: row for row in rows}, [list(dev_lines(rows, tokenizer, answers))], [1.0], tau=0.45
        )
    }
    assert figures["hotel", "hotel"]["f1"] > 0.95
    (read,) = read_texts(["we came on day 3"], tokenizer, answers, tag_id("everyday"))
    assert (read.pairs, read.label) == ((), "none")


def test_the_exported_reader_answers_as_the_float_one_and_alone_as_in_company(trained: tuple[Reader, Path]) -> None:
    found = compared(*trained, make_rows())
    assert found["other_when_alone"] == 0
    assert found["other_pairs"] == 0
    assert found["largest_gap_of_p"] <= 0.02


def test_threads_and_order_change_no_byte_of_an_answer(trained: tuple[Reader, Path]) -> None:
    texts = [row["text"] for row in make_rows()]
    tokenizer, answers = load_exported(trained[1])
    _, by_threads = load_exported(trained[1], threads=3)
    straight = read_texts(texts, tokenizer, answers, tag_id("no_tag"))
    turned = read_texts(texts[::-1], tokenizer, by_threads, tag_id("no_tag"))
    assert straight == turned[::-1]


def test_a_long_text_is_read_to_its_end(trained: tuple[Reader, Path]) -> None:
    tokenizer, answers = load_exported(trained[1])
    text = "the room was great on day 1 . " * 80
    (read,) = read_texts([text], tokenizer, answers, tag_id("hotel"))
    assert len(encode(tokenizer, text).ids) > 500
    assert read.pairs[0].start < 100 < len(text) - 200 < read.pairs[-1].start


def test_the_same_seed_trains_the_same_reader(tmp_path: Path) -> None:
    rows = make_rows()[:40]
    tokenizer = korean_syllables((row["text"] for row in rows), 200)
    texts = texts_of(rows, tokenizer, SLOTS)
    save_weights(Encoder(SMALL), SMALL, tmp_path / "start.safetensors")
    found = []
    for _ in range(2):
        reader = create_reader(tokenizer, tmp_path / "start.safetensors", SLOTS)
        fit(reader, texts, seed=3, epochs=1, rate=1e-3, batch=8)
        found.append(reader.state_dict())
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_a_reader_learns_from_what_a_teacher_says_alone(tmp_path: Path) -> None:
    rows = make_rows()
    marks, labels, places = [], [], [0]
    for row in rows:
        of_text = np.zeros((len(row["text"]), len(MARKS)), dtype=np.float16)
        of_text[:, 0] = 1
        for start, end, polarity, _ in row["spans"]:
            of_text[start:end, 0], of_text[start:end, MARKS.index(f"I-{polarity}")] = 0, 1
            of_text[start] = np.eye(len(MARKS))[MARKS.index(f"B-{polarity}")]
        marks.append(of_text)
        labels.append(np.eye(len(LABELS))[LABELS.index(row["label"])])
        places.append(places[-1] + len(row["text"]))
    said = [{"text": row["text"], "tag": row["corpus"]} for row in rows]
    topics, tokens = np.zeros(places[-1], dtype=np.int8), np.arange(places[-1], dtype=np.int32)
    states = np.ones((places[-1], 4), dtype=np.float16)
    write_taught(
        Taught(said, np.array(places[:-1]), np.concatenate(marks), topics, np.array(labels), tokens, states),
        tmp_path / "taught.npz",
    )
    tokenizer = korean_syllables((row["text"] for row in rows), 200)
    save_weights(Encoder(SMALL), SMALL, tmp_path / "start.safetensors")
    reader = create_reader(tokenizer, tmp_path / "start.safetensors", SLOTS)
    texts = texts_of(rows, tokenizer, SLOTS, read_taught(tmp_path / "taught.npz"))
    fit(reader, texts, seed=1, epochs=8, rate=5e-3, batch=16)
    found = read_texts(["the staff was awful on day 2"], tokenizer, answers_of(reader), tag_id("hotel"))
    assert [(pair.start, pair.end, pair.polarity) for pair in found[0].pairs] == [(4, 9, "negative")]
    assert found[0].label == "negative"


@pytest.mark.parametrize("knows_classes", [False, True])
def test_pre_training_lowers_the_loss_and_gives_an_encoder_to_start_from(tmp_path: Path, knows_classes: bool) -> None:
    torch.manual_seed(1)
    texts = [row["text"] for row in make_rows()]
    classes = ["N" * len(text) if knows_classes else "" for text in texts]
    tokenizer = korean_syllables(texts, 60)
    tokenizer.save(str(tmp_path / "t.json"))
    model = MaskedReader(SMALL._replace(vocabulary=tokenizer.get_vocab_size(), slots=SLOTS))
    losses = [
        pretrain(
            model,
            token_stream(texts, tmp_path / "t.json", classes),
            words_begin(tokenizer),
            tmp_path / "encoder.safetensors",
            seconds=600,
            steps=steps,
            batch=8,
            window=32,
            rate=3e-3,
        )
        for steps in (1, 80)
    ]
    assert losses[1] < 0.8 * losses[0]
    weights, shape = load_weights(tmp_path / "encoder.safetensors")
    assert start_from(Encoder(shape), weights) == []


def test_a_place_belongs_to_the_span_that_holds_at_least_half_of_it() -> None:
    marks, topics = targets_of(np.array([0, 4, 9]), np.array([4, 9, 12]), [[4, 12, "negative", None]])
    assert [MARKS[mark] for mark in marks] == ["O", "B-negative", "I-negative"]
    assert topics.tolist() == [-100] * 3


def test_every_letter_of_a_korean_text_is_marked_once_even_one_that_the_vocabulary_lacks() -> None:
    tokenizer = korean_syllables(["음식이 맛있고 직원도 친절해요 ㅋㅋ"] * 9, 200)
    text = "직원이 뷁스럽게  친절해요 ㅋㅋㅋㅋㅋ 👎"
    tokens = encode(tokenizer, text)
    output = make_output(len(tokens.ids))
    places, of_letters = per_letter(text, tokens, output)
    marked = [at for start, end in zip(places.starts, places.ends, strict=True) for at in range(start, end)]
    assert sorted(marked) == [at for at, letter in enumerate(text) if not letter.isspace()]
    assert of_letters.marks.shape == (len(places.starts), len(MARKS))


def make_output(tokens: int) -> Output:
    shapes = ((tokens, SLOTS, len(MARKS)), (tokens, len(TOPICS)), (len(LABELS),))
    return Output(*(np.zeros(shape, dtype=np.float32) for shape in shapes))


def test_an_english_vocabulary_keeps_emoji_and_starts_them_from_the_words_of_their_names() -> None:
    pieces = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "thumbs", "down", "staff", "##s", "s", "bread"]
    described = korean_pieces(["x"], 20).to_str()
    minilm = json.loads(described)
    minilm["model"]["vocab"] = {piece: at for at, piece in enumerate(pieces)}
    minilm["added_tokens"] = []
    tokenizer, sources = english_tokens(minilm, ["staff 👎"], 400)
    ids = encode(tokenizer, "STAFF👎🏽 staffs").ids
    assert [tokenizer.id_to_token(at) for at in ids] == ["staff", "👎", "staff", "##s"]
    assert sources[ids[1]] == [pieces.index("thumbs"), pieces.index("down")]
    assert [tokenizer.token_to_id(name) for name in RESERVED] == list(range(len(RESERVED)))


def test_the_start_from_minilm_computes_what_minilm_computes() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.BertConfig(
        vocab_size=30, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96
    )
    bert = transformers.BertModel(config, add_pooling_layer=False).eval()
    shape = SMALL._replace(vocabulary=30)
    encoder = Encoder(shape).eval()
    assert start_from(encoder, minilm_weights(bert.state_dict(), [[at] for at in range(30)], shape)) == []
    ids = torch.randint(30, (2, 9))
    with torch.no_grad():
        assert torch.allclose(encoder(ids), bert(input_ids=ids).last_hidden_state, atol=1e-5)


def test_terms_with_the_same_neighbours_have_near_vectors(tmp_path: Path) -> None:
    texts = [
        f"{noun} {verdict} answered quickly" for noun in ("staff", "waiter") for verdict in ("kindly", "rudely")
    ] * 20
    texts += [
        f"{noun} charged {speed} overnight" for noun in ("battery", "charger") for speed in ("fully", "slowly")
    ] * 20
    texts += [f"filler{at} alone beside{at}" for at in range(60)] * 2
    tokenizer = korean_pieces(texts, 400)
    write_table(neighbour_vectors(texts, tokenizer), tmp_path / "table.npz")
    staff, waiter, battery = (
        term_vector(tmp_path / "table.npz", tokenizer, term) for term in ("staff", "waiter", "battery")
    )
    assert float(staff @ waiter) > 0.6 > 0.3 > float(staff @ battery)


def test_every_tag_has_its_own_token() -> None:
    assert len({tag_id(tag) for tag in TAGS}) == len(TAGS) == len(RESERVED) - 5


def test_the_mean_of_one_reader_is_that_reader_and_reads_a_corpus_that_was_left_out(
    trained: tuple[Reader, Path], tmp_path: Path
) -> None:
    folder = trained[1].parent
    pack = tmp_path / "pack.json.xz"
    dev = [{"corpus": "hotel", "uid": "h1", "text": make_rows()[0]["text"], "pairs": []}]
    write_pack({"en": {"train": [], "dev": []}, "ko": {"train": [], "dev": dev}}, pack)
    names = [
        str(pack),
        "ko",
        str(folder / "small.json"),
        str(tmp_path / "mean"),
        *[str(folder / "small.safetensors")] * 2,
    ]
    subprocess.run([sys.executable, READER / "soup.py", *names, "--leave-out", "hotel"], check=True)
    mean, single = (load_weights(path)[0] for path in (tmp_path / "mean.safetensors", folder / "small.safetensors"))
    assert all(torch.allclose(mean[name], single[name]) for name in single)
    assert {line["tag"] for line in read_lines(tmp_path / "mean.readings.jsonl.gz")} == {"no_tag", "everyday"}
