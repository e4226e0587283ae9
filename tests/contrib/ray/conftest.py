"""One cluster of two CPUs on this machine for the tests of a file; its start is most of their time."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.extras import require_extra

from episodic_absa.contrib.ray import connect


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return the module `ray`, connected."""
    require_extra("ray")
    with connect(None, feature="this test", key="address", num_cpus=2) as ray:
        yield ray
