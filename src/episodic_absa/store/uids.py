"""Uids as a store holds them: a user's own id may be a whole review, and no text may enter a store."""

from hashlib import blake2b
from typing import Final

_LONGEST_ID: Final = 64
_MOST_LETTERS_BEYOND_ASCII: Final = 12


def stored_uid(uid: str) -> str:
    """Return an id as it is, and the hash of one that looks like text: with white space, long, or mostly in Korean.

    A store stores by this, and finds by this: users name their own uid.

    Example:
        >>> stored_uid("order-2026-0117"), stored_uid("the soup was cold")
        ('order-2026-0117', 'uid_8a43e0b2ea921d8242d00ff3a4caa6ab')
    """
    beyond_ascii_n = 0 if uid.isascii() else sum(not sign.isascii() for sign in uid)
    if len(uid) <= _LONGEST_ID and beyond_ascii_n <= _MOST_LETTERS_BEYOND_ASCII and not any(map(str.isspace, uid)):
        return uid
    return f"uid_{blake2b(_bytes(uid), digest_size=16).hexdigest()}"


def uid_hash(uid: str) -> int:
    """Return 64 bits that stand for a uid in columns, the same in every process; equal hashes count as one uid.

    Example:
        >>> uid_hash("review-1")
        3667581170250473073
    """
    return int.from_bytes(blake2b(_bytes(stored_uid(uid)), digest_size=8).digest(), "little", signed=True)


def _bytes(uid: str) -> bytes:
    # A uid that a caller asks about may hold half a surrogate pair; no stored one does.
    return uid.encode("utf-8", "surrogatepass")
