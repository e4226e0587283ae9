"""The part of a signature by which cases count as similar."""

from typing import NamedTuple

from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.vocabulary import Structure


class SignatureKey(NamedTuple):
    """The part of a signature that retrieval compares."""

    language: str
    structures: tuple[Structure, ...]
    length_bucket: str
    num_aspects: int

    @classmethod
    def of(cls, signature: InputSignatureV1_1) -> "SignatureKey":
        """Return the key of a signature."""
        return cls(signature.language, signature.detected_structure, signature.length_bucket, signature.num_aspects)

    def overlap(self, other: "SignatureKey") -> int:
        """Return the number of shared structure tags, plus 1 each for the same length bucket and aspect count."""
        shared = sum(structure in other.structures for structure in self.structures)
        return shared + (self.length_bucket == other.length_bucket) + (self.num_aspects == other.num_aspects)

    def admits(self, entry: "SignatureKey") -> bool:
        """Return whether an entry shares a structure with this query, or has the tag `none`."""
        return "none" in entry.structures or any(tag in entry.structures for tag in self.structures)
