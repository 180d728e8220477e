"""The first page: what is here, and what can be asked?"""

from __future__ import annotations

from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer

_EXAMPLES = 5


def home(asked: Asked) -> Answer:
    """The number of documents, and the ways to ask."""
    info = asked.collection.info()
    examples = asked.collection.search().store.beginning("", _EXAMPLES)
    values = {"documents": info.documents, "examples": examples}
    has_concepts = info.settings.concepts is not None
    return Answer("home.html", {**values, "has_concepts": has_concepts}, values)
