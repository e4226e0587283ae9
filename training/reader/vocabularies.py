"""Makes the tokenisers: English word pieces cut to what is used, Korean characters or word pieces; emoji stay.

Every vocabulary begins with the special tokens and corpus tags of reading.py. A tokeniser is one JSON file of the
library `tokenizers`.
"""

import gzip
import json
import lzma
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from reading import RESERVED, SPECIAL, TAGS
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordPiece
from tokenizers.trainers import BpeTrainer, WordPieceTrainer

OWN_TIMES, REVIEWS_STEP = 5, 4
SLOTS: Final = 5
"""Letters of a Korean piece that are marked apart."""
"""Our own texts stand five times among every fourth review."""
_EMOJI: Final = "[\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u2b55]"
_INVISIBLE: Final = "[\u200b-\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]"
_REPEATED: Final = r"([^\d])(?=\1\1)"
_COMMON_EMOJI: Final = (
    *range(0x1F600, 0x1F650),
    *range(0x1F910, 0x1F930),
    *map(ord, "👌👍👎👏💔💕💖💩💯🔥🤮🥰🥲❤⭐⚠✅❌"),
)


def english_tokens(minilm: dict[str, Any], texts: Iterable[str], size: int) -> tuple[Tokenizer, list[list[int]]]:
    """Return MiniLM's tokeniser cut to `size` entries, and for each entry the old ids whose mean it starts from.

    Kept are single characters, pieces that the texts use, then the commonest others: BERT's list is sorted by
    frequency. An emoji, which MiniLM does not know, starts from the words of its Unicode name.

    Args:
        minilm: the content of its tokenizer.json.
    """
    known: dict[str, int] = minilm["model"]["vocab"]
    whole = Tokenizer.from_str(json.dumps({**minilm, "truncation": None, "padding": None}))
    seen: Counter[str] = Counter()
    emoji: Counter[str] = Counter(map(chr, _COMMON_EMOJI))
    for text in texts:
        seen.update(whole.encode(text, add_special_tokens=False).tokens)
        emoji.update(letter for letter in text if is_emoji(letter))
    new_emoji = [letter for letter in sorted(emoji) if letter not in known]
    pieces = [piece for piece in known if not piece.startswith("[unused") and piece not in SPECIAL]
    letters = [piece for piece in pieces if len(piece.removeprefix("##")) == 1 and piece.removeprefix("##").isascii()]
    used = [piece for piece, _ in seen.most_common() if piece in known and piece not in SPECIAL]
    room = max(0, size - len(RESERVED) - len(new_emoji))
    chosen = list(dict.fromkeys((*letters, *used, *pieces)))[:room]
    sources = [[known[name]] for name in SPECIAL] + [[known["[unused0]"]] for _ in TAGS]
    sources += [whole.encode(_name_of(letter), add_special_tokens=False).ids for letter in new_emoji]
    sources += [[known[piece]] for piece in chosen]
    vocabulary = {piece: at for at, piece in enumerate((*RESERVED, *new_emoji, *chosen))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106
    return _finished(tokenizer, normalizers.BertNormalizer(), _words()), sources


def korean_syllables(texts: Iterable[str], size: int) -> Tokenizer:
    """Return a tokeniser of pieces of at most five letters, the space before a word among them.

    An unknown letter is a piece of its own, so that every letter of a text can be marked.
    """
    apart = pre_tokenizers.Split(Regex(r"[\d\p{P}\p{S}&&[^▁]]"), "isolated")
    words = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), apart])
    tokenizer = _finished(Tokenizer(BPE(unk_token="[UNK]", fuse_unk=False)), normalizers.Lowercase(), words)  # noqa: S106
    trainer = BpeTrainer(
        vocab_size=size,
        special_tokens=list(RESERVED),
        limit_alphabet=2100,
        max_token_length=SLOTS,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def korean_pieces(texts: Iterable[str], size: int) -> Tokenizer:
    """Return a tokeniser of word pieces learnt from texts."""
    tokenizer = _finished(Tokenizer(WordPiece(unk_token="[UNK]")), normalizers.Lowercase(), _words())  # noqa: S106
    trainer = WordPieceTrainer(vocab_size=size, special_tokens=list(RESERVED), limit_alphabet=2500, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def is_emoji(letter: str) -> bool:
    """Return whether a character is an emoji or a dingbat."""
    return unicodedata.category(letter) == "So" and ord(letter) >= 0x2600 and bool(unicodedata.name(letter, ""))


def _finished(tokenizer: Tokenizer, letters: Any, pre_tokenizer: Any) -> Tokenizer:
    """Give a tokeniser the rules all share: no invisible characters, at most two equal ones in a row."""
    shared = [
        normalizers.NFC(),
        normalizers.Replace(Regex(_INVISIBLE), ""),
        normalizers.Replace(Regex(r"\s"), " "),
        normalizers.Replace(Regex(_REPEATED), ""),
    ]
    tokenizer.normalizer = normalizers.Sequence([*shared, letters])
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def _words() -> Any:
    emoji = pre_tokenizers.Split(Regex(_EMOJI), "isolated")
    return pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), emoji])


def _name_of(letter: str) -> str:
    return unicodedata.name(letter).lower().replace(" sign", "").replace(" face", "")


def own_and_reviews(own: list[str], reviews: list[str]) -> list[str]:
    """Return texts to learn words from: reviews are many and of films alone, our own few and of every kind."""
    return own * OWN_TIMES + reviews[::REVIEWS_STEP]


def lines_of(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the texts of packed rows."""
    return (row["text"] for row in rows)


def review_lines(path: Path) -> list[str]:
    """Return the lines of a file, compressed or not."""
    content = path.read_bytes()
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    return unpack(content).decode("utf-8").splitlines()
