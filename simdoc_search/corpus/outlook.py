"""Reads the HTML body of an Outlook message (MS-OXMSG), which kreuzberg leaves out, or whose words it joins."""

from __future__ import annotations

import io
import struct
from codecs import BOM_UTF16_LE

from simdoc_search.corpus.encoding import decode
from simdoc_search.corpus.html import extract_html_text
from simdoc_search.corpus.html_mail import has_clearly_more_words
from simdoc_search.errors import DocumentError

_PLAIN_TEXT, _HTML = "__substg1.0_1000", "__substg1.0_1013"
_UNICODE, _CODE_PAGE, _BYTES = "001F", "001E", "0102"


def read_html_body(data: bytes) -> str:
    """Return the text of the HTML of a message if the message is only stored as HTML, or if its plain text is a stub.

    Otherwise, the text is empty.
    """
    from olefile import OleFileIO  # noqa: PLC0415 - an optional dependency

    try:
        with OleFileIO(io.BytesIO(data)) as file:

            def read(name: str) -> bytes:
                return file.openstream(name).read() if file.exists(name) else b""

            page = read(_HTML + _BYTES) or read(_HTML + _CODE_PAGE) or BOM_UTF16_LE + read(_HTML + _UNICODE)
            html_text = extract_html_text(page) or ""
            code_page_text = decode(read(_PLAIN_TEXT + _CODE_PAGE)) or ""
            plain_text = read(_PLAIN_TEXT + _UNICODE).decode("utf-16-le", "replace") or code_page_text
            is_plain = plain_text.replace("\0", "").strip() and not has_clearly_more_words(html_text, plain_text)
            return "" if is_plain else html_text
    except (DocumentError, OSError, LookupError, ValueError, TypeError, struct.error):  # kreuzberg may still read it
        return ""
