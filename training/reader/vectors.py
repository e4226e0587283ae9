"""Writes a table of word-piece vectors: the mean over a term's pieces tells which terms are alike, without an encoder.

python training/reader/vectors.py en TOKENIZER.json OUT.npz --start en.start.safetensors
python training/reader/vectors.py ko TOKENIZER.json OUT.npz --reviews REVIEWS.txt.gz --pack PACK.json.xz

English vectors are what MiniLM says of each piece alone, before it is fine-tuned. Korean ones come from how often
pieces stand near each other in reviews (positive mutual information, reduced). Both are `WIDTH` wide, of one byte a
number, with one scale a piece.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from evaluate import read_pack
from network import Encoder, load_weights
from reading import END, RESERVED, START
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import svds
from tokenizers import Tokenizer
from vocabularies import lines_of, own_and_reviews, review_lines

WIDTH: Final = 64
NEAR: Final = 4
"""How many pieces away a neighbour may stand."""
_AT_ONCE: Final = 512
_TEXTS_AT_ONCE: Final = 50_000


def main() -> None:
    """Write the table of one language."""
    parser = argparse.ArgumentParser(description="Write a table of word-piece vectors.")
    parser.add_argument("language", choices=("en", "ko"))
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--reviews", type=Path)
    parser.add_argument("--pack", type=Path)
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    if given.language == "en":
        if given.start is None:
            parser.error("English vectors need --start")
        weights, shape = load_weights(given.start)
        encoder = Encoder(shape)
        encoder.load_state_dict(weights)
        table = encoded_pieces(encoder)
    else:
        if given.reviews is None or given.pack is None:
            parser.error("Korean vectors need --reviews and --pack")
        own = list(lines_of(read_pack(given.pack)["ko"]["train"]))
        table = neighbour_vectors(own_and_reviews(own, review_lines(given.reviews)), tokenizer)
    write_table(table, given.out)
    print(given.out, given.out.stat().st_size, "bytes")


def encoded_pieces(encoder: Encoder) -> Any:
    """Return what an encoder says of each piece alone, reduced to the directions in which pieces differ most."""
    encoder.eval()
    found = []
    with torch.no_grad():
        for at in range(0, encoder.shape.vocabulary, _AT_ONCE):
            pieces = torch.arange(at, min(at + _AT_ONCE, encoder.shape.vocabulary))
            ids = torch.stack([torch.full_like(pieces, START), pieces, torch.full_like(pieces, END)], 1)
            found.append(encoder(ids).mean(1).numpy())
    states = np.concatenate(found)
    states = states - states[len(RESERVED) :].mean(0)
    _, _, directions = np.linalg.svd(states[len(RESERVED) :], full_matrices=False)
    return states @ directions[:WIDTH].T


def neighbour_vectors(texts: Sequence[str], tokenizer: Tokenizer) -> Any:
    """Return vectors of pieces that have the same neighbours, from positive mutual information."""
    size = tokenizer.get_vocab_size()
    counts = csr_matrix((size, size), dtype=np.float64)
    for at in range(0, len(texts), _TEXTS_AT_ONCE):
        encodings = tokenizer.encode_batch(texts[at : at + _TEXTS_AT_ONCE], add_special_tokens=False)
        counts = counts + _neighbours([encoding.ids for encoding in encodings], size)
    counts = (counts + counts.T).tocoo()
    near, total = np.asarray(counts.tocsr().sum(1)).ravel(), counts.sum()
    # Contexts are smoothed, as in word2vec: rare neighbours would say too much.
    context = near**0.75 / (near**0.75).sum()
    information = np.log(counts.data * total / (near[counts.row] * context[counts.col] * total))
    kept = information > 0
    matrix = coo_matrix((information[kept], (counts.row[kept], counts.col[kept])), shape=(size, size)).tocsr()
    left, values, _ = svds(matrix, k=WIDTH, random_state=1)
    vectors = left * np.sqrt(values)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    # What all pieces share, how rare they are, says nothing of likeness.
    return vectors - vectors[len(RESERVED) :].mean(0)


def _neighbours(texts: Iterable[Sequence[int]], size: int) -> Any:
    stream = np.array([piece for ids in texts for piece in (*ids, *[0] * NEAR)], dtype=np.int64)
    pairs = [(stream[:-step], stream[step:]) for step in range(1, NEAR + 1)]
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    real = (left >= len(RESERVED)) & (right >= len(RESERVED))
    return coo_matrix((np.ones(real.sum()), (left[real], right[real])), shape=(size, size)).tocsr()


def write_table(table: Any, path: Path) -> None:
    """Write a table of bytes with one scale a piece; what is no piece is zero."""
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    table[: len(RESERVED)] = 0.0
    scale = np.maximum(np.abs(table).max(1), 1e-9) / 127
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, pieces=np.rint(table / scale[:, None]).astype(np.int8), scale=scale.astype(np.float32))


def term_vector(path: Path, tokenizer: Tokenizer, term: str) -> Any:
    """Return the unit vector of a term; zeros if none of its pieces is known."""
    with np.load(path) as stored:
        ids = tokenizer.encode(term, add_special_tokens=False).ids
        mean = (stored["pieces"][ids] * stored["scale"][ids, None]).sum(0)
    length = float(np.linalg.norm(mean))
    return mean / length if length else mean


if __name__ == "__main__":
    main()
