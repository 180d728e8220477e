"""Writes the HTML of an e-mail message as plain text, because kreuzberg joins the words of its blocks and cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from email.policy import compat32

from simdoc_search.corpus.attachments import DAMAGE_ERRORS, has_too_many_parts
from simdoc_search.corpus.html import extract_html_text
from simdoc_search.errors import DocumentError, MissingExtraError

_HTML = re.compile(rb"text/html", re.IGNORECASE)


def replace_html_with_text(data: bytes) -> bytes:
    """Return a message in which each HTML body is plain text. A body that is also sent as plain text is left unchanged.

    A damaged message is returned unchanged.
    """
    if not _HTML.search(data) or has_too_many_parts(data):
        return data
    try:
        message = message_from_bytes(data, policy=compat32.clone(max_line_length=None))
        bodies = [(part, text) for part in _html_bodies(message) if (text := _read_html(part)) is not None]
        for part, text in bodies:
            del part["Content-Type"], part["Content-Transfer-Encoding"]
            part.set_payload(text, "utf-8")
        return message.as_bytes() if bodies else data
    except DAMAGE_ERRORS:
        return data


def _html_bodies(part: Message) -> Iterator[Message]:
    """Yield the parts that a mail program shows, and that are only sent as HTML."""
    if part.get_content_disposition() == "attachment" or part.get_content_maintype() == "message":
        return
    if not part.is_multipart():
        if part.get_content_type() == "text/html":
            yield part
        return
    children = [child for child in part.get_payload() if isinstance(child, Message)]
    if part.get_content_subtype() == "alternative" and any(map(_is_plain_text, children)):
        return
    for child in children:
        yield from _html_bodies(child)


def _is_plain_text(part: Message) -> bool:
    content = part.get_payload(decode=True)
    return part.get_content_type() == "text/plain" and isinstance(content, bytes) and bool(content.strip())


def _read_html(part: Message) -> str | None:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return None
    charset = part.get_content_charset()
    try:
        page = content.decode(charset).encode() if charset else content
        return extract_html_text(page)
    except (UnicodeError, LookupError):
        return extract_html_text(content)
    except (DocumentError, MissingExtraError):
        return None
