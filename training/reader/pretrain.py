"""Pre-trains an encoder on plain Korean text. One piece of work of at most so many minutes.

python training/reader/pretrain.py REVIEWS.txt.gz PACK.json.xz TOKENIZER.json BODY.safetensors OUT.safetensors
    [--classes CLASSES.txt.xz] [--minutes 20] [--steps N] [--batch 512] [--window 128] [--rate 1e-3] [--compile]

The encoder guesses hidden tokens. With --classes (one line a review, written by classes.py) whole morphemes are hidden,
and the encoder also names the class of every morpheme: so it learns what the analyser knows, which is not asked at run
time. REVIEWS holds one text a line (.gz, .xz or plain); the Korean training texts of the pack join them. The rate falls
with the steps or with the time, whichever is farther, so that a machine lent for some minutes ends with a finished
encoder; with --steps and enough minutes the same seed repeats the same training. OUT is written in half precision,
every three minutes and at the end.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from evaluate import read_pack
from finetune import autocast
from network import MaskedReader, device_here, load_weights, save_weights, start_from
from reading import CLASS_LETTERS, END, MASK, RESERVED, START, WINDOW, tag_id
from tokenizers import Tokenizer
from torch.nn import functional
from vocabularies import lines_of, review_lines

HIDDEN: Final = 0.2
"""The share of tokens that is hidden."""
OWN_TIMES: Final = 3
"""How often the texts of the pack stand among the reviews: they are few and of the kinds that are to be read."""
CLASS_LOSS: Final = 0.3
"""What the classes of morphemes weigh beside the hidden tokens."""
_SAVED_EVERY: Final = 180.0
_TOLD_EVERY: Final = 20.0
_ENCODED_AT_ONCE: Final = 50_000


def main() -> None:
    """Pre-train and write the encoder."""
    parser = argparse.ArgumentParser(description="Pre-train an encoder on plain Korean text.")
    for name in ("reviews", "pack", "tokenizer", "body", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--classes", type=Path, help="the classes of the morphemes of the reviews")
    parser.add_argument("--minutes", type=float, default=20.0, help="it ends after so long, whatever it has done")
    parser.add_argument("--steps", type=int, default=10**9, help="it ends after so many steps")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--window", type=int, default=128, help="tokens in a row")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="reviews, to try things out")
    parser.add_argument(
        "--compile", action="store_true", help="compile the network first: a minute, then quicker steps"
    )
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    own = read_pack(given.pack)["ko"]["train"] * OWN_TIMES
    texts = [*review_lines(given.reviews)[: given.most], *lines_of(own)]
    classes = None
    if given.classes:
        classes = [*review_lines(given.classes)[: given.most], *(row["classes"] for row in own)]
    stream = token_stream(texts, tokenizer, classes)
    print(f"{stream.shape[1]:,} tokens", flush=True)
    torch.manual_seed(given.seed)
    weights, shape = load_weights(given.body)
    weights = {name: tensor for name, tensor in weights.items() if name != "words.weight"}  # another vocabulary
    model = MaskedReader(shape._replace(vocabulary=tokenizer.get_vocab_size(), positions=WINDOW + 3))
    print(f"{', '.join(start_from(model.encoder, weights)) or 'nothing'} starts anew", flush=True)
    pretrain(
        model.to(device_here()),
        stream,
        given.out,
        seconds=given.minutes * 60,
        steps=given.steps,
        batch=given.batch,
        window=given.window,
        rate=given.rate,
        is_compiled=given.compile,
    )


def token_stream(texts: Sequence[str], tokenizer: Tokenizer, classes: Sequence[str] | None) -> Any:
    """Return two rows: the tokens of all texts one after the other, each text with a last token, and their classes."""
    parts = []
    for at in range(0, len(texts), _ENCODED_AT_ONCE):
        encodings = tokenizer.encode_batch(texts[at : at + _ENCODED_AT_ONCE], add_special_tokens=False)
        for number, encoding in enumerate(encodings, at):
            part = np.zeros((2, len(encoding.ids) + 1), dtype=np.int32)
            part[0] = [*encoding.ids, END]
            of_text = classes[number] if classes is not None else ""
            if of_text:
                part[1, :-1] = [
                    CLASS_LETTERS.index(of_text[start]) if start < len(of_text) else 0 for start, _ in encoding.offsets
                ]
            parts.append(part)
    return np.concatenate(parts, axis=1)


def pretrain(
    model: MaskedReader,
    stream: Any,
    out: Path,
    *,
    seconds: float,
    steps: int,
    batch: int,
    window: int,
    rate: float,
    is_compiled: bool = False,
) -> float:
    """Train until the steps or the time are over, write the encoder and return the last mean loss."""
    device = device_here()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=device == "cuda"
    )
    guess = torch.compile(model) if is_compiled else model
    knows_classes = bool(stream[1].any())
    shape = model.encoder.shape
    model.train()
    began = saved = told = time.monotonic()
    mean = torch.zeros((), device=device)
    for step, (ids, classes) in enumerate(endless_windows(stream, batch, window - 3, device)):
        progress = max(step / steps, (time.monotonic() - began) / seconds)
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * min((step + 1) / min(500, 0.05 * steps + 1), 1 - progress)
        shown, hidden = hide(ids, classes if knows_classes else None, shape.vocabulary)
        # A tensor: a number would be compiled in, and the network compiled anew for each.
        place = torch.tensor(first_place(step, shape.positions - window), device=device)
        with autocast(device):
            logits, named = guess(shown, hidden, place)
            loss = functional.cross_entropy(logits.float(), ids.flatten()[hidden])
            total = loss
            if knows_classes:
                total = loss + CLASS_LOSS * functional.cross_entropy(named.float().flatten(0, 1), classes.flatten())
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach() if step == 0 else 0.95 * mean + 0.05 * loss.detach()
        now = time.monotonic()
        if now - told > _TOLD_EVERY:
            speed = (step + 1) * ids.numel() / (now - began)
            print(f"step {step + 1}: loss {float(mean):.3f}, {now - began:.0f} s, {speed:,.0f} tokens/s", flush=True)
            told = now
        if now - saved > _SAVED_EVERY:
            save_weights(model.encoder, shape, out)
            saved = now
    save_weights(model.encoder, shape, out)
    print(f"ended after {step} steps, {time.monotonic() - began:.0f} s: loss {float(mean):.3f}", flush=True)
    return float(mean)


def first_place(step: int, most: int) -> int:
    """Return where the windows of a step begin: every second one at the start, the others anywhere a text goes on."""
    return 0 if step % 2 == 0 else (step * 37) % (most + 1)


def endless_windows(stream: Any, batch: int, length: int, device: str) -> Iterator[tuple[Any, Any]]:
    """Yield batches of framed windows and their classes, each pass in a new order and from another first token."""
    tokens = torch.tensor(stream, device=device)
    along = torch.arange(length, device=device)
    frame = torch.tensor([START, tag_id("no_tag")], device=device).expand(batch, -1)
    last = torch.full((batch, 1), END, device=device)
    none = torch.zeros((batch, 1), dtype=torch.long, device=device)
    count = stream.shape[1]
    if count < 2 * length:
        raise SystemExit(f"only {count} tokens to learn from; a window holds {length}")
    while True:
        shift = int(torch.randint(length, ()))
        starts = torch.randperm((count - shift) // length) * length + shift
        for at in range(0, max(1, len(starts) - batch + 1), batch):
            chosen = starts[at : at + batch]
            if len(chosen) < batch:  # fewer windows than a batch: some stand in it twice
                chosen = starts[torch.randint(len(starts), (batch,))]
            ids, classes = tokens[:, chosen.to(device)[:, None] + along].long()
            yield torch.cat([frame, ids, last], 1), torch.cat([none, none, classes, none], 1)


def hide(ids: Any, classes: Any, vocabulary: int) -> tuple[Any, Any]:
    """Return the ids with a fifth hidden, often neighbours, and the hidden places in the flattened batch.

    With classes the tokens of a morpheme are hidden together. Of the hidden ones eight in ten are masked, one is
    another token, one stays.
    """
    noise = torch.rand(ids.shape, device=ids.device)
    noise = noise + 0.7 * torch.roll(noise, 1, dims=1)
    if classes is not None:
        # Odd classes are upper case: there a morpheme begins. 0 is a place between morphemes.
        is_first = (classes % 2 == 1) | (classes == 0)
        noise = noise.gather(1, (is_first.cumsum(1) - 1).clamp(min=0))
    noise[ids < len(RESERVED)] = -1.0
    hidden = torch.topk(noise.flatten(), int(HIDDEN * ids.numel()), sorted=False).indices
    kind = torch.rand(hidden.shape, device=ids.device)
    other = torch.randint(len(RESERVED), vocabulary, hidden.shape, device=ids.device)
    shown = ids.flatten().clone()
    kept = torch.where(kind < 0.9, other, shown[hidden])
    shown[hidden] = torch.where(kind < 0.8, MASK, kept)
    return shown.view(ids.shape), hidden


if __name__ == "__main__":
    main()
