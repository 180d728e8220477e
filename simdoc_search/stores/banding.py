"""When do bands save work? The same in all stores, so that they answer alike."""

from __future__ import annotations

FEW = 32
"""If bands let no more documents through, their equal tokens are counted here, from the stored tokens."""

FLOOD = 256
"""If bands let more documents through, all documents are counted without bands, as fast: see `Bands.plain`."""
