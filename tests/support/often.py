"""How often a test runs: some of its cases each day and all of them in CI; few examples each day, many in CI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

__all__ = ["examples", "first"]


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a test that takes long: the first ones run each day, the others are marked `slow`."""
    marks = pytest.mark.slow
    return [pytest.param(each, marks=marks if at >= count else ()) for at, each in enumerate(cases)]


def examples(share: float) -> settings:
    """So many times as many examples as the profile of hypothesis gives other tests."""
    default = settings()
    return settings(default, max_examples=max(1, round(share * default.max_examples)))
