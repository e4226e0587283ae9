"""The store of a donor is a file that does not change while it is read."""

from pathlib import Path

import pytest

from episodic_absa.errors import ConfigError
from episodic_absa.memory.advice.opened_advice import donor_store
from episodic_absa.schemas.overlays.advice_overlay import AdviceOverlay


def test_a_donor_in_a_database_is_refused_with_the_reason(tmp_path: Path) -> None:
    overlay = AdviceOverlay.model_validate({"from": "donor", "store": "postgresql://db/absa"})
    with pytest.raises(ConfigError, match=r"address of a database.* name a \.jsonl file") as caught:
        donor_store(overlay, tmp_path)
    assert caught.value.key == "advice.store"
