"""Hypothesis profiles: `dev` looks further each time, `ci` runs the same examples on every machine."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=150, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
