"""Which copies of its shards is an engine to ask?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from zlib import crc32


def same_copies(body: Mapping[str, Any]) -> dict[str, Any]:
    """The parameter by which an engine asks the same copies whenever it is asked the same by score.

    Each copy has an order of its own for equal scores. What a query is about chooses the copies, so that different
    queries are spread over all of them. A copy that is missing is replaced by another one.
    """
    if body.get("sort", [""])[0] != "_score":
        return {}
    return {"preference": f"simdoc-{crc32(json.dumps(body.get('query')).encode()):08x}"}
