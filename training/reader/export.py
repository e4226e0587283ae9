"""Writes a fine-tuned reader as an ONNX file with weights of one byte, and compares it with the float network.

python training/reader/export.py READER.safetensors TOKENIZER.json OUT_FOLDER [--bits 8]
    [--check PACK.json.xz LANGUAGE]

Weights alone are rounded (one scale for each column, or each word); the runtime multiplies in single precision. So no
scale depends on what else is read.
"""

import argparse
import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from evaluate import read_pack
from exported import NETWORK, TOKENIZER, load_exported
from finetune import answers_of
from network import LAYER_NORM_EPSILON, Reader, Shape, load_weights
from onnx import TensorProto, helper, numpy_helper
from reading import MARKS, SURE, Read, read_texts, tag_id

_OPSET: Final = 17
_IR_VERSION: Final = 9


def main() -> None:
    """Export, and compare if asked."""
    parser = argparse.ArgumentParser(description="Write a fine-tuned reader as an ONNX file.")
    for name in ("reader", "tokenizer", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--bits", type=int, default=8, help="of a weight; fewer make a smaller file")
    parser.add_argument("--check", nargs=2, metavar=("PACK", "LANGUAGE"))
    given = parser.parse_args()
    weights, shape = load_weights(given.reader)
    export(weights, shape, given.tokenizer, given.out, given.bits)
    print(given.out / NETWORK, (given.out / NETWORK).stat().st_size, "bytes")
    if given.check:
        reader = Reader(shape)
        reader.load_state_dict(weights)
        print(json.dumps(compared(reader, given.out, read_pack(Path(given.check[0]))[given.check[1]]["dev"])))


def export(weights: dict[str, Any], shape: Shape, tokenizer: Path, out: Path, bits: int = 8) -> None:
    """Write the network and its tokeniser into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    network = network_of(arrays, shape, bits).SerializeToString(deterministic=True)
    (out / NETWORK).write_bytes(gzip.compress(network, mtime=0))
    shutil.copyfile(tokenizer, out / TOKENIZER)


def compared(reader: Reader, folder: Path, rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return how far the exported reader is from the float one on some texts, and from itself in other company."""
    tokenizer, exported = load_exported(folder)
    texts = [row["text"] for row in rows]
    tag = tag_id("no_tag")
    exact = read_texts(texts, tokenizer, answers_of(reader), tag)
    small = read_texts(texts, tokenizer, exported, tag)
    alone = [read_texts([text], tokenizer, exported, tag)[0] for text in texts]
    gaps = [
        abs(pair.p - other.p)
        for read, twin in zip(exact, small, strict=True)
        for pair in read.pairs
        for other in twin.pairs
        if pair[:3] == other[:3]
    ]
    return {
        "texts": len(texts),
        "other_pairs": sum(_sure(read) != _sure(twin) for read, twin in zip(exact, small, strict=True)),
        "other_labels": sum(read.label != twin.label for read, twin in zip(exact, small, strict=True)),
        "mean_gap_of_p": round(float(np.mean(gaps or [0])), 4),
        "largest_gap_of_p": round(float(np.max(gaps or [0])), 4),
        "other_when_alone": sum(read != twin for read, twin in zip(small, alone, strict=True)),
    }


def _sure(read: Read) -> list[tuple[int, int, str]]:
    return [pair[:3] for pair in read.pairs if pair.p >= SURE]


class _Graph:
    """A graph under construction: every method adds nodes and returns the name of what they give."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.nodes: list[Any] = []
        self.stored: list[Any] = []

    def constant(self, array: Any) -> str:
        name = f"c{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, kind: str, *given: str, name: str = "", **attributes: Any) -> str:
        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(given), [name], **attributes))
        return name

    def looked_up(self, table: Any, at: str) -> str:
        """Rows of a table of bytes, each row with its own scale."""
        small, scale = rounded(table, axis=1, bits=self.bits)
        rows = self.add("Cast", self.add("Gather", self.constant(small), at), to=TensorProto.FLOAT)
        return self.add("Mul", rows, self.add("Gather", self.constant(scale), at))

    def linear(self, states: str, weight: Any, bias: Any) -> str:
        """A linear part; the runtime turns its bytes into numbers once, when it loads the file."""
        small, scale = rounded(weight.T, axis=0, bits=self.bits)
        wide = self.add("Mul", self.add("Cast", self.constant(small), to=TensorProto.FLOAT), self.constant(scale))
        return self.add("Add", self.add("MatMul", states, wide), self.constant(bias))

    def normed(self, states: str, weight: Any, bias: Any) -> str:
        given = (states, self.constant(weight), self.constant(bias))
        return self.add("LayerNormalization", *given, axis=-1, epsilon=LAYER_NORM_EPSILON)

    def gelu(self, states: str) -> str:
        half, one, root = (self.constant(np.float32(number)) for number in (0.5, 1.0, np.sqrt(2.0)))
        share = self.add("Add", self.add("Erf", self.add("Div", states, root)), one)
        return self.add("Mul", self.add("Mul", states, share), half)


def rounded(array: Any, axis: int, bits: int) -> tuple[Any, Any]:
    """Return an array as whole numbers of so many bits, and the scale of each row (axis 1) or column (axis 0)."""
    most = 2 ** (bits - 1) - 1
    scale = np.maximum(np.abs(array).max(axis=axis, keepdims=True), 1e-12).astype(np.float32) / most
    return np.rint(array / scale).astype(np.int8), scale


def network_of(weights: dict[str, Any], shape: Shape, bits: int = 8) -> Any:
    """Return the network as an ONNX model: ids of texts of one length in, probabilities out."""
    graph = _Graph(bits)
    states = _embedded(graph, weights)
    for at in range(shape.layers):
        prefix = f"encoder.layers.{at}."
        layer = {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}
        states = _layer(graph, states, layer, shape)
    first = graph.add("Gather", states, graph.constant(np.int64(0)), axis=1)
    for name, given in (("marks", states), ("topics", states), ("label", first)):
        logits = graph.linear(given, weights[f"{name}.weight"], weights[f"{name}.bias"])
        if name == "marks" and shape.slots > 1:
            sizes = graph.constant(np.array([0, 0, shape.slots, len(MARKS)], dtype=np.int64))
            logits = graph.add("Reshape", logits, sizes)
        graph.add("Softmax", logits, axis=-1, name=name)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "reader",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "tokens"])],
            [
                helper.make_tensor_value_info(
                    "marks",
                    TensorProto.FLOAT,
                    ["texts", "tokens", None] if shape.slots == 1 else ["texts", "tokens", None, None],
                ),
                helper.make_tensor_value_info("topics", TensorProto.FLOAT, ["texts", "tokens", None]),
                helper.make_tensor_value_info("label", TensorProto.FLOAT, ["texts", None]),
            ],
            graph.stored,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    onnx.checker.check_model(model)
    return model


def _embedded(graph: _Graph, weights: dict[str, Any]) -> str:
    length = graph.add("Gather", graph.add("Shape", "ids"), graph.constant(np.int64(1)))
    places = graph.add("Range", graph.constant(np.int64(0)), length, graph.constant(np.int64(1)))
    states = graph.looked_up(weights["encoder.words.weight"], "ids")
    states = graph.add("Add", states, graph.looked_up(weights["encoder.places.weight"], places))
    return graph.normed(states, weights["encoder.norm.weight"], weights["encoder.norm.bias"])


def _layer(graph: _Graph, states: str, layer: dict[str, Any], shape: Shape) -> str:
    split = graph.linear(states, layer["query_key_value.weight"], layer["query_key_value.bias"])
    sizes = graph.constant(np.array([0, 0, 3, shape.heads, shape.width // shape.heads], dtype=np.int64))
    split = graph.add("Transpose", graph.add("Reshape", split, sizes), perm=[2, 0, 3, 1, 4])
    query, key, value = (graph.add("Gather", split, graph.constant(np.int64(part)), axis=0) for part in range(3))
    likeness = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    root = graph.constant(np.float32(np.sqrt(shape.width // shape.heads)))
    mixed = graph.add("MatMul", graph.add("Softmax", graph.add("Div", likeness, root), axis=-1), value)
    mixed = graph.add("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", mixed, graph.constant(np.array([0, 0, shape.width], dtype=np.int64)))
    mixed = graph.linear(mixed, layer["mixed.weight"], layer["mixed.bias"])
    states = graph.normed(graph.add("Add", states, mixed), layer["mixed_norm.weight"], layer["mixed_norm.bias"])
    inner = graph.gelu(graph.linear(states, layer["inner.weight"], layer["inner.bias"]))
    outer = graph.linear(inner, layer["outer.weight"], layer["outer.bias"])
    return graph.normed(graph.add("Add", states, outer), layer["outer_norm.weight"], layer["outer_norm.bias"])


if __name__ == "__main__":
    main()
