"""What is in the collection, and what can it be asked?"""

from __future__ import annotations

from simdoc_search.as_json import info_as_json
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer


def status(asked: Asked) -> Answer:
    """Counts and settings; where it lies is not said."""
    info = asked.collection.info()
    return Answer("status.html", {"info": info, "said": info_as_json(info)}, {**info_as_json(info), "store": None})
