"""What the tests of the pages share."""

from __future__ import annotations

import pytest
from support.browser import launched


@pytest.fixture(scope="module")
def browser():
    """A browser that nobody has used before."""
    with launched() as found:
        yield found
