"""Reads the messages of an mbox mailbox.

A line `From ...` begins a message only if it follows an empty line and has a date (RFC 4155), because the text of a
message may also contain a line that begins with "From". The `>` of lines that were quoted as `>From ` is removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.errors import MessageError
from email.header import decode_header, make_header
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from typing import IO

_FROM_LINE = re.compile(
    rb"From (?:\S.*?)? ?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d(?::\d\d)? .*?\d{4}"
)
_QUOTED_FROM_LINE = re.compile(rb">+From ")
_MAX_FROM_LINE_CHARACTERS = 1000  # the time for matching _FROM_LINE grows with the square of the length
_MAX_LINE_BYTES = 1 << 20
_MAX_HEADER_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class MailboxMessage:
    """A message of a mailbox."""

    data: bytes | None  # the message without its `From ` line, or None if it is too large
    size: int  # in bytes
    subject: str  # decoded; empty if there is none
    sent_ns: int  # date in nanoseconds since 1970; 0 if unknown


def read_messages(file: IO[bytes], max_bytes: int) -> Iterator[MailboxMessage]:
    """Yield the messages in order. A message over `max_bytes` has no data.

    Raises:
        ValueError: the file does not begin with a message.
    """
    lines: list[bytes] = []
    size, follows_empty_line, is_inside = 0, True, False
    while line := file.readline(_MAX_LINE_BYTES):
        if follows_empty_line and _FROM_LINE.match(line, 0, _MAX_FROM_LINE_CHARACTERS):
            if is_inside:
                yield _parse_message(lines, size, max_bytes)
            lines, size, follows_empty_line, is_inside = [], 0, False, True
            continue
        if not is_inside and line.strip():
            raise ValueError("not a mailbox: the first line is not `From …` with a date")
        follows_empty_line = line in (b"\n", b"\r\n")
        size += len(line)
        if size <= max_bytes or size < _MAX_HEADER_BYTES:
            lines.append(line[1:] if _QUOTED_FROM_LINE.match(line) else line)
    if is_inside:
        yield _parse_message(lines, size, max_bytes)


def _parse_message(lines: list[bytes], size: int, max_bytes: int) -> MailboxMessage:
    data = b"".join(lines)
    headers = BytesHeaderParser().parsebytes(re.split(rb"\r?\n\r?\n", data[:_MAX_HEADER_BYTES], maxsplit=1)[0])
    subject = str(headers.get("Subject", ""))
    with suppress(LookupError, ValueError, MessageError):  # the encoding is unknown, or the header is damaged
        subject = str(make_header(decode_header(subject)))
    return MailboxMessage(data if size <= max_bytes else None, size, subject, _parse_date(str(headers.get("Date", ""))))


def _parse_date(date: str) -> int:
    try:
        seconds = int(parsedate_to_datetime(date).timestamp())
        return seconds * 10**9 if 0 < seconds < 1 << 33 else 0
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return 0
