"""Fixtures of the browser tests."""

from __future__ import annotations

import pytest
from support.browser import launched


@pytest.fixture(scope="module")
def browser():
    """A new browser for each test file."""
    with launched() as found:
        yield found
