"""Reads the HTML body of an Outlook message (MS-OXMSG), which kreuzberg leaves out, or whose words it joins."""

from __future__ import annotations

import io
import struct
from codecs import BOM_UTF16_LE

from simdoc_search.corpus.html import extract_html_text
from simdoc_search.errors import DocumentError

_PLAIN_TEXT, _HTML = "__substg1.0_1000", "__substg1.0_1013"
_UNICODE, _CODE_PAGE, _BYTES = "001F", "001E", "0102"


def read_html_body(data: bytes) -> str:
    """Return the text of a message that is only stored as HTML. Otherwise, the text is empty."""
    from olefile import OleFileIO  # noqa: PLC0415 - an optional dependency

    try:
        with OleFileIO(io.BytesIO(data)) as file:

            def read(name: str) -> bytes:
                return file.openstream(name).read() if file.exists(name) else b""

            if any(read(_PLAIN_TEXT + kind).replace(b"\0", b"").strip() for kind in (_UNICODE, _CODE_PAGE)):
                return ""
            page = read(_HTML + _BYTES) or read(_HTML + _CODE_PAGE) or BOM_UTF16_LE + read(_HTML + _UNICODE)
            return extract_html_text(page) or ""
    except (DocumentError, OSError, LookupError, ValueError, TypeError, struct.error):  # kreuzberg may still read it
        return ""
