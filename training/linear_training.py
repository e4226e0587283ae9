"""Fits a multinomial logistic model with an L2 penalty and stores it as small whole numbers."""

import base64
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from episodic_absa.backends.embedded.model.linear_model import Feature

_STEPS: Final = 127


def fit_linear(
    rows: Sequence[Sequence[Feature]],
    labels: Sequence[str],
    classes: Sequence[str],
    *,
    penalty: float,
    min_count: int,
    iterations: int = 60,
    shares: Sequence[float] | None = None,
) -> bytes:
    """Return the bytes of the model's file. The same rows in the same order give the same bytes."""
    counts = Counter(name for row in rows for name in {name for name, _ in row})
    names = sorted(name for name, count in counts.items() if count >= min_count)
    matrix = _matrix(rows, {name: at for at, name in enumerate(names)})
    wanted = np.zeros((len(rows), len(classes)))
    wanted[np.arange(len(rows)), [classes.index(label) for label in labels]] = 1.0
    weights = _minimise(matrix, wanted, penalty, iterations, np.ones(len(rows)) if shares is None else np.array(shares))
    return stored_model(names, classes, weights)


def stored_model(names: Sequence[str], classes: Sequence[str], weights: Any) -> bytes:
    """Round weights to whole steps, leave out features that round to zero, and compress."""
    # Only differences between classes matter: what all classes of a feature share is subtracted.
    weights = weights - weights.mean(axis=1, keepdims=True)
    scale = float(f"{np.abs(weights).max() / _STEPS:.6g}") or 1.0
    steps = np.rint(weights / scale).astype(int)
    kept = np.abs(steps).max(axis=1) >= 1
    # One string of bytes is read many times faster than a list of numbers per feature.
    stored = {
        "classes": list(classes),
        "scale": scale,
        "names": [name for name, is_kept in zip(names, kept, strict=True) if is_kept],
        "steps": base64.b64encode(steps[kept].astype(np.int8).tobytes()).decode(),
    }
    content = json.dumps(stored, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return gzip.compress(content.encode(), mtime=0)


def _matrix(rows: Sequence[Sequence[Feature]], columns: dict[str, int]) -> Any:
    starts, indices, values = [0], [], []
    for row in rows:
        for name, value in row:
            column = columns.get(name)
            if column is not None:
                indices.append(column)
                values.append(value)
        starts.append(len(indices))
    return csr_matrix((np.array(values), np.array(indices, dtype=int), np.array(starts)), (len(rows), len(columns)))


def _minimise(matrix: Any, wanted: Any, penalty: float, iterations: int, shares: Any) -> Any:
    turned = matrix.T.tocsr()
    shape = (matrix.shape[1], wanted.shape[1])

    def loss(flat: Any) -> tuple[float, Any]:
        weights = flat.reshape(shape)
        scores = matrix @ weights
        scores -= scores.max(axis=1, keepdims=True)
        likely = np.exp(scores)
        totals = likely.sum(axis=1, keepdims=True)
        errors = (likely / totals - wanted) * shares[:, None]
        surprise = -(shares * ((scores * wanted).sum(axis=1) - np.log(totals[:, 0]))).sum()
        slope = turned @ errors + penalty * weights
        return float(surprise + 0.5 * penalty * (flat @ flat)), slope.ravel()

    found = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return found.x.reshape(shape)
