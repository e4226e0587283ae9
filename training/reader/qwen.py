"""A language model of the Qwen2 family out of a GGUF file, as a network to fine-tune: every weight, any mask.

Only the teacher of the Korean reader uses it (teacher.py, generator.py); nothing of it is shipped.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from gguf import GGUFReader
from tokenizers import AddedToken, Regex, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

_KERNELS: Final = [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Not the one of cuDNN: the losses of a first session became no numbers, and its way back under a mask is suspected."""
_SPLIT: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class Sizes(NamedTuple):
    """The sizes of a model."""

    layers: int
    width: int
    inner: int
    heads: int
    shared_heads: int
    base: float
    epsilon: float


class Normed(nn.Module):
    """Root-mean-square normalisation."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, states: Any) -> Any:
        """Return states of length one, scaled."""
        return functional.rms_norm(states.float(), self.weight.shape, self.weight.float(), self.epsilon).to(
            states.dtype
        )


class Block(nn.Module):
    """One layer: attention, then a gated feed-forward part, each added."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        width, each = sizes.width, sizes.width // sizes.heads
        self.sizes, self.each = sizes, each
        self.attn_norm, self.ffn_norm = Normed(width, sizes.epsilon), Normed(width, sizes.epsilon)
        self.attn_q = nn.Linear(width, width)
        self.attn_k = nn.Linear(width, sizes.shared_heads * each)
        self.attn_v = nn.Linear(width, sizes.shared_heads * each)
        self.attn_output = nn.Linear(width, width, bias=False)
        self.ffn_gate = nn.Linear(width, sizes.inner, bias=False)
        self.ffn_up = nn.Linear(width, sizes.inner, bias=False)
        self.ffn_down = nn.Linear(sizes.inner, width, bias=False)

    def forward(self, states: Any, turn: Any, mask: Any, kept: Any = None, at: int = 0) -> Any:
        """Return the next states.

        Args:
            kept: keys and values of earlier tokens, to which those of this one are added at `at`.
        """
        rows, length, width = states.shape
        normed = self.attn_norm(states)
        query = turned(self.attn_q(normed).view(rows, length, -1, self.each).transpose(1, 2), turn)
        key = turned(self.attn_k(normed).view(rows, length, -1, self.each).transpose(1, 2), turn)
        value = self.attn_v(normed).view(rows, length, -1, self.each).transpose(1, 2)
        if kept is not None:
            kept[0][:, :, at : at + length], kept[1][:, :, at : at + length] = key, value
            key, value = kept[0][:, :, : at + length], kept[1][:, :, : at + length]
        times = self.sizes.heads // self.sizes.shared_heads
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
        with sdpa_kernel(_KERNELS):
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        states = states + self.attn_output(mixed.transpose(1, 2).reshape(rows, length, width))
        normed = self.ffn_norm(states)
        return states + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


class Qwen(nn.Module):
    """The body of the model."""

    def __init__(self, sizes: Sizes, vocabulary: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.token_embd = nn.Embedding(vocabulary, sizes.width)
        self.blk = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.output_norm = Normed(sizes.width, sizes.epsilon)

    def turns(self, places: Any) -> Any:
        """Return cosines and sines that turn queries and keys by their places (rows x tokens)."""
        each = self.sizes.width // self.sizes.heads
        rates = self.sizes.base ** (-torch.arange(0, each, 2, device=places.device).float() / each)
        angles = places[..., None].float() * rates
        angles = torch.cat([angles, angles], -1)[:, None]
        return angles.cos(), angles.sin()

    def forward(self, ids: Any, mask: Any) -> Any:
        """Return the last states. The mask says which token sees which (rows x 1 x tokens x tokens, or broadcast)."""
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        turn = self.turns(places)
        states = self.token_embd(ids)
        if torch.is_autocast_enabled():
            states = states.to(torch.bfloat16)
        for block in self.blk:
            # Layers are computed again on the way back: their states would take more memory than the weights.
            states = (
                checkpoint(block, states, turn, mask, use_reentrant=False)
                if self.training
                else block(states, turn, mask)
            )
        return self.output_norm(states)


def turned(states: Any, turn: Any) -> Any:
    """Return queries or keys turned by their places."""
    cosine, sine = turn
    first, second = states.chunk(2, -1)
    swapped = torch.cat([-second, first], -1)
    return (states * cosine + swapped * sine).to(states.dtype)


@cache
def opened(path: Path) -> GGUFReader:
    """Return an open file; to open it takes seconds."""
    return GGUFReader(path)


def load_qwen(path: Path, device: str, *, layers: int | None = None, dtype: Any = torch.float32) -> Qwen:
    """Return the model of a GGUF file in full precision, its first layers alone if asked."""
    reader = opened(path)

    def number(name: str) -> Any:
        return reader.fields[f"qwen2.{name}"].contents()

    sizes = Sizes(
        layers or number("block_count"),
        number("embedding_length"),
        number("feed_forward_length"),
        number("attention.head_count"),
        number("attention.head_count_kv"),
        number("rope.freq_base"),
        number("attention.layer_norm_rms_epsilon"),
    )
    stored = {tensor.name: tensor for tensor in reader.tensors}
    with torch.device("meta"):
        model = Qwen(sizes, int(stored["token_embd.weight"].shape[1]))
    wanted = model.state_dict()
    model.load_state_dict(
        {name: dequantised(stored[name], device).reshape(shaped.shape).to(dtype) for name, shaped in wanted.items()},
        assign=True,
    )
    return model


def output_weights(path: Path, device: str) -> Any:
    """Return the weights that turn last states into logits of the next token."""
    reader = opened(path)
    tensor = next(tensor for tensor in reader.tensors if tensor.name == "output.weight")
    return dequantised(tensor, device).reshape(-1, int(tensor.shape[0])).to(torch.bfloat16)


def dequantised(tensor: Any, device: str) -> Any:
    """Return the numbers of a stored tensor as one row."""
    raw = torch.from_numpy(np.array(tensor.data).view(np.uint8).reshape(-1)).to(device)
    kind = tensor.tensor_type.name
    if kind == "F32":
        return raw.view(torch.float32)
    if kind == "Q4_K":
        return _q4_k(raw.view(-1, 144))
    if kind == "Q6_K":
        return _q6_k(raw.view(-1, 210))
    raise SystemExit(f"{tensor.name} is stored as {kind}, which is not known here")


def _q4_k(blocks: Any) -> Any:
    """256 numbers in 144 bytes: two scales, eight scales and minima of six bits, numbers of four bits."""
    scale, least = blocks[:, :4].contiguous().view(torch.float16).float().split(1, 1)
    packed = blocks[:, 4:16].int()
    low, high, both = packed[:, :4], packed[:, 4:8], packed[:, 8:12]
    scales = torch.cat([low & 63, (both & 15) | ((low >> 6) << 4)], 1)
    minima = torch.cat([high & 63, (both >> 4) | ((high >> 6) << 4)], 1)
    pairs = blocks[:, 16:].reshape(-1, 4, 1, 32)
    numbers = torch.cat([pairs & 15, pairs >> 4], 2).reshape(-1, 8, 32).float()
    return ((scale * scales)[:, :, None] * numbers - (least * minima)[:, :, None]).reshape(-1)


def _q6_k(blocks: Any) -> Any:
    """256 numbers in 210 bytes: four low bits, two high bits, sixteen scales of one byte, one scale of all."""
    low = blocks[:, :128].reshape(-1, 2, 1, 64)
    low = torch.cat([low & 15, low >> 4], 2).reshape(-1, 2, 4, 32)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32)
    high = torch.cat([(high >> shift) & 3 for shift in (0, 2, 4, 6)], 2)
    numbers = (low.int() | (high.int() << 4)) - 32
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float()
    scale = blocks[:, 208:210].contiguous().view(torch.float16).float()
    return ((scale * scales)[:, :, None] * numbers.reshape(-1, 16, 16).float()).reshape(-1)


def load_tokenizer(path: Path) -> Tokenizer:
    """Return the tokeniser of a GGUF file: pairs of bytes. It is kept beside the file."""
    kept = path.with_suffix(".tokenizer.json")
    if kept.exists():
        return Tokenizer.from_file(str(kept))
    reader = opened(path)
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(merge.split(" ")) for merge in reader.fields["tokenizer.ggml.merges"].contents()]
    kinds = reader.fields["tokenizer.ggml.token_type"].contents()
    tokenizer = Tokenizer(BPE({token: at for at, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.save(str(kept.with_suffix(".part")), pretty=False)
    kept.with_suffix(".part").rename(kept)
    return tokenizer
