"""Finds the programs that examples in other languages need."""

from __future__ import annotations

import shutil

import pytest

__all__ = ["program", "programs_header"]

PROGRAMS = ("curl", "node", "go")


def program(name: str) -> str:
    """Return the path of a program, or skip the test. The header of pytest also lists missing programs."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not at hand")
    return found


def programs_header() -> str:
    """Return a line for the header of pytest."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return "examples without Python: " + (f"skipped for want of {', '.join(missing)}" if missing else "all")
