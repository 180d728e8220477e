"""The limits of a request. docs/serve.md and SECURITY.md list them."""

from __future__ import annotations

from simdoc_search.workers import ItemLimits

MAX_CONNECTIONS = 100
"""Connections that are served at the same time. Further ones get status 503."""

MAX_BODY_BYTES, MAX_LOGIN_BYTES = 20_000_000, 10_000
"""Bytes of a body, and of one that is sent without the access token."""

MAX_VALUES, MAX_VALUE_CHARACTERS = 20_000, 10_000
"""Values of a request, and characters of each value except `text`. A page of duplicates sends up to 10,000 values."""

MAX_TEXT_CHARACTERS = 2_000_000
"""Characters of a text that is queried: about 1,000 pages."""

MAX_COMPARED_CHARACTERS = 4_000_000
"""Characters of two texts that are compared."""

MAX_HITS, MAX_OFFSET = 200, 10_000
"""Hits per page, and hits before a page."""

MAX_COMPARISONS = 2
"""Requests that compare texts at the same time. Further ones wait."""

MAX_SECONDS = 90.0
"""Seconds from the start of a request to its answer, including the upload and the wait for other requests."""

UPLOAD_LIMITS = ItemLimits(seconds=30.0, memory=1_500_000_000)
"""ItemLimits of the process that reads an uploaded document."""
