"""The tally of a sample: which targets its final result has, as stored terms."""

from episodic_absa.memory.episodes.leak_guard import LONG_TERM
from episodic_absa.schemas.memory_v1_2 import AnyDraft, TallyV1_2


def tally_of(draft: AnyDraft) -> TallyV1_2:
    """Return the tally of the sample that an episode was built from.

    The terms are sorted, so that they do not repeat the order of the text. Backfills are no predictions and left out;
    so are terms that are too long to be stored: all of them would count as one.
    """
    return TallyV1_2(
        language=draft.input_signature.language,
        source_id=draft.provenance.source_id,
        terms=tuple(sorted(term for term in draft.stage_snapshot.final.polarities if term not in ("", LONG_TERM))),
    )
