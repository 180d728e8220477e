"""Error messages that opening a store raises, and the answers that cause them."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.schema import build_index_body
from tests.support.http_server import answer, error

NO_INDEX = error(404, "index_not_found_exception", "no such index [index]")
MAPPING = answer({"index": build_index_body(Settings(), field="simdoc", store_texts=True)})


def opening_error(url: str, **options: Any) -> str:
    """Return the message of the error that opening a store raises."""
    with pytest.raises(StoreError) as caught:
        open_store(url, **options)
    return one_sentence(caught.value)


def one_sentence(error: SimdocError) -> str:
    """Check that the message of an error is one readable sentence, and return it."""
    message = str(error)
    assert "\n" not in message
    assert 20 <= len(message) <= 400
    assert not [word for word in ("None", "Traceback", "Error(", "object at", "urllib3", "HTTPConn") if word in message]
    return message
