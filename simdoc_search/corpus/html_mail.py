"""Writes the HTML of an e-mail message as plain text, because kreuzberg joins the words of its blocks and cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from email.policy import compat32

from simdoc_search.corpus.attachments import DAMAGE_ERRORS, has_too_many_parts
from simdoc_search.corpus.encoding import decode
from simdoc_search.corpus.html import extract_html_text
from simdoc_search.errors import DocumentError, MissingExtraError

_HTML = re.compile(rb"text/html", re.IGNORECASE)
_WORD, _WEB_ADDRESS = re.compile(r"\w+"), re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)


def replace_html_with_text(data: bytes) -> bytes:
    """Return a message in which each HTML body is plain text.

    If a body is sent both as plain text and as HTML, the HTML replaces the plain text if it `has_clearly_more_words`.
    Otherwise, this body is not changed. A damaged message is returned unchanged.
    """
    if not _HTML.search(data) or has_too_many_parts(data):
        return data
    try:
        message = message_from_bytes(data, policy=compat32.clone(max_line_length=None))
        bodies = list(_choose_texts(message))
        for part, text in bodies:
            del part["Content-Type"], part["Content-Transfer-Encoding"]
            part.set_payload(text, "utf-8")
        return message.as_bytes() if bodies else data
    except DAMAGE_ERRORS:
        return data


def has_clearly_more_words(html_text: str, plain_text: str) -> bool:
    """Return whether the text of an HTML body has more than twice as many words as the same body in plain text.

    Then the plain text is a stub, such as "Please view this mail in HTML". A footer that only the HTML has is rarely
    as long as the message. Web addresses do not count, because plain text shows the addresses of links and HTML hides
    them.
    """
    return _count_words(html_text) > 2 * _count_words(plain_text)


def _count_words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(_WEB_ADDRESS.sub(" ", text)))


def _choose_texts(part: Message) -> Iterator[tuple[Message, str]]:
    """Yield the parts that a mail program shows and whose text must be replaced, and the new texts."""
    if part.get_content_disposition() == "attachment" or part.get_content_maintype() == "message":
        return
    if not part.is_multipart():
        if part.get_content_type() == "text/html" and (text := _read_html(part)) is not None:
            yield part, text
        return
    children = [child for child in part.get_payload() if isinstance(child, Message)]
    texts = [chosen for child in children for chosen in _choose_texts(child)]
    if part.get_content_subtype() == "alternative":
        plain_parts = [(child, text) for child in children if (text := _read_plain_text(child))]
        html_text, plain_text = (" ".join(text for _, text in bodies) for bodies in (texts, plain_parts))
        if plain_parts and not has_clearly_more_words(html_text, plain_text):
            return
        texts += [(child, "") for child, _ in plain_parts]
    yield from texts


def _read_plain_text(part: Message) -> str:
    """Return the text of a plain text part. It is empty for other parts, and if the part is blank."""
    content = part.get_payload(decode=True)
    if part.get_content_type() != "text/plain" or not isinstance(content, bytes):
        return ""
    return (decode(content, part.get_content_charset()) or content.decode("latin-1")).strip()


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
