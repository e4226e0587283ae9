"""Fine-tunes the reader of one language, and reads the dev texts with it.

python training/reader/finetune.py PACK.json.xz LANGUAGE TOKENIZER.json START.safetensors OUT [--seed 1] [--epochs 5]
    [--rate 2e-4] [--batch 64] [--leave-out CORPUS] [--classes] [--most N]

Writes OUT.safetensors (half precision) and OUT.readings.jsonl.gz. With --leave-out the reader never sees that corpus
and reads its dev texts alone, as texts of an unknown kind. On one GPU five epochs over 21,000
English texts take about a minute, on two idle cores about forty.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from evaluate import TAU, dev_lines, lines, read_pack, scores, told
from network import IGNORED, Reader, Shape, device_here, load_weights, save_weights, start_from
from reading import (
    CLASS_LETTERS,
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
    framed_classes,
    tag_id,
    write_lines,
)
from tokenizers import Tokenizer
from torch.nn import functional

NO_TAG_SHARE: Final = 0.3
"""How often a text is shown without the tag of its corpus, so that the reader learns to do without."""
SIDE_LOSS: Final = 0.3
"""What the label of the text and the topics of terms weigh beside the terms."""
_AT_ONCE: Final = 128
_SORTED_TOGETHER: Final = 20


class Example(NamedTuple):
    """One text as the network learns it; every list is as long as the framed ids."""

    ids: list[int]
    classes: list[int]
    marks: list[int]
    topics: list[int]
    label: int
    tag: int


def main() -> None:
    """Train, read the dev texts, write both and print the scores."""
    parser = argparse.ArgumentParser(description="Fine-tune the reader of one language.")
    for name in ("pack", "language", "tokenizer", "start", "out"):
        parser.add_argument(name, type=str if name == "language" else Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--leave-out", metavar="CORPUS")
    parser.add_argument("--classes", action="store_true", help="add the classes of Korean morphemes to the tokens")
    parser.add_argument("--most", type=int, help="texts to train on, to try things out")
    given = parser.parse_args()
    rows = read_pack(given.pack)[given.language]
    corpora = {row["corpus"] for row in rows["train"]}
    if given.leave_out is not None and given.leave_out not in corpora:
        parser.error(f"no corpus {given.leave_out!r} in {given.pack}; choose one of {', '.join(sorted(corpora))}")
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    learnt = [row for row in rows["train"] if row["corpus"] != given.leave_out]
    learnt = learnt[:: -(-len(learnt) // (given.most or len(learnt)))]
    reader = create_reader(tokenizer, given.start, with_classes=given.classes)
    examples = [example for row in learnt for example in examples_of(row, tokenizer)]
    fit(reader, examples, seed=given.seed, epochs=given.epochs, rate=given.rate, batch=given.batch)
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


def create_reader(tokenizer: Tokenizer, start: Path, *, with_classes: bool) -> Reader:
    """Return a reader whose encoder starts from stored weights; what they lack starts anew, in every reader alike.

    Readers that differ in the order of their texts alone can be averaged (soup.py).
    """
    torch.manual_seed(1)
    weights, stored = load_weights(start)
    shape = stored._replace(
        vocabulary=tokenizer.get_vocab_size(), classes=len(CLASS_LETTERS) if with_classes else 0, positions=WINDOW + 3
    )
    reader = Reader(Shape(*shape))
    missing = start_from(reader.encoder, weights)
    print(f"{start.name}: {', '.join(missing) or 'nothing'} starts anew", flush=True)
    reader.to(device_here())
    return reader


def examples_of(row: dict[str, Any], tokenizer: Tokenizer) -> Iterator[Example]:
    """Yield a packed training row as the network learns it, a long one in windows."""
    tokens = encode(tokenizer, row["text"], row.get("classes", ""))
    marks, topics = targets_of(tokens.starts, tokens.ends, row.get("spans"))
    label = IGNORED if row["label"] is None else LABELS.index(row["label"])
    first, last = [IGNORED] * 2, [IGNORED]
    for start in range(0, max(1, len(tokens.ids)), WINDOW):
        part = slice(start, start + WINDOW)
        yield Example(
            framed(tokens.ids[part], tag_id(row["corpus"])),
            framed_classes(tokens.classes[part]),
            [*first, *marks[part], *last],
            [*first, *topics[part], *last],
            label if len(tokens.ids) <= WINDOW else IGNORED,
            tag_id(row["corpus"]),
        )


def targets_of(
    starts: Sequence[int], ends: Sequence[int], spans: Sequence[Sequence[Any]] | None
) -> tuple[list[int], list[int]]:
    """Return the mark and the topic of each token. A token belongs to the span that holds at least half of it.

    Args:
        spans: start, end, polarity, topic of each term; None: the source marks no terms, and teaches nothing of them.
    """
    topics = [IGNORED] * len(starts)
    if spans is None:
        return [IGNORED] * len(starts), topics
    marks = [0] * len(starts)
    for start, end, polarity, topic in spans:
        letter = "B"
        for at, (left, right) in enumerate(zip(starts, ends, strict=True)):
            if right > left and 2 * (min(right, end) - max(left, start)) >= right - left:
                marks[at] = MARKS.index(f"{letter}-{polarity}")
                topics[at] = IGNORED if topic is None else TOPICS.index(topic)
                letter = "I"
    return marks, topics


def fit(reader: Reader, examples: Sequence[Example], *, seed: int, epochs: int, rate: float, batch: int) -> None:
    """Train; the rate rises over the first twentieth and falls to nothing."""
    began, random_source, device = time.monotonic(), random.Random(seed), device_here()  # noqa: S311 - an order, no secret
    torch.manual_seed(seed)
    optimizer = torch.optim.AdamW(reader.parameters(), lr=rate, weight_decay=0.01)
    steps = epochs * -(-len(examples) // batch)
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (0.05 * steps + 1), max(0.0, 1 - step / steps))
    )
    reader.train()
    for epoch in range(epochs):
        total = 0.0
        for members in batches(examples, batch, random_source):
            with autocast(device):
                loss = loss_of(reader, members, random_source, device)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            plan.step()
            optimizer.zero_grad()
            total += float(loss.detach())
        print(
            f"epoch {epoch + 1}: loss {total * batch / len(examples):.3f}, {time.monotonic() - began:.0f} s", flush=True
        )
    reader.eval()


def batches(examples: Sequence[Example], size: int, random_source: random.Random) -> Iterator[list[Example]]:
    """Yield the examples in batches of similar length, in a new order each time."""
    order = random_source.sample(examples, len(examples))
    together = size * _SORTED_TOGETHER
    chunks = (
        sorted(order[at : at + together], key=lambda example: len(example.ids)) for at in range(0, len(order), together)
    )
    found = [chunk[at : at + size] for chunk in chunks for at in range(0, len(chunk), size)]
    random_source.shuffle(found)
    return iter(found)


def loss_of(reader: Reader, members: Sequence[Example], random_source: random.Random, device: str) -> Any:
    """Return the loss of a batch; tags are dropped at random."""
    shown = [
        [example.ids[0], tag_id("no_tag") if random_source.random() < NO_TAG_SHARE else example.tag, *example.ids[2:]]
        for example in members
    ]
    ids = padded(shown, PAD, device)
    marks, topics, label = reader(ids, ids != PAD, padded([example.classes for example in members], 0, device))
    wanted = torch.tensor([example.label for example in members], device=device)
    return (
        mean_loss(marks.flatten(0, 1), padded([example.marks for example in members], IGNORED, device).flatten())
        + SIDE_LOSS
        * mean_loss(topics.flatten(0, 1), padded([example.topics for example in members], IGNORED, device).flatten())
        + SIDE_LOSS * mean_loss(label, wanted)
    )


def mean_loss(logits: Any, wanted: Any) -> Any:
    """Return the mean cross entropy of what teaches something; zero if nothing does."""
    total = functional.cross_entropy(logits.float(), wanted, ignore_index=IGNORED, reduction="sum")
    return total / (wanted != IGNORED).sum().clamp(min=1)


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
                ids = padded([window.ids for window in members], PAD, device)
                logits = reader(ids, ids != PAD, padded([window.classes for window in members], 0, device))
                marks, topics, label = (torch.softmax(part.float(), -1).cpu().numpy() for part in logits)
                for row, window in enumerate(members):
                    length = len(window.ids)
                    outputs.append(Output(marks[row, :length], topics[row, :length], label[row]))
        return outputs

    return answers


if __name__ == "__main__":
    main()
