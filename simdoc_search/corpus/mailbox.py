"""Which messages does a mailbox of the form mbox hold?

A line that begins with `From ` begins a message only after an empty line and if a date stands in it, as in RFC 4155: a
letter may begin a line with that word. Such lines that were quoted as `>From ` lose their sign.
"""

from __future__ import annotations

import email.errors
import email.header
import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

_BEGIN = re.compile(
    rb"From (?:\S.*?)? ?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d(?::\d\d)? .*?\d{4}"
)
_QUOTED = re.compile(rb">+From ")
_LONGEST_BEGIN = 1000  # characters of the line that begins a message; the expression takes their square
_LINE = 1 << 20  # a longer one is read in parts
_HEAD = 1 << 16  # in which subject and date stand


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Attributes:
        data: all of it, without the line that begins it; None: it is too large.
        size: its bytes.
        subject: decoded; empty if it has none.
        sent_ns: its date in nanoseconds since 1970; 0 if it has none.
    """

    data: bytes | None
    size: int
    subject: str
    sent_ns: int


def messages(file: IO[bytes], max_bytes: int) -> Iterator[Message]:
    """The messages, in their order; of one over `max_bytes` no more is held than that.

    Raises:
        ValueError: the file does not begin as a mailbox does.
    """
    lines: list[bytes] = []
    size, was_empty, begun = 0, True, False
    while line := file.readline(_LINE):
        if was_empty and _BEGIN.match(line, 0, _LONGEST_BEGIN):
            if begun:
                yield _message(lines, size, max_bytes)
            lines, size, was_empty, begun = [], 0, False, True
            continue
        if not begun and line.strip():
            raise ValueError("no mailbox: it does not begin with a line From … with a date")
        was_empty = line in (b"\n", b"\r\n")
        size += len(line)
        if size <= max_bytes or size < _HEAD:
            lines.append(line[1:] if _QUOTED.match(line) else line)
    if begun:
        yield _message(lines, size, max_bytes)


def _message(lines: list[bytes], size: int, max_bytes: int) -> Message:
    data = b"".join(lines)
    head = re.split(rb"\r?\n\r?\n", data[:_HEAD], maxsplit=1)[0]
    return Message(data if size <= max_bytes else None, size, _subject(head), _sent(head))


def _field(head: bytes, name: bytes) -> str:
    found = re.search(rb"^" + name + rb":[ \t]*((?:[^\r\n]|\r?\n[ \t])*)", head, re.IGNORECASE | re.MULTILINE)
    if not found:
        return ""
    return re.sub(rb"\r?\n[ \t]+", b" ", found[1]).decode("utf-8", "replace").strip()


def _subject(head: bytes) -> str:
    said = _field(head, b"Subject")
    try:
        return str(email.header.make_header(email.header.decode_header(said)))
    except (LookupError, ValueError, email.errors.MessageError):  # an encoding that nobody knows, or damaged
        return said


def _sent(head: bytes) -> int:
    try:
        found = int(email.utils.parsedate_to_datetime(_field(head, b"Date")).timestamp())
        return found * 10**9 if 0 < found < 1 << 33 else 0
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return 0
