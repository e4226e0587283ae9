"""Recognises Korean texts that only tell what somebody did or plans: weights would guess an opinion into them."""

from episodic_absa.backends.embedded.opinion_lexicon import korean_lexicon
from episodic_absa.backends.embedded.reading import Reading


def tells_facts_only(reading: Reading) -> bool:
    """Return whether a Korean text without opinions holds only plain verbs and adverbs, and no sign of feeling."""
    if reading.language != "ko" or reading.opinions:
        return False
    plain = korean_lexicon().plain_words
    for at, word in enumerate(reading.words):
        tag = word.tag.split("-")[0]
        is_action = (
            tag in ("NNG", "XR") and reading.words[at + 1 : at + 2] and reading.words[at + 1].tag in ("XSV", "XSA")
        )
        if (is_action or tag in ("VV", "VA", "MAG", "IC", "VCN")) and word.form not in plain:
            return False
        if tag == "SW" or word.form.startswith(("!", "…", "..")):
            return False
    return True
