"""What can go wrong, as one tree: catch `SimdocError` and print it.

SimdocError
├── QuerySyntaxError        the FINGERPRINT string, an overlap or a probability is malformed or out of range
├── AmbiguousQueryError     a FINGERPRINT string can mean several stored documents
├── UnknownDocumentError    no stored document has this id
├── NoFingerprintError      a text has no words, so nothing can be compared
├── DocumentError           a document cannot be indexed (its id, its text, its line)
├── CorpusError             a folder, file or JSONL stream cannot be read at all
├── MissingExtraError       an optional part is not installed
└── StoreError              a store cannot be opened, read or written
    ├── StoreNotFoundError      there is no store at this place
    ├── StoreLockedError        another process is writing to the store
    ├── StoreUnavailableError   the engine that keeps the store does not answer
    └── FormatMismatchError     the store was made with other settings, or by a newer version

Every message is one sentence that says what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "AmbiguousQueryError",
    "CorpusError",
    "DocumentError",
    "FormatMismatchError",
    "MissingExtraError",
    "NoFingerprintError",
    "QuerySyntaxError",
    "SimdocError",
    "StoreError",
    "StoreLockedError",
    "StoreNotFoundError",
    "StoreUnavailableError",
    "UnknownDocumentError",
]


class SimdocError(Exception):
    """The base of all errors that this package raises on purpose."""


class QuerySyntaxError(SimdocError, ValueError):
    """A FINGERPRINT string, an overlap or a probability is malformed or out of range."""


class AmbiguousQueryError(SimdocError):
    """A FINGERPRINT string can mean several stored documents.

    Attributes:
        readings: one unambiguous way to write each meaning.
    """

    def __init__(self, message: str, readings: Sequence[str]) -> None:
        super().__init__(message)
        self.readings = tuple(readings)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.readings)


class UnknownDocumentError(SimdocError, LookupError):
    """No stored document has this id.

    Attributes:
        id: the id that was asked for.
        suggestions: the nearest ids that are stored, best first.
    """

    def __init__(self, id: str, suggestions: Sequence[str] = ()) -> None:
        meant = "did you mean " + ", ".join(map(repr, suggestions)) + "?"
        hint = meant if suggestions else "an id is the path below the indexed folder, or what the JSONL says"
        super().__init__(f"no document {id!r} in the store; {hint}")
        self.id = id
        self.suggestions = tuple(suggestions)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.id, self.suggestions)


class NoFingerprintError(SimdocError, ValueError):
    """A text has no words, so nothing can be compared."""


class DocumentError(SimdocError, ValueError):
    """A document cannot be indexed: its id, its text or its line is at fault."""


class CorpusError(SimdocError):
    """A folder, file or JSONL stream cannot be read at all."""


class MissingExtraError(SimdocError, ImportError):
    """An optional part is not installed; the message has the line that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'simdoc-search[{extra}]'")
        self._made_of = (what, extra)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of


class StoreError(SimdocError):
    """A store cannot be opened, read or written."""


class StoreNotFoundError(StoreError):
    """There is no store at this place."""


class StoreLockedError(StoreError):
    """Another process is writing to the store."""


class StoreUnavailableError(StoreError):
    """The engine that keeps the store is down, unreachable or too busy; later it may answer."""


class FormatMismatchError(StoreError):
    """The store was made with other settings than asked for, or by a newer version.

    Attributes:
        found: the settings of the store, as plain values.
        expected: the settings that were asked for, as plain values.
    """

    def __init__(self, message: str, found: object = None, expected: object = None) -> None:
        super().__init__(message)
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.found, self.expected)
