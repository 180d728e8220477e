"""A folder of five files: a text, three duplicates of it, and another one."""

from __future__ import annotations

from tests.support.cli import words

__all__ = ["BASE", "DAY", "FILES"]

DAY = 24 * 60 * 60
BASE = words(0, 200)
FILES: dict[str, str | bytes] = {
    "keep.txt": BASE,
    "copy.txt": BASE,
    "sub/loud.txt": BASE.upper(),
    "sub/near.txt": words(0, 190),
    "other.txt": words(900, 990),
}
