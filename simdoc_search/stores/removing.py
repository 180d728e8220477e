"""Why was a document not removed?"""

from __future__ import annotations

__all__ = ["NOT_THERE", "TEXT_CHANGED"]

NOT_THERE = "it is not in the store"
TEXT_CHANGED = "its text has changed since the plan was written"
