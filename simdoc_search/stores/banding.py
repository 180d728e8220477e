"""Limits of banded queries, the same in all stores so that they answer alike."""

from __future__ import annotations

FEW = 32
"""If bands let at most this many documents through, equal tokens are counted here, from the stored tokens."""

FLOOD = 256
"""If bands let more documents through, all are counted without bands, which is as fast; see `Bands.plain`."""
