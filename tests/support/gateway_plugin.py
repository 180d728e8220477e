"""A pytest plugin that skips tests whose requests the gateway refused. scripts/try_elasticsearch loads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import engines
from tests.support.gateway import REFUSED_PATH


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Make a failure a skip if the gateway refused a request of the test."""
    outcome: Any = yield
    report = outcome.get_result()
    refused = _refused()
    if report.failed and refused:
        report.outcome = "skipped"
        file, line, _ = item.location
        report.longrepr = (file, line or 0, f"Skipped: {refused[0]} would change what is not of these tests")


def _refused() -> list[str]:
    found: list[str] = engines.call(os.environ[engines.URL], "GET", REFUSED_PATH)
    return found
