"""Fine-tunes the reader of one language, and reads the dev texts with it.

python training/reader/finetune.py PACK.json.xz LANGUAGE TOKENIZER.json START.safetensors OUT [--seed 1] [--epochs 5]
    [--seconds S] [--rate 2e-4] [--batch 64] [--leave-out CORPUS] [--taught TRAIN.npz] [--pool POOL.npz ...] [--most N]

Writes OUT.safetensors (half precision) and OUT.readings.jsonl.gz. With --leave-out the reader never sees that corpus
and reads its dev texts alone, as texts of an unknown kind. --taught holds what a teacher says of the training texts,
--pool texts without marks and what a teacher says of them (teacher.py). START is an encoder or a whole reader. On one
GPU five epochs over 21,000 English texts take about a minute, on two idle cores about forty.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from evaluate import TAU, dev_lines, lines, read_pack, scores, told
from network import IGNORED, Reader, device_here, load_weights, save_weights, start_from
from reading import (
    LABELS,
    MARKS,
    PAD,
    TOPICS,
    WINDOW,
    Answers,
    Output,
    Window,
    encode,
    framed,
    letters_of,
    tag_id,
    write_lines,
)
from taught import Taught, read_taught
from tokenizers import Tokenizer
from torch.nn import functional
from vocabularies import SLOTS

NO_TAG_SHARE: Final = 0.3
"""How often a text is shown without the tag of its corpus, so that the reader learns to do without."""
SIDE_LOSS: Final = 0.3
"""What the label of the text and the topics of terms weigh beside the terms."""
STATES_LOSS: Final = 0.5
"""What the teacher's own states weigh beside what it says."""
_AT_ONCE: Final = 128
_SORTED_TOGETHER: Final = 20
_TOLD_EVERY: Final = 20.0


class Example(NamedTuple):
    """One text as the network learns it: a row for every framed token, a column for every slot."""

    ids: list[int]
    marks: Any
    topics: Any
    label: int
    letters: tuple[Any, Any, Any]
    """Tokens, slots and places in the text of the letters: where what a teacher says belongs."""
    text: int = -1
    """Which of the taught texts it is; -1: none."""


def main() -> None:
    """Train, read the dev texts, write both and print the scores."""
    parser = argparse.ArgumentParser(description="Fine-tune the reader of one language.")
    for name in ("pack", "language", "tokenizer", "start", "out"):
        parser.add_argument(name, type=str if name == "language" else Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1e9, help="it ends after so long, whatever it has done")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--leave-out", metavar="CORPUS")
    parser.add_argument("--taught", type=Path, help="what a teacher says of the training texts")
    parser.add_argument("--pool", type=Path, nargs="+", default=[], help="texts that only a teacher has marked")
    parser.add_argument("--most", type=int, help="texts to train on, to try things out")
    given = parser.parse_args()
    rows = read_pack(given.pack)[given.language]
    corpora = {row["corpus"] for row in rows["train"]}
    if given.leave_out is not None and given.leave_out not in corpora:
        parser.error(f"no corpus {given.leave_out!r} in {given.pack}; choose one of {', '.join(sorted(corpora))}")
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    slots = SLOTS if given.language == "ko" else 1
    parts = [marked_texts(rows["train"], tokenizer, slots, given.leave_out, given.most, given.taught)]
    parts += [pool_texts(path, tokenizer, slots, given.most) for path in given.pool]
    reader = create_reader(tokenizer, given.start, slots)
    fit(
        reader,
        Texts([part for part in parts if part[0]], slots, device_here()),
        seed=given.seed,
        epochs=given.epochs,
        seconds=given.seconds,
        rate=given.rate,
        batch=given.batch,
    )
    save_weights(reader, reader.encoder.shape, given.out.with_suffix(".safetensors"))
    read_dev(reader, tokenizer, rows["dev"], given.out, given.leave_out)


def read_dev(
    reader: Reader, tokenizer: Tokenizer, rows: Sequence[dict[str, Any]], out: Path, leave_out: str | None
) -> None:
    """Read the dev texts, write what was read and print the scores; a corpus left out is of an unknown kind."""
    answers = answers_of(reader)
    if leave_out is None:
        found = list(dev_lines(rows, tokenizer, answers))
    else:
        unknown = [row for row in rows if row["corpus"] == leave_out]
        found = [line for tag in ("no_tag", "everyday") for line in lines(unknown, tokenizer, answers, tag)]
    write_lines(found, out.with_suffix(".readings.jsonl.gz"))
    for figures in scores({row["uid"]: row for row in rows}, [found], [1.0], TAU):
        print(out.name, told(figures), flush=True)


def create_reader(tokenizer: Tokenizer, start: Path, slots: int) -> Reader:
    """Return a reader that starts from stored weights; what they lack starts anew, in every reader alike.

    Readers that differ in the order of their texts alone can be averaged (soup.py).
    """
    torch.manual_seed(1)
    weights, stored = load_weights(start)
    shape = stored._replace(vocabulary=tokenizer.get_vocab_size(), slots=slots, positions=WINDOW + 3)
    reader = Reader(shape)
    missing = start_from(reader.encoder, weights)
    heads = {name: weight for name, weight in weights.items() if name.split(".")[0] in ("marks", "topics", "label")}
    reader.load_state_dict(heads, strict=False)
    print(f"{start.name}: {', '.join(missing) or 'nothing'} starts anew; heads: {len(heads)}", flush=True)
    reader.to(device_here())
    return reader


def marked_texts(
    rows: Sequence[dict[str, Any]],
    tokenizer: Tokenizer,
    slots: int,
    leave_out: str | None,
    most: int | None,
    taught: Path | None,
) -> tuple[list[Example], Taught | None]:
    """Return the training texts of a pack, and what a teacher says of them."""
    kept = [at for at, row in enumerate(rows) if row["corpus"] != leave_out]
    kept = kept[:: -(-len(kept) // (most or len(kept)))]
    said = read_taught(taught) if taught else None
    if said and len(said.rows) != len(rows):
        raise SystemExit(f"{taught} speaks of {len(said.rows)} texts, and the pack holds {len(rows)}")
    examples: list[Example] = []
    for at in kept:
        row, text = rows[at], at if said else -1
        label = IGNORED if row["label"] is None else LABELS.index(row["label"])
        examples += examples_of(
            row["text"], tokenizer, slots, row["corpus"], spans=row.get("spans"), label=label, text=text
        )
    return examples, said


def pool_texts(path: Path, tokenizer: Tokenizer, slots: int, most: int | None) -> tuple[list[Example], Taught | None]:
    """Return the texts that only a teacher has marked."""
    said = read_taught(path)
    examples: list[Example] = []
    for at, row in enumerate(said.rows[:most]):
        examples += examples_of(row["text"], tokenizer, slots, row["tag"], text=at)
    return examples, said


def examples_of(
    text_of: str,
    tokenizer: Tokenizer,
    slots: int,
    tag: str,
    *,
    spans: Sequence[Sequence[Any]] | None = None,
    label: int = IGNORED,
    text: int = -1,
) -> Iterator[Example]:
    """Yield a text as the network learns it, a long one in windows.

    Args:
        spans: start, end, polarity, topic of each term; None: the source marks no terms, and teaches nothing of them.
    """
    tokens = encode(tokenizer, text_of)
    for start in range(0, max(1, len(tokens.ids)), WINDOW):
        part = tokens._replace(
            ids=tokens.ids[start : start + WINDOW],
            starts=tokens.starts[start : start + WINDOW],
            ends=tokens.ends[start : start + WINDOW],
        )
        if slots == 1:
            letters = [(at, 0, *place) for at, place in enumerate(zip(part.starts, part.ends, strict=True))]
        else:
            letters = letters_of(text_of, part, slots)
        of_token, of_slot, starts, ends = (
            np.array(column, dtype=np.int64) for column in (zip(*letters, strict=True) if letters else ((), (), (), ()))
        )
        marks = np.full((len(part.ids) + 3, slots), IGNORED, dtype=np.int8)
        topics = np.full(len(part.ids) + 3, IGNORED, dtype=np.int8)
        if spans is not None:
            marks[of_token + 2, of_slot], topics[of_token + 2] = targets_of(starts, ends, spans)
        is_whole = len(tokens.ids) <= WINDOW
        yield Example(
            framed(part.ids, tag_id(tag)),
            marks,
            topics,
            label if is_whole else IGNORED,
            (of_token + 2, of_slot, starts),
            text,
        )


def targets_of(starts: Any, ends: Any, spans: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """Return mark and topic of each place. A place belongs to the span that holds at least half of it."""
    marks, topics = np.zeros(len(starts), dtype=np.int8), np.full(len(starts), IGNORED, dtype=np.int8)
    for start, end, polarity, topic in spans:
        inside = np.minimum(ends, end) - np.maximum(starts, start)
        places = np.flatnonzero((ends > starts) & (2 * inside >= ends - starts))
        if len(places):
            marks[places] = MARKS.index(f"I-{polarity}")
            marks[places[0]] = MARKS.index(f"B-{polarity}")
            topics[places] = IGNORED if topic is None else TOPICS.index(topic)
    return marks, topics


class Texts:
    """All texts on the device, one after the other; a batch is cut out of them there."""

    def __init__(self, parts: Sequence[tuple[Sequence[Example], Taught | None]], slots: int, device: str) -> None:
        examples = [example for part, _ in parts for example in part]
        self.device = device
        self.lengths = np.array([len(example.ids) for example in examples])
        self.starts = torch.tensor(np.concatenate([[0], np.cumsum(self.lengths)[:-1]]), device=device)
        self.ids = torch.tensor([id_of for example in examples for id_of in example.ids], device=device)
        self.marks = torch.tensor(np.concatenate([example.marks for example in examples]), device=device)
        self.topics = torch.tensor(np.concatenate([example.topics for example in examples]), device=device)
        self.label = torch.tensor([example.label for example in examples], device=device)
        soft = np.zeros((len(self.ids), slots, len(MARKS)), dtype=np.float16)
        soft_label = np.zeros((len(examples), len(LABELS)), dtype=np.float16)
        soft_topics = np.full(len(self.ids), IGNORED, dtype=np.int8)
        widths = [said.states.shape[1] for _, said in parts if said is not None]
        states = np.zeros((len(self.ids), widths[0] if widths else 0), dtype=np.float16)
        at = first = 0
        for part, said in parts:
            for number, example in enumerate(part, first):
                if said is not None and example.text >= 0 and len(example.letters[0]):
                    of_token, of_slot, places = example.letters
                    letters = said.places[example.text] + places
                    soft[at + of_token, of_slot] = said.marks[letters]
                    soft_topics[at + of_token] = said.topics[letters]
                    states[at + of_token] = said.states[said.tokens[letters]]  # the last letter of a token stands
                    soft_label[number] = said.labels[example.text]
                at += len(example.ids)
            first += len(part)
        self.soft, self.states = torch.tensor(soft, device=device), torch.tensor(states, device=device)
        self.soft_topics = torch.tensor(soft_topics, device=device)
        self.soft_label = torch.tensor(soft_label, device=device)

    def places(self, rows: Any) -> tuple[Any, Any]:
        """Return where the tokens of some texts stand, padded, and which of them are no padding."""
        length = int(self.lengths[rows].max())
        along = torch.arange(length, device=self.device)[None]
        numbers = torch.tensor(rows, device=self.device)
        own = torch.tensor(self.lengths[rows], device=self.device)[:, None]
        return (self.starts[numbers, None] + along).clamp(max=len(self.ids) - 1), along < own

    def batches(self, size: int, random_source: random.Random) -> list[Any]:
        """Return the numbers of all texts in batches of similar length, in a new order each time."""
        order = np.array(random_source.sample(range(len(self.lengths)), len(self.lengths)))
        together = size * _SORTED_TOGETHER
        found = []
        for at in range(0, len(order), together):
            chunk = order[at : at + together]
            chunk = chunk[np.argsort(self.lengths[chunk], kind="stable")]
            found += [chunk[start : start + size] for start in range(0, len(chunk), size)]
        random_source.shuffle(found)
        return found


def fit(reader: Reader, texts: Texts, *, seed: int, epochs: int, rate: float, batch: int, seconds: float = 1e9) -> None:
    """Train; the rate rises over the first twentieth and falls to nothing, with the steps or with the time."""
    began, random_source, device = time.monotonic(), random.Random(seed), device_here()  # noqa: S311 - an order, no secret
    torch.manual_seed(seed)
    width = texts.states.shape[1]
    to_states = torch.nn.Linear(reader.encoder.shape.width, width).to(device) if width else None
    learnt = [*reader.parameters(), *(to_states.parameters() if to_states else ())]
    optimizer = torch.optim.AdamW(learnt, lr=rate, weight_decay=0.01, fused=device == "cuda")
    steps = epochs * -(-len(texts.lengths) // batch)
    reader.train()
    step, total, told_at, progress = 0, torch.zeros((), device=device), began, 0.0
    while progress < 1:
        for rows in texts.batches(batch, random_source):
            progress = max(step / steps, (time.monotonic() - began) / seconds)
            if progress >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = rate * min(max((step + 1) / (0.05 * steps + 1), 20 * progress), 1 - progress)
            with autocast(device):
                loss = loss_of(reader, to_states, texts, rows, random_source)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            total = loss.detach() if step == 0 else 0.98 * total + 0.02 * loss.detach()
            step += 1
            if time.monotonic() - told_at > _TOLD_EVERY:
                told_at = time.monotonic()
                print(f"step {step} of {steps}: loss {float(total):.3f}, {told_at - began:.0f} s", flush=True)
    print(f"{step} steps of {steps}: loss {float(total):.3f}, {time.monotonic() - began:.0f} s", flush=True)
    reader.eval()


def loss_of(reader: Reader, to_states: Any, texts: Texts, rows: Any, random_source: random.Random) -> Any:
    """Return the loss of a batch; tags are dropped at random."""
    places, is_token = texts.places(rows)
    ids = torch.where(is_token, texts.ids[places], PAD)
    is_untagged = torch.tensor([random_source.random() < NO_TAG_SHARE for _ in rows], device=ids.device)
    ids[:, 1] = torch.where(is_untagged, tag_id("no_tag"), ids[:, 1])
    numbers = torch.tensor(rows, device=ids.device)
    states = reader.encoder(ids, is_token)
    marks, topics, label = reader.heads(states)
    nothing = ~is_token
    wanted = texts.marks[places].long().masked_fill(nothing[..., None], IGNORED)
    wanted_topics = (
        torch.where(texts.topics[places] == IGNORED, texts.soft_topics[places], texts.topics[places])
        .long()
        .masked_fill(nothing, IGNORED)
    )
    soft = texts.soft[places].float().masked_fill(nothing[..., None, None], 0)
    total = (
        mean_loss(marks.flatten(0, 2), wanted.flatten())
        + soft_loss(marks, soft)
        + SIDE_LOSS * mean_loss(topics.flatten(0, 1), wanted_topics.flatten())
        + SIDE_LOSS * (mean_loss(label, texts.label[numbers]) + soft_loss(label, texts.soft_label[numbers].float()))
    )
    if to_states is not None:
        aims = texts.states[places].float()
        has_aim = ((aims != 0).any(-1) & is_token).float()
        gaps = (to_states(states).float() - aims).square().mean(-1)
        total = total + STATES_LOSS * (gaps * has_aim).sum() / has_aim.sum().clamp(min=1)
    return total


def mean_loss(logits: Any, wanted: Any) -> Any:
    """Return the mean cross entropy of what teaches something; zero if nothing does."""
    total = functional.cross_entropy(logits.float(), wanted, ignore_index=IGNORED, reduction="sum")
    return total / (wanted != IGNORED).sum().clamp(min=1)


def soft_loss(logits: Any, wanted: Any) -> Any:
    """Return the mean cross entropy against probabilities; where they are all zero nobody has said anything."""
    is_said = (wanted.sum(-1) > 0).float()
    each = -(wanted * functional.log_softmax(logits.float(), -1)).sum(-1)
    return (each * is_said).sum() / is_said.sum().clamp(min=1)


def padded(rows: Sequence[Sequence[int]], filler: int, device: str) -> Any:
    """Return rows of different length as one tensor."""
    length = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (length - len(row))] for row in rows], device=device)


def autocast(device: str) -> Any:
    """Return the context in which a GPU computes in bfloat16."""
    return torch.autocast(device, torch.bfloat16) if device == "cuda" else nullcontext()


def answers_of(reader: Reader) -> Answers:
    """Return the reader as it is asked on the machine that trains: in padded batches, in single precision."""
    device = device_here()
    reader.eval()

    def answers(asked: Sequence[Window]) -> list[Output]:
        outputs: list[Output] = []
        with torch.no_grad():
            for at in range(0, len(asked), _AT_ONCE):
                members = asked[at : at + _AT_ONCE]
                ids = padded(members, PAD, device)
                marks, topics, label = (
                    torch.softmax(part.float(), -1).cpu().numpy() for part in reader(ids, ids != PAD)
                )
                if marks.shape[2] == 1:
                    marks = marks[:, :, 0]
                for row, window in enumerate(members):
                    length = len(window)
                    outputs.append(Output(marks[row, :length], topics[row, :length], label[row]))
        return outputs

    return answers


if __name__ == "__main__":
    main()
