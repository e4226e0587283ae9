"""The teacher of the Korean reader: a language model, fine-tuned to mark letters, that says what it sees in texts.

python training/reader/teacher.py train PACK.json.xz MODEL.gguf OUT [--leave-out CORPUS] [--epochs 3] [--seconds S]
    [--layers N] [--film 5000] [--rate 3e-5] [--tokens 2048] [--seed 1] [--most N]
python training/reader/teacher.py teach PACK.json.xz MODEL.gguf OUT.npz TEACHER.pt [MORE.pt ...] [--reviews FILE]
    [--texts GENERATED.json ...] [--from 0] [--most N]

`train` sees both ways (no token is hidden from another), learns from the texts of both languages and writes OUT.pt and
OUT.readings.jsonl.gz, its readings of the Korean dev texts. `teach` writes what the mean of some teachers says of the
Korean training texts, or of reviews and generated texts; the states are those of the first teacher. A text that
belongs to no corpus is read under the everyday tag or none, in turn.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from evaluate import TAU, line_of, own_tag, read_pack, scores, tags_of, told
from finetune import NO_TAG_SHARE, SIDE_LOSS, autocast, mean_loss, targets_of
from network import IGNORED, device_here
from qwen import Qwen, load_qwen, load_tokenizer
from reading import LABELS, MARKS, TOPICS, Encoded, Output, letters_of, read_from, write_lines
from taught import Taught, write_taught
from tokenizers import Tokenizer
from torch import nn
from vocabularies import review_lines

SLOTS: Final = 6
"""Letters of a token that are marked apart; the last slot marks all further ones."""
LONGEST: Final = 400
"""Tokens of a text that are learnt from; of a text that is read, twice as many."""
STATES: Final = 128
"""Numbers that are left of a state."""
HEADS_RATE: Final = 20.0
"""How much faster the heads learn than the model."""
MOST_SKIPPED: Final = 0.02
"""The share of steps that may be left out because their gradient is not finite."""
_TOLD_EVERY: Final = 15.0
_FRAMES: dict[str, tuple[list[int], list[int]]] = {}


class Asked(NamedTuple):
    """A text as the teacher reads it."""

    ids: list[int]
    letters: Any
    """Of each letter: token, slot, start, end."""


class Learnt(NamedTuple):
    """A text as the teacher learns it: read under its tag and without one."""

    tagged: Asked
    untagged: Asked
    marks: Any
    topics: Any
    label: int


class Teacher(nn.Module):
    """The model, with heads for letters, topics and the label of a text."""

    def __init__(self, body: Qwen) -> None:
        super().__init__()
        self.body = body
        width = body.sizes.width
        self.marks = nn.Linear(width, SLOTS * len(MARKS))
        self.topics = nn.Linear(width, len(TOPICS))
        self.label = nn.Linear(width, len(LABELS))
        self.kept: Any = None
        """The states at two thirds of the way, from the last text that was read."""
        middle = body.blk[max(0, 2 * len(body.blk) // 3 - 1)]
        middle.register_forward_hook(self._keep)

    def _keep(self, _: Any, __: Any, states: Any) -> None:
        self.kept = states.detach() if not torch.is_grad_enabled() else None

    def forward(self, ids: Any, is_token: Any) -> tuple[Any, Any, Any]:
        """Return the logits of the marks of all slots, of topics and of labels."""
        states = self.body(ids, is_token[:, None, None, :])
        marks = self.marks(states).unflatten(-1, (SLOTS, len(MARKS)))
        last = is_token.sum(1) - 1
        return marks, self.topics(states), self.label(states[torch.arange(len(ids), device=ids.device), last])


def main() -> None:
    """Train a teacher, or let teachers say what they see."""
    parser = argparse.ArgumentParser(description="Train a teacher, or let teachers say what they see.")
    parser.add_argument("what", choices=("train", "teach"))
    for name in ("pack", "model", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("teachers", type=Path, nargs="*")
    parser.add_argument("--leave-out", metavar="CORPUS")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9, help="it ends after so long, whatever it has done")
    parser.add_argument("--layers", type=int, help="the first layers alone")
    parser.add_argument("--film", type=int, default=5000, help="texts whose label alone is known")
    parser.add_argument("--languages", nargs="+", default=["ko", "en"])
    parser.add_argument("--rate", type=float, default=3e-5)
    parser.add_argument("--tokens", type=int, default=2048, help="tokens of a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="texts, to try things out")
    parser.add_argument("--reviews", type=Path)
    parser.add_argument("--texts", type=Path, nargs="+", default=[])
    parser.add_argument("--from", dest="first", type=int, default=0, help="the review to begin with")
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.model)
    packed = read_pack(given.pack)
    if given.what == "train":
        body = load_qwen(given.model, device_here(), layers=given.layers)
        teacher = Teacher(body).to(device_here())
        learnt = learnt_texts(packed, tokenizer, given)
        print(f"{given.out.name}: {len(learnt)} texts", flush=True)
        fit(teacher, learnt, given)
        teacher.to(torch.bfloat16)
        save(teacher, given.out.with_suffix(".pt"))
        read_dev(teacher, tokenizer, packed["ko"]["dev"], given.out, given.leave_out)
        return
    rows = rows_to_teach(packed, given)
    taught = teach(rows, tokenizer, [load(path, given.model) for path in given.teachers])
    write_taught(taught, given.out)
    print(f"{given.out}: {len(rows)} texts, {given.out.stat().st_size:,} bytes", flush=True)


def save(teacher: Teacher, path: Path) -> None:
    """Write the weights, but for the words: they stay as they were."""
    kept = {name: weight for name, weight in teacher.state_dict().items() if "token_embd" not in name}
    torch.save({"layers": len(teacher.body.blk), "weights": kept}, path.with_suffix(".part"))
    path.with_suffix(".part").rename(path)


def load(path: Path, model: Path) -> Teacher:
    """Return a stored teacher."""
    stored = torch.load(path, map_location=device_here())
    body = load_qwen(model, device_here(), layers=stored["layers"], dtype=torch.bfloat16)
    teacher: Teacher = Teacher(body).to(device_here()).to(torch.bfloat16)
    teacher.load_state_dict(stored["weights"], strict=False)
    teacher.eval()
    return teacher


def letters_in(text: str, tokenizer: Tokenizer, longest: int) -> Asked:
    """Return the tokens of a text alone, and its letters."""
    encoding = tokenizer.encode(text)
    ids, offsets = encoding.ids[:longest], encoding.offsets[:longest]
    tokens = Encoded(ids, [start for start, _ in offsets], [end for _, end in offsets])
    # Several tokens may share a letter of many bytes: the last one has seen all of it.
    of_start = {letter[2]: letter for letter in letters_of(text, tokens, SLOTS)}
    return Asked(ids, np.array([of_start[start] for start in sorted(of_start)], dtype=np.int64).reshape(-1, 4))


def under_tag(text: Asked, tag: str, tokenizer: Tokenizer) -> Asked:
    """Return a text as the teacher reads it: the tag, the text, the end of a line."""
    before, end = _frame(tag, tokenizer)
    return Asked([*before, *text.ids, *end], text.letters + np.array([len(before), 0, 0, 0]))


def _frame(tag: str, tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    if tag not in _FRAMES:
        _FRAMES[tag] = tokenizer.encode(f"[{tag}] ").ids, tokenizer.encode("\n").ids
    return _FRAMES[tag]


def asked_text(text: str, tag: str, tokenizer: Tokenizer, longest: int) -> Asked:
    """Return a text under a tag."""
    return under_tag(letters_in(text, tokenizer, longest), tag, tokenizer)


def learnt_texts(packed: dict[str, Any], tokenizer: Tokenizer, given: argparse.Namespace) -> list[Learnt]:
    """Return the training texts, without a corpus that is left out in both languages."""
    rows = []
    for language in given.languages:
        of_language = [row for row in packed[language]["train"] if row["corpus"] != given.leave_out]
        film = [row for row in of_language if "spans" not in row]
        rows += [row for row in of_language if "spans" in row] + film[:: max(1, len(film) // given.film)]
    rows = rows[:: -(-len(rows) // (given.most or len(rows)))]
    found = []
    for row in rows:
        plain = letters_in(row["text"], tokenizer, LONGEST)
        tagged, untagged = (under_tag(plain, tag, tokenizer) for tag in (row["corpus"], "no_tag"))
        if len(tagged.letters):
            marks = topics = np.full(len(tagged.letters), IGNORED, dtype=np.int8)
            if row.get("spans") is not None:
                marks, topics = targets_of(tagged.letters[:, 2], tagged.letters[:, 3], row["spans"])
            label = IGNORED if row["label"] is None else LABELS.index(row["label"])
            found.append(Learnt(tagged, untagged, marks, topics, label))
    return found


def batches(lengths: Sequence[int], tokens: int, random_source: random.Random | None) -> Iterator[list[int]]:
    """Yield the numbers of texts in batches of at most so many tokens, padding counted in; in a new order if asked."""
    order = list(range(len(lengths)))
    if random_source:
        random_source.shuffle(order)
        parts = [order[at : at + 2000] for at in range(0, len(order), 2000)]
        order = [number for part in parts for number in sorted(part, key=lambda number: lengths[number])]
    else:
        order.sort(key=lambda number: lengths[number])
    found: list[list[int]] = [[]]
    for number in order:
        longest = max([lengths[number], *(lengths[other] for other in found[-1][:1] + found[-1][-1:])])
        if found[-1] and longest * (len(found[-1]) + 1) > tokens:
            found.append([])
        found[-1].append(number)
    if random_source:
        random_source.shuffle(found)
    return iter(found)


def padded(rows: Sequence[Asked]) -> tuple[Any, Any, Any]:
    """Return the ids and which of them are tokens, and of all letters the row, token and slot."""
    # A length that kernels like: they are quickest, and best tried, where a mask is aligned.
    length, device = -8 * (-max(len(row.ids) for row in rows) // 8), device_here()
    ids = np.zeros((len(rows), length), dtype=np.int64)
    is_token = np.zeros((len(rows), length), dtype=bool)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = row.ids
        is_token[at, : len(row.ids)] = True
    numbers = np.repeat(np.arange(len(rows)), [len(row.letters) for row in rows])
    letters = np.column_stack([numbers, np.concatenate([row.letters[:, :2] for row in rows])])
    return torch.tensor(ids, device=device), torch.tensor(is_token, device=device), torch.tensor(letters, device=device)


def fit(teacher: Teacher, learnt: Sequence[Learnt], given: argparse.Namespace) -> None:
    """Train all but the words; the rate rises over the first twentieth and falls to nothing."""
    began, random_source, device = time.monotonic(), random.Random(given.seed), device_here()  # noqa: S311
    torch.manual_seed(given.seed)
    teacher.body.token_embd.weight.requires_grad_(requires_grad=False)
    body = [weight for name, weight in teacher.named_parameters() if name.startswith("body.") and weight.requires_grad]
    heads = [weight for name, weight in teacher.named_parameters() if not name.startswith("body.")]
    optimizer = torch.optim.AdamW(
        [{"params": body, "times": 1.0}, {"params": heads, "times": HEADS_RATE}],
        lr=given.rate,
        weight_decay=0.01,
        betas=(0.9, 0.98),
        fused=device == "cuda",
    )
    lengths = [len(text.tagged.ids) for text in learnt]
    steps = given.epochs * sum(1 for _ in batches(lengths, given.tokens, random.Random(0)))  # noqa: S311
    teacher.train()
    step, skipped, progress, total, told_at, seen = 0, 0, 0.0, torch.zeros((), device=device), began, 0
    while progress < 1:
        for numbers in batches(lengths, given.tokens, random_source):
            progress = max(step / steps, (time.monotonic() - began) / given.seconds)
            if progress >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = given.rate * group["times"] * min(max(20 * progress, 1 / steps), 1 - progress)
            members = [learnt[number] for number in numbers]
            shown = [text.untagged if random_source.random() < NO_TAG_SHARE else text.tagged for text in members]
            with autocast(device):
                loss = loss_of(teacher, members, shown)
            loss.backward()
            if bool(torch.nn.utils.clip_grad_norm_([*body, *heads], 1.0).isfinite()):
                optimizer.step()
                total = loss.detach() if step == 0 else 0.97 * total + 0.03 * loss.detach()
            else:  # one such step would make every weight no number
                skipped += 1
                if skipped > MOST_SKIPPED * steps:
                    raise SystemExit(f"{given.out.name}: {skipped} of {step + 1} steps had no finite gradient")
            optimizer.zero_grad(set_to_none=True)
            step, seen = step + 1, seen + sum(lengths[number] for number in numbers)
            now = time.monotonic()
            if now - told_at > _TOLD_EVERY:
                told_at = now
                speed = seen / (now - began)
                print(
                    f"{given.out.name}: step {step} of {steps}, loss {float(total):.3f}, {speed:,.0f} tokens/s",
                    flush=True,
                )
    took = time.monotonic() - began
    print(f"{given.out.name}: {step} steps, {skipped} left out, loss {float(total):.3f}, {took:.0f} s", flush=True)
    teacher.eval()


def loss_of(teacher: Teacher, members: Sequence[Learnt], shown: Sequence[Asked]) -> Any:
    """Return the loss of a batch."""
    ids, is_token, letters = padded(shown)
    marks, topics, label = teacher(ids, is_token)
    row, token, slot = letters.unbind(1)

    def wanted(arrays: Any) -> Any:
        return torch.tensor(np.concatenate(arrays), device=ids.device).long()

    return (
        mean_loss(marks[row, token, slot], wanted([text.marks for text in members]))
        + SIDE_LOSS * mean_loss(topics[row, token], wanted([text.topics for text in members]))
        + SIDE_LOSS * mean_loss(label, torch.tensor([text.label for text in members], device=ids.device))
    )


class Seen(NamedTuple):
    """What a teacher says of one text."""

    marks: Any
    topics: Any
    label: Any
    states: Any
    """At every token that holds a letter."""


@torch.no_grad()
def see(teacher: Teacher, asked: Sequence[Asked], *, with_states: bool = False, tokens: int = 16_384) -> list[Seen]:
    """Return what a teacher says of texts."""
    found: dict[int, Seen] = {}
    for numbers in batches([len(text.ids) for text in asked], tokens, None):
        members = [asked[number] for number in numbers]
        ids, is_token, letters = padded(members)
        with autocast(device_here()):
            marks, topics, label = teacher(ids, is_token)
        row, token, slot = letters.unbind(1)
        of_letters = marks[row, token, slot].float().softmax(-1).half().cpu().numpy()
        topic = topics[row, token].float().softmax(-1).half().cpu().numpy()
        labels = label.float().softmax(-1).half().cpu().numpy()
        kept = teacher.kept.half().cpu().numpy() if with_states else None
        at = 0
        for place, (number, text) in enumerate(zip(numbers, members, strict=True)):
            own = slice(at, at + len(text.letters))
            states = None if kept is None else kept[place, : len(text.ids)]
            found[number] = Seen(of_letters[own], topic[own], labels[place], states)
            at += len(text.letters)
    return [found[number] for number in range(len(asked))]


def read_dev(
    teacher: Teacher, tokenizer: Tokenizer, rows: Sequence[dict[str, Any]], out: Path, leave_out: str | None
) -> None:
    """Write and score what the teacher reads in the Korean dev texts."""
    lines = []
    for row in rows:
        if leave_out in (None, own_tag(row["corpus"])):
            lines += [(row, tag) for tag in (tags_of(row["corpus"]) if leave_out is None else ("no_tag", "everyday"))]
    asked = [asked_text(row["text"], tag, tokenizer, 2 * LONGEST) for row, tag in lines]
    found = []
    for (row, tag), text, seen in zip(lines, asked, see(teacher, asked), strict=True):
        places = Encoded(text.ids, text.letters[:, 2].tolist(), text.letters[:, 3].tolist())
        output = Output(seen.marks.astype(np.float32), seen.topics.astype(np.float32), seen.label.astype(np.float32))
        found.append(line_of(row, tag, read_from(row["text"], places, output)))
    write_lines(found, out.with_suffix(".readings.jsonl.gz"))
    for figures in scores({row["uid"]: row for row in rows}, [found], [1.0], TAU):
        print(out.name, told(figures), flush=True)


def rows_to_teach(packed: dict[str, Any], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the texts and tags to be marked: generated ones and reviews, or else the training texts in their order."""
    if not given.texts and not given.reviews:
        return [{"text": row["text"], "tag": row["corpus"]} for row in packed["ko"]["train"]][: given.most]
    rows = [row for path in given.texts for row in json.loads(path.read_text(encoding="utf-8"))]
    rows = [row for row in rows if row["tag"] != given.leave_out]
    if given.reviews:
        reviews = [text for text in review_lines(given.reviews) if len(text) > 3]
        random.Random(1).shuffle(reviews)  # noqa: S311
        chosen = reviews[given.first :][: given.most]
        rows += [{"text": text, "tag": ("everyday", "no_tag")[at % 2]} for at, text in enumerate(chosen)]
    return rows


def teach(rows: list[dict[str, Any]], tokenizer: Tokenizer, teachers: Sequence[Teacher]) -> Taught:
    """Return what the mean of some teachers says of texts."""
    began = time.monotonic()
    marks, topics, labels, tokens, states, places = [], [], [], [], [], [0]
    reduce: Any = None
    base = 0
    for at in range(0, len(rows), 20_000):
        part = rows[at : at + 20_000]
        asked = [asked_text(row["text"], row["tag"], tokenizer, 2 * LONGEST) for row in part]
        seen = [see(teacher, asked, with_states=number == 0) for number, teacher in enumerate(teachers)]
        if reduce is None:
            reduce = reduction(np.concatenate([text.states[3:-1] for text in seen[0][:2000]]))
        for number, (row, text) in enumerate(zip(part, asked, strict=True)):
            length = len(row["text"])
            of_text = np.zeros((length, len(MARKS)), dtype=np.float16)
            topic, token = np.zeros(length, dtype=np.int8), np.zeros(length, dtype=np.int32)
            letters = text.letters[:, 2]
            of_text[letters] = np.mean([say[number].marks for say in seen], axis=0)
            topic[letters] = np.mean([say[number].topics for say in seen], axis=0).argmax(-1)
            token[letters] = text.letters[:, 0] + base
            marks.append(of_text)
            topics.append(topic)
            tokens.append(token)
            labels.append(np.mean([say[number].label for say in seen], axis=0))
            base += len(text.ids)
            places.append(places[-1] + length)
        states.append(reduce(np.concatenate([text.states for text in seen[0]])))
        print(f"{at + len(part)} of {len(rows)} texts, {time.monotonic() - began:.0f} s", flush=True)
    return Taught(
        rows,
        np.array(places[:-1]),
        np.concatenate(marks),
        np.concatenate(topics),
        np.array(labels, dtype=np.float16),
        np.concatenate(tokens),
        np.concatenate(states),
    )


def reduction(states: Any) -> Any:
    """Return a function that reduces states to what varies most in some of them."""
    states = torch.tensor(states, device=device_here()).float()
    mean, spread = states.mean(0), states.std(0).clamp(min=1e-4)
    scaled = (states - mean) / spread
    _, directions = torch.linalg.eigh(scaled.T @ scaled / len(scaled))
    directions = directions[:, -STATES:]
    size = (scaled @ directions).square().mean().sqrt()

    def reduced(rows: Any) -> Any:
        parts = [
            (((torch.tensor(rows[at : at + 50_000], device=mean.device).float() - mean) / spread) @ directions / size)
            .clamp(-30, 30)
            .half()
            .cpu()
            .numpy()
            for at in range(0, len(rows), 50_000)
        ]
        return np.concatenate(parts)

    return reduced


if __name__ == "__main__":
    main()
