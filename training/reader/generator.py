"""Writes Korean reviews of the kinds that train the reader: a language model that has read them writes more of them.

python training/reader/generator.py PACK.json.xz MODEL.gguf OUT.json [--texts 60000] [--epochs 2] [--seconds 90]
    [--write-seconds 150] [--together 1024] [--layers N] [--most N]

The model learns the training texts as text, each behind its tag, and then writes new ones behind the same tags. Nobody
marks them by hand: a teacher does (teacher.py). OUT grows while it writes and is whole at any time.
"""

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any, Final

import torch
from evaluate import read_pack
from finetune import autocast
from network import device_here
from qwen import Qwen, load_qwen, load_tokenizer, output_weights
from tokenizers import Tokenizer
from torch.nn import functional

SHARES: Final = {"everyday": 0.5, "coursera": 0.08, "food": 0.1, "hotel": 0.1, "phone": 0.12, "sight": 0.1}
LONGEST: Final = 120
LIKELIEST: Final = 0.95
"""Of the next tokens those are written that hold so much of the probability together."""
_TOLD_EVERY: Final = 15.0


def main() -> None:
    """Read, then write."""
    parser = argparse.ArgumentParser(description="Write Korean reviews.")
    for name in ("pack", "model", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--texts", type=int, default=60_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--write-seconds", type=float, default=150.0)
    parser.add_argument("--together", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=1e-5)
    parser.add_argument("--layers", type=int, help="the first layers alone, to try things out")
    parser.add_argument("--most", type=int, help="texts to learn, to try things out")
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.model)
    body = load_qwen(given.model, device_here(), layers=given.layers)
    words = output_weights(given.model, device_here())
    rows = [row for row in read_pack(given.pack)["ko"]["train"] if row["corpus"] in SHARES]
    rows = rows[:: -(-len(rows) // (given.most or len(rows)))]
    end = tokenizer.encode("\n").ids[0]
    read(
        body,
        words,
        [
            [*begun(tokenizer, row["corpus"]), *tokenizer.encode(row["text"].replace("\n", " ")).ids, end]
            for row in rows
        ],
        given,
    )
    write(body.to(torch.bfloat16), words, tokenizer, {row["text"] for row in rows}, given)


def begun(tokenizer: Tokenizer, tag: str) -> list[int]:
    """Return what stands before a text."""
    return list(tokenizer.encode(f"[{tag}] ").ids)


def read(body: Qwen, words: Any, texts: list[list[int]], given: argparse.Namespace) -> None:
    """Learn to guess the next token of texts."""
    device, began = device_here(), time.monotonic()
    body.token_embd.weight.requires_grad_(requires_grad=False)
    weights = [weight for weight in body.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=given.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=device == "cuda")
    size, random_source = 48, random.Random(1)  # noqa: S311 - an order, no secret
    steps = given.epochs * -(-len(texts) // size)
    body.train()
    step, progress, total, told_at = 0, 0.0, torch.zeros((), device=device), began
    while progress < 1:
        order = random_source.sample(texts, len(texts))
        for at in range(0, len(order), size):
            progress = max(step / steps, (time.monotonic() - began) / given.seconds)
            if progress >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = given.rate * min(max(20 * progress, 1 / steps), 1 - progress)
            ids = torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(text[: 2 * LONGEST]) for text in order[at : at + size]],
                batch_first=True,
                padding_value=-1,
            ).to(device)
            seen = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=device).tril()
            wanted = ids[:, 1:].flatten()
            with autocast(device):
                states = body(ids.clamp(min=0), seen)[:, :-1].flatten(0, 1)[wanted >= 0]
                loss = functional.cross_entropy((states.to(words.dtype) @ words.T).float(), wanted[wanted >= 0])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step, total = step + 1, 0.95 * total + 0.05 * loss.detach() if step else loss.detach()
            if time.monotonic() - told_at > _TOLD_EVERY:
                told_at = time.monotonic()
                print(f"read: step {step} of {steps}, loss {float(total):.3f}", flush=True)
    print(f"read: {step} steps of {steps}, loss {float(total):.3f}, {time.monotonic() - began:.0f} s", flush=True)
    del optimizer
    for weight in weights:
        weight.grad = None
    if device == "cuda":
        torch.cuda.empty_cache()


@torch.no_grad()
def write(body: Qwen, words: Any, tokenizer: Tokenizer, known: set[str], given: argparse.Namespace) -> None:
    """Write texts until there are enough, or the time is over."""
    began, random_source = time.monotonic(), random.Random(2)  # noqa: S311 - a choice, no secret
    body.eval()
    found: dict[str, str] = {}
    while len(found) < given.texts and time.monotonic() - began < given.write_seconds:
        tags = random_source.choices(list(SHARES), list(SHARES.values()), k=given.together)
        tags.sort()
        for tag, text in zip(tags, continued(body, words, tokenizer, tags), strict=True):
            if is_review(text) and text not in known:
                found.setdefault(text, tag)
        draft = given.out.with_suffix(".part")
        draft.write_text(json.dumps([{"text": text, "tag": tag} for text, tag in found.items()], ensure_ascii=False))
        draft.rename(given.out)
        print(f"wrote {len(found)} texts, {time.monotonic() - began:.0f} s", flush=True)
    for text, tag in random_source.sample(sorted(found.items()), min(24, len(found))):
        print(f"  [{tag}] {text}", flush=True)
    given.out.with_suffix(".done").touch()


def is_review(text: str) -> bool:
    """Return whether a text is worth reading: mostly Hangul, neither a scrap nor broken bytes."""
    letters = sum(not letter.isspace() for letter in text)
    hangul = sum("가" <= letter <= "힣" for letter in text)
    return letters >= 4 and hangul * 2 >= letters and "\ufffd" not in text


def continued(body: Qwen, words: Any, tokenizer: Tokenizer, tags: list[str]) -> list[str]:
    """Return one text behind each tag. Tags have different lengths: the shorter begin with ends of lines."""
    end = tokenizer.encode("\n").ids[0]
    starts = [begun(tokenizer, tag) for tag in tags]
    first = max(map(len, starts))
    device = device_here()
    ids = torch.tensor([[end] * (first - len(start)) + start for start in starts], device=device)
    is_token = torch.tensor([[False] * (first - len(start)) + [True] * len(start) for start in starts], device=device)
    length = first + LONGEST
    seen = torch.cat([is_token, torch.ones(len(tags), LONGEST, dtype=torch.bool, device=device)], 1)
    sizes = body.sizes
    each = sizes.width // sizes.heads
    kept = [
        [torch.zeros(len(tags), sizes.shared_heads, length, each, device=device, dtype=torch.bfloat16) for _ in "kv"]
        for _ in body.blk
    ]
    places = (seen.cumsum(1) - 1).clamp(min=0)
    triangle = torch.ones(first, first, dtype=torch.bool, device=device).tril()
    # A token that is none sees itself: without that its states are no numbers.
    mask = (triangle & seen[:, None, :first]) | torch.eye(first, dtype=torch.bool, device=device)
    next_ids = _next(body, words, ids, places[:, :first], mask[:, None], kept, 0)
    written = [next_ids]
    ended = next_ids == end
    for at in range(first, length - 1):
        next_ids = _next(
            body, words, next_ids[:, None], places[:, at : at + 1], seen[:, None, None, : at + 1], kept, at
        )
        next_ids = torch.where(ended, end, next_ids)
        written.append(next_ids)
        ended |= next_ids == end
        if at % 8 == 0 and bool(ended.all()):
            break
    rows = torch.stack(written, 1).tolist()
    whole = [row[: row.index(end)] if end in row else [] for row in rows]  # a text without an end is cut off
    return [tokenizer.decode(row).strip() for row in whole]


def _next(body: Qwen, words: Any, ids: Any, places: Any, mask: Any, kept: Any, at: int) -> Any:
    """Return a next token for each row, drawn from the likeliest."""
    turn = body.turns(places)
    states = body.token_embd(ids)
    for block, of_block in zip(body.blk, kept, strict=True):
        states = block(states, turn, mask, of_block, at)
    logits = (body.output_norm(states[:, -1]) @ words.T).float()
    likeliest = logits.topk(200)
    shares = likeliest.values.softmax(-1)
    shares = shares.masked_fill(shares.cumsum(-1) - shares > LIKELIEST, 0)
    return likeliest.indices.gather(1, torch.multinomial(shares, 1))[:, 0]


if __name__ == "__main__":
    main()
