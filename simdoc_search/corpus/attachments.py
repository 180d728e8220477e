"""Finds the files that are attached to an e-mail message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from typing import NamedTuple

_BOUNDARY = re.compile(rb"boundary\s*=", re.IGNORECASE)
_MAX_BOUNDARIES = 100  # the time of the parser grows with the depth of nested parts
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_MAY_HAVE_ATTACHMENTS = re.compile(rb"multipart/|message/|name", re.IGNORECASE)
DAMAGE_ERRORS = (LookupError, ValueError, TypeError, AttributeError, MessageError, RecursionError)
"""The errors of the package `email` for damaged messages."""


class Attachment(NamedTuple):
    """A file that is attached to an e-mail."""

    name: str  # the name in the e-mail, or `attachment`
    data: bytes


def find_attachments(data: bytes) -> Iterator[Attachment]:
    """Yield the attachments of a message, including the attachments of attached messages.

    Pictures that the text of the message shows are not attachments.

    Raises:
        ValueError: the message is damaged, or its parts are nested too deeply.
    """
    headers = _HEADER_END.split(data, 1)[0]
    if not _MAY_HAVE_ATTACHMENTS.search(headers):
        return
    if has_too_many_parts(data):
        raise ValueError(f"the e-mail has more than {_MAX_BOUNDARIES} nested parts")
    try:
        for part in _attached_parts(message_from_bytes(data)):
            content = part.get_payload(decode=True)
            if isinstance(content, bytes):
                yield Attachment(_read_name(part), content)
    except DAMAGE_ERRORS as error:
        raise ValueError(str(error)[:120] or type(error).__name__) from error


def has_too_many_parts(data: bytes) -> bool:
    """Return whether the parts of a message may be nested so deeply that it takes too long to read them."""
    return sum(1 for _ in _BOUNDARY.finditer(data)) > _MAX_BOUNDARIES


def _attached_parts(part: Message) -> Iterator[Message]:
    if part.is_multipart():
        for child in part.get_payload():
            if isinstance(child, Message):
                yield from _attached_parts(child)
    elif part.get_content_disposition() == "attachment" or (part.get_filename() and not _is_shown_inline(part)):
        yield part


def _is_shown_inline(part: Message) -> bool:
    return part.get_content_maintype() == "image" and "Content-ID" in part


def _read_name(part: Message) -> str:
    name = part.get_filename() or "attachment"
    with suppress(*DAMAGE_ERRORS):  # the encoding is unknown
        name = str(make_header(decode_header(name)))
    return name
