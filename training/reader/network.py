"""The reader's network: MiniLM's body under any vocabulary, with heads for terms, the label of a text and topics."""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from reading import LABELS, MARKS, TOPICS
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

LAYER_NORM_EPSILON: Final = 1e-12
CLASS_LETTERS: Final = "-NnJjVvEeXxMmSs"
"""Classes of morphemes, upper case where one begins (pack.py)."""
IGNORED: Final = -100
"""The target of what teaches nothing."""


class Shape(NamedTuple):
    """The sizes of a network; stored beside its weights."""

    vocabulary: int
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 257
    slots: int = 1
    """Letters of a token that are marked apart; 1: a token is marked as a whole."""


class Layer(nn.Module):
    """One layer of BERT: attention, then a feed-forward part, each added and normalised."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query_key_value = nn.Linear(shape.width, 3 * shape.width)
        self.mixed = nn.Linear(shape.width, shape.width)
        self.mixed_norm = nn.LayerNorm(shape.width, eps=LAYER_NORM_EPSILON)
        self.inner = nn.Linear(shape.width, shape.inner)
        self.outer = nn.Linear(shape.inner, shape.width)
        self.outer_norm = nn.LayerNorm(shape.width, eps=LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Any, mask: Any) -> Any:
        """Return the next states. The mask is True where a token stands."""
        rows, length, width = states.shape
        split = self.query_key_value(states).view(rows, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = None if mask is None else mask[:, None, None, :]
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        mixed = self.mixed(mixed.transpose(1, 2).reshape(rows, length, width))
        states = self.mixed_norm(states + self.dropout(mixed))
        inner = self.outer(functional.gelu(self.inner(states)))
        normed: Any = self.outer_norm(states + self.dropout(inner))
        return normed


class Encoder(nn.Module):
    """Turns tokens into one state each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.places = nn.Embedding(shape.positions, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        for embedding in (self.words, self.places):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, ids: Any, mask: Any = None, first_place: Any = 0) -> Any:
        """Return the states. Pre-training moves `first_place`, so that it meets every place of a text."""
        places = torch.arange(ids.shape[1], device=ids.device) + first_place
        states = self.words(ids) + self.places(places)
        states = self.dropout(self.norm(states))
        for layer in self.layers:
            states = layer(states, mask)
        return states


class Reader(nn.Module):
    """Marks terms with their polarity and topic, and labels the text."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.encoder = Encoder(shape)
        self.marks = nn.Linear(shape.width, shape.slots * len(MARKS))
        self.topics = nn.Linear(shape.width, len(TOPICS))
        self.label = nn.Linear(shape.width, len(LABELS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Any, mask: Any = None) -> tuple[Any, Any, Any]:
        """Return the logits of the marks of every slot, of the topic of every token and of the label of every text."""
        return self.heads(self.encoder(ids, mask))

    def heads(self, states: Any) -> tuple[Any, Any, Any]:
        """Return the logits of states."""
        states = self.dropout(states)
        marks = self.marks(states).unflatten(-1, (self.encoder.shape.slots, len(MARKS)))
        return marks, self.topics(states), self.label(states[:, 0])


class MaskedReader(nn.Module):
    """Guesses hidden tokens and names the classes of morphemes: what pre-training trains the encoder with."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.encoder = Encoder(shape)
        self.transform = nn.Linear(shape.width, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=LAYER_NORM_EPSILON)
        self.bias = nn.Parameter(torch.zeros(shape.vocabulary))
        self.classes = nn.Linear(shape.width, shape.slots * len(CLASS_LETTERS))

    def forward(self, ids: Any, hidden: Any, first_place: Any) -> tuple[Any, Any]:
        """Return the logits at the hidden places, given by their numbers in the flattened batch, and of all classes.

        The classes are those of letters: rows x tokens x slots.
        """
        states = self.encoder(ids, first_place=first_place)
        asked = states.reshape(-1, states.shape[-1])[hidden]
        guessed = self.norm(functional.gelu(self.transform(asked)))
        return functional.linear(guessed, self.encoder.words.weight, self.bias), self.classes(states).unflatten(
            -1, (self.encoder.shape.slots, len(CLASS_LETTERS))
        )


def device_here() -> str:
    """Return the name of the device to train on."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def save_weights(module: nn.Module, shape: Shape, path: Path, *, half: bool = True) -> None:
    """Write the weights, by default in half precision, with the shape of the network."""
    kept = {
        name: (tensor.detach().half() if half else tensor.detach().float()).cpu().contiguous()
        for name, tensor in module.state_dict().items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(kept, path, metadata={"shape": json.dumps(shape._asdict())})


def load_weights(path: Path) -> tuple[dict[str, Any], Shape]:
    """Return weights in single precision and their shape."""
    with safe_open(path, framework="pt") as stored:
        shape = Shape(**json.loads(stored.metadata()["shape"]))
        return {name: stored.get_tensor(name).float() for name in stored.keys()}, shape  # noqa: SIM118 - no dict


def start_from(encoder: Encoder, weights: dict[str, Any]) -> list[str]:
    """Copy what fits of an encoder's weights, and return the names of what did not: it starts anew."""
    own = encoder.state_dict()
    taken = {name.removeprefix("encoder."): tensor for name, tensor in weights.items()}
    taken = {name: tensor for name, tensor in taken.items() if name in own and own[name].shape == tensor.shape}
    encoder.load_state_dict(taken, strict=False)
    return sorted(own.keys() - taken.keys())


def minilm_weights(stored: dict[str, Any], sources: list[list[int]] | None, shape: Shape) -> dict[str, Any]:
    """Return MiniLM's weights under our names.

    Args:
        sources: for each entry of the vocabulary the old ones whose mean it starts from; None: no word is taken.
    """
    first, rest = "embeddings.", "encoder.layer."
    weights = {
        # One type of text alone is read: its vector joins those of the places.
        "places.weight": stored[first + "position_embeddings.weight"][: shape.positions]
        + stored[first + "token_type_embeddings.weight"][0],
        "norm.weight": stored[first + "LayerNorm.weight"],
        "norm.bias": stored[first + "LayerNorm.bias"],
    }
    if sources is not None:
        words = stored[first + "word_embeddings.weight"]
        weights["words.weight"] = torch.stack([words[old].mean(0) for old in sources])
    names = {
        "attention.output.dense": "mixed",
        "attention.output.LayerNorm": "mixed_norm",
        "intermediate.dense": "inner",
        "output.dense": "outer",
        "output.LayerNorm": "outer_norm",
    }
    for at in range(shape.layers):
        for end in ("weight", "bias"):
            parts = [stored[f"{rest}{at}.attention.self.{part}.{end}"] for part in ("query", "key", "value")]
            weights[f"layers.{at}.query_key_value.{end}"] = torch.cat(parts)
            for old, new in names.items():
                weights[f"layers.{at}.{new}.{end}"] = stored[f"{rest}{at}.{old}.{end}"]
    return weights
