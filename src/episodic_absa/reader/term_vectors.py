"""Vectors of terms without context: the mean over a term's word pieces, from a table of one byte a number."""

import io
from typing import Any

from episodic_absa.language import norm
from episodic_absa.reader.reading import LONE_SURROGATE, Array
from episodic_absa.reader.weights_folder import TERM_TOKENIZER, TOKENIZER, VECTORS, WeightsFolder


class TermVectors:
    """The table of a language."""

    def __init__(self, folder: WeightsFolder, language: str) -> None:
        import numpy as np
        from tokenizers import Tokenizer

        own = f"{language}/{TERM_TOKENIZER}"
        name = own if folder.holds(own) else f"{language}/{TOKENIZER}"
        self._tokenizer: Tokenizer = Tokenizer.from_str(folder.content(name).decode())
        with np.load(io.BytesIO(folder.content(f"{language}/{VECTORS}"))) as stored:
            self._pieces: Any = stored["pieces"]
            self._scale: Any = stored["scale"]

    def vector(self, term: str) -> Array:
        """Return the unit vector of a term; zeros if none of its pieces is known."""
        import numpy as np

        ids = self._tokenizer.encode(LONE_SURROGATE.sub("\ufffd", norm(term)), add_special_tokens=False).ids
        total: Array = (self._pieces[ids] * self._scale[ids, None]).sum(0, dtype=np.float32)
        length = float(np.linalg.norm(total))
        return total / length if length else total
