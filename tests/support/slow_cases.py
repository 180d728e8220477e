"""Selects cases of slow tests. The default run has a few of them, and `-m ""` has all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

__all__ = ["examples", "slow_after"]


def slow_after(count: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases of a slow test. All except the first `count` cases are marked `slow`."""
    marks = pytest.mark.slow
    return [pytest.param(case, marks=marks if index >= count else ()) for index, case in enumerate(cases)]


def examples(share: float) -> settings:
    """Return settings of hypothesis with this share of the profile's number of examples."""
    default = settings()
    return settings(default, max_examples=max(1, round(share * default.max_examples)))
