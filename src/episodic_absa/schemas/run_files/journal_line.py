"""One line of journal.jsonl, which commits a sample, and the notes of a run that continues an earlier one."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel

STORE_KEY: Final = "store"
"""The store's key among the offsets, whatever its file is called."""
JOURNAL_KEY: Final = "journal.jsonl"
"""The journal's own key among the hashes."""


class FileState(FrozenModel):
    """A file up to some place."""

    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    """The first 16 characters of the hash of these bytes."""


class JournalLine(FrozenModel):
    """One committed sample: the size of every file after it. Without a store the line holds no key about one."""

    sample_index: Count
    uid: str
    offsets: dict[str, Count]
    """File name -> its size in bytes."""
    store_last_sha256: str | None = None
    """Hash of the store's last line; None for an empty store."""
    files: dict[str, FileState] | None = None
    """File name -> its state after the sample; of the journal, its state before this line. None in older runs."""

    @property
    def store_size(self) -> int | None:
        """The store's size in bytes; None without a store."""
        return self.offsets.get(STORE_KEY)

    @model_serializer(mode="wrap")
    def _store_if_any(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if self.store_size is None:
            del fields["store_last_sha256"]
        if self.files is None:
            del fields["files"]
        return fields


class CommittedSample(FrozenModel):
    """The lines of one sample in the files of its cell; override decisions may be several."""

    sample_index: Count
    uid: str
    lines: dict[str, str]
    """File name -> its text, each line ended."""


class StoreStart(FrozenModel):
    """The state of a store outside the run directory before the first sample."""

    offsets: dict[Literal["store"], Count]
    store_last_sha256: str | None
    is_copied: Flag
    """Whether the store begins as a copy; a copy that a kill cut short is made again."""

    @property
    def store_size(self) -> int:
        """The store's size in bytes."""
        return self.offsets["store"]
