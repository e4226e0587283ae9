"""Pre-trains an encoder on plain Korean text. One piece of work of at most so many minutes.

python training/reader/pretrain.py REVIEWS.txt.gz PACK.json.xz TOKENIZER.json BODY.safetensors OUT.safetensors
    [--classes CLASSES.txt.xz] [--minutes 20] [--steps N] [--batch 512] [--window 128] [--rate 1e-3] [--compile]

The encoder guesses hidden words. With --classes (one line a review, written by classes.py) it also names the class of
the morpheme at every letter: so it learns what the analyser knows, which is not asked at run time. REVIEWS holds one
text a line (.gz, .xz or plain); the Korean training texts of the pack join them. The rate falls with the steps or with
the time, whichever is farther, so that a machine lent for some minutes ends with a finished encoder; with --steps and
enough minutes the same seed repeats the same training. OUT is written in half precision, every three minutes and at
the end.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from evaluate import read_pack
from finetune import autocast, mean_loss
from network import CLASS_LETTERS, IGNORED, MaskedReader, device_here, load_weights, save_weights, start_from
from reading import END, MASK, RESERVED, START, WINDOW, Encoded, letters_of, tag_id
from tokenizers import Tokenizer
from torch.nn import functional
from vocabularies import SLOTS, lines_of, review_lines

HIDDEN: Final = 0.2
"""The share of tokens that is hidden."""
OWN_TIMES: Final = 3
"""How often the texts of the pack stand among the reviews: they are few and of the kinds that are to be read."""
CLASS_LOSS: Final = 0.3
"""What the classes of morphemes weigh beside the hidden tokens."""
_SAVED_EVERY: Final = 180.0
_TOLD_EVERY: Final = 20.0
_ENCODED_AT_ONCE: Final = 20_000


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
    classes = [""] * len(texts)
    if given.classes:
        classes = [*review_lines(given.classes)[: given.most], *(row["classes"] for row in own)]
    stream = token_stream(texts, given.tokenizer, classes)
    print(f"{len(stream):,} tokens", flush=True)
    torch.manual_seed(given.seed)
    weights, shape = load_weights(given.body)
    weights = {name: tensor for name, tensor in weights.items() if name != "words.weight"}  # another vocabulary
    model = MaskedReader(shape._replace(vocabulary=tokenizer.get_vocab_size(), positions=WINDOW + 3, slots=SLOTS))
    print(f"{', '.join(start_from(model.encoder, weights)) or 'nothing'} starts anew", flush=True)
    pretrain(
        model.to(device_here()),
        stream,
        words_begin(tokenizer),
        given.out,
        seconds=given.minutes * 60,
        steps=given.steps,
        batch=given.batch,
        window=given.window,
        rate=given.rate,
        is_compiled=given.compile,
    )


def token_stream(texts: Sequence[str], tokenizer: Path, classes: Sequence[str]) -> Any:
    """Return a row for each token of all texts, one after the other, each text with a last token.

    A row holds the token and the classes of its letters.
    """
    parts = [
        (texts[at : at + _ENCODED_AT_ONCE], classes[at : at + _ENCODED_AT_ONCE])
        for at in range(0, len(texts), _ENCODED_AT_ONCE)
    ]
    with ProcessPoolExecutor() as pool:
        return np.concatenate(list(pool.map(partial(encoded_part, tokenizer), *zip(*parts, strict=True))))


def encoded_part(path: Path, texts: Sequence[str], classes: Sequence[str]) -> Any:
    """Return the rows of some texts."""
    rows = []
    for encoding, text, of_text in zip(
        Tokenizer.from_file(str(path)).encode_batch(texts, add_special_tokens=False), texts, classes, strict=True
    ):
        of_tokens = np.full((len(encoding.ids) + 1, 1 + SLOTS), IGNORED, dtype=np.int16)
        of_tokens[:, 0] = [*encoding.ids, END]
        if of_text:
            starts, ends = ([place[end] for place in encoding.offsets] for end in (0, 1))
            tokens = Encoded(encoding.ids, starts, ends)
            for token, slot, start, _ in letters_of(text, tokens, SLOTS):
                of_tokens[token, 1 + slot] = CLASS_LETTERS.index(of_text[start]) if start < len(of_text) else IGNORED
        rows.append(of_tokens)
    return np.concatenate(rows)


def words_begin(tokenizer: Tokenizer) -> Any:
    """Return for each token of the vocabulary whether a word or a sign begins there."""
    names = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    return torch.tensor([not name[:1].isalpha() for name in names])


def pretrain(
    model: MaskedReader,
    stream: Any,
    begins: Any,
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
    begins = begins.to(device)
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
        shown, hidden = hide(ids, begins[ids])
        # A tensor: a number would be compiled in, and the network compiled anew for each.
        place = torch.tensor(first_place(step, shape.positions - window), device=device)
        with autocast(device):
            logits, named = guess(shown, hidden, place)
            loss = functional.cross_entropy(logits.float(), ids.flatten()[hidden])
            total = loss + CLASS_LOSS * mean_loss(named.flatten(0, 2), classes.flatten())
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
    rows = torch.tensor(stream, device=device)
    along = torch.arange(length, device=device)
    frame = torch.tensor([START, tag_id("no_tag")], device=device).expand(batch, -1)
    last = torch.full((batch, 1), END, device=device)
    none = torch.full((batch, 1, SLOTS), IGNORED, device=device)
    count = len(stream)
    if count < 2 * length:
        raise SystemExit(f"only {count} tokens to learn from; a window holds {length}")
    while True:
        shift = int(torch.randint(length, ()))
        starts = torch.randperm((count - shift) // length) * length + shift
        for at in range(0, max(1, len(starts) - batch + 1), batch):
            chosen = starts[at : at + batch]
            if len(chosen) < batch:  # fewer windows than a batch: some stand in it twice
                chosen = starts[torch.randint(len(starts), (batch,))]
            found = rows[chosen.to(device)[:, None] + along].long()
            yield (
                torch.cat([frame, found[..., 0], last], 1),
                torch.cat([none, none, found[..., 1:], none], 1),
            )


def hide(ids: Any, begins: Any) -> tuple[Any, Any]:
    """Return the ids with a fifth hidden, whole words and often neighbours, and their places in the flattened batch.

    Of the hidden ones eight in ten are masked, one is another token, one stays.
    """
    noise = torch.rand(ids.shape, device=ids.device)
    noise = noise + 0.7 * torch.roll(noise, 1, dims=1)
    noise = noise.gather(1, (begins.cumsum(1) - 1).clamp(min=0))
    noise[ids < len(RESERVED)] = -1.0
    hidden = torch.topk(noise.flatten(), int(HIDDEN * ids.numel()), sorted=False).indices
    kind = torch.rand(hidden.shape, device=ids.device)
    shown = ids.flatten().clone()
    other = shown[hidden[torch.randperm(len(hidden), device=ids.device)]]
    kept = torch.where(kind < 0.9, other, shown[hidden])
    shown[hidden] = torch.where(kind < 0.8, MASK, kept)
    return shown.view(ids.shape), hidden


if __name__ == "__main__":
    main()
