"""Defines the limits of requests. docs/serve_reference.md and SECURITY.md list them."""

from __future__ import annotations

from simdoc_search.workers import ItemLimits

MAX_CONNECTIONS = 100
"""Maximum number of open connections. Further connections get status 503."""

MAX_BODY_BYTES, MAX_LOGIN_BYTES = 20_000_000, 10_000
"""Maximum size in bytes of a request body, and of the body of a login request."""

MAX_VALUES, MAX_VALUE_CHARACTERS = 20_000, 10_000
"""Maximum number of values in a request, and of characters in each value that is not a text.

The duplicates page sends up to 10,000 decisions.
"""

MAX_TEXT_CHARACTERS = 2_000_000
"""Maximum number of characters of a query text: about 1,000 pages."""

MAX_COMPARED_CHARACTERS = 4_000_000
"""Maximum total number of characters of two texts that are compared."""

MAX_HITS, MAX_OFFSET = 200, 10_000
"""Maximum number of hits on a page, and of hits before a page."""

MAX_SORTED_DOCUMENTS = 200_000
"""In a store with more documents, the list of documents is in the order of the store."""

MAX_CONCURRENT_COMPARISONS = 2
"""Maximum number of requests that compare texts at the same time. Further requests wait."""

MAX_REQUEST_SECONDS = 90.0
"""Maximum time from the start of a request to its response, in seconds. It includes the upload and any waiting."""

UPLOAD_LIMITS = ItemLimits(seconds=30.0, memory_bytes=1_500_000_000)
"""Limits of the process that reads an uploaded document."""
