"""What can go wrong, as one tree: catch `SimdocError` and print it.

SimdocError
├── QuerySyntaxError        the FINGERPRINT string, an overlap or a probability is malformed or out of range
├── AmbiguousQueryError     a FINGERPRINT string can mean several stored documents
├── UnknownDocumentError    no stored document has this id
├── UnknownFieldError       no stored document has the field of a filter, or a path that begins as it says
├── NoFingerprintError      a text has no words, so nothing can be compared
├── NoTextError             the store does not have the text of a document that is to be read
├── DocumentError           a document cannot be indexed (its id, its text, its line)
├── CorpusError             a folder, file or JSONL stream cannot be read at all
├── PlanError               a plan of duplicates cannot be read or written          (duplicates.plan)
├── ConceptsError           synonyms, or what finds concepts, cannot be used        (concepts.errors)
├── AddressError            nothing can listen at an address                        (web.server)
├── NotIndexedError         the index has no data for a question                (web.served_store)
├── MissingExtraError       an optional part is not installed
└── StoreError              a store cannot be opened, read or written
    ├── LocationError           what looks like the address of an engine is none
    ├── StoreNotFoundError      there is no store at this place
    │   └── IndexGoneError          the index that was opened is there no more  (stores.remote.bulk)
    ├── StoreLockedError        another process is writing to the store
    ├── StoreUnavailableError   the engine that keeps the store does not answer
    ├── WriteRefusedError       the store refused some of what it was to write or to delete
    ├── FormatMismatchError     the store was made with other settings, or by a newer version
    ├── RequestError            the engine answers a request with an error      (stores.remote.errors)
    ├── TooLargeError           an engine's answer is larger than any of ours   (stores.remote.errors)
    ├── UnfitIndexError         fingerprints cannot be put into an index        (attach.backfill)
    └── EngineError             the development engine cannot be run            (devengine)

Every message is one sentence that says what to do next. No message has the password of an address. Errors that one
room alone raises are defined there. Three are not a SimdocError:
StoppedError (cancellation) ends a run that was told to,
LeftAloneError (duplicates.plan) says why one document of a plan stays as it is, GitError (versions.git) why git gives
no dates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "AmbiguousQueryError",
    "CorpusError",
    "DocumentError",
    "FormatMismatchError",
    "LocationError",
    "MissingExtraError",
    "NoFingerprintError",
    "NoTextError",
    "QuerySyntaxError",
    "SimdocError",
    "StoreError",
    "StoreLockedError",
    "StoreNotFoundError",
    "StoreUnavailableError",
    "UnknownDocumentError",
    "UnknownFieldError",
    "WriteRefusedError",
]

from simdoc_search.display import without_secrets

_NAMED = 10


class SimdocError(Exception):
    """The base of all errors that this package raises on purpose."""

    def __str__(self) -> str:
        return without_secrets(super().__str__())


class QuerySyntaxError(SimdocError, ValueError):
    """A FINGERPRINT string, an overlap or a probability is malformed or out of range."""


class AmbiguousQueryError(SimdocError):
    """A FINGERPRINT string can mean several stored documents.

    Attributes:
        readings: one unambiguous way to write each meaning.
    """

    def __init__(self, message: str, readings: Sequence[str]) -> None:
        super().__init__(message)
        self.readings: tuple[str, ...] = tuple(readings)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.readings)


class UnknownDocumentError(SimdocError, LookupError):
    """No stored document has this id.

    Attributes:
        id: the id that was asked for.
        suggestions: the nearest ids that are stored, best first.
        elsewhere: the indices that have this id, if the query named another index or routing.
        where: where the query looked for it.
        ids: what an id is in an index of an application; empty: the store has ids of its own.
    """

    def __init__(
        self,
        id: str,
        suggestions: Sequence[str] = (),
        elsewhere: Sequence[str] = (),
        where: str = "the store",
        ids: str = "",
    ) -> None:
        meant = "did you mean " + ", ".join(map(repr, suggestions)) + "?"
        how = "an id is the path below the indexed folder, that in JSONL, or an engine's _id; what was skipped has none"
        how = ids or how
        hint = f"the id is in: {', '.join(elsewhere)}" if elsewhere else meant if suggestions else how
        super().__init__(f"no document {id!r} in {where}; {hint}")
        self.id = id
        self.suggestions: tuple[str, ...] = tuple(suggestions)
        self.elsewhere: tuple[str, ...] = tuple(elsewhere)
        self.where = where
        self.ids = ids

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.id, self.suggestions, self.elsewhere, self.where, self.ids)


class UnknownFieldError(SimdocError, LookupError):
    """No stored document has the field of a filter, or a path that begins as the filter says.

    Attributes:
        field: the field of the filter.
        known: the fields that documents have, or their folders, the most alike first.
        path: the beginning that no path has, if the field is `path`.
    """

    def __init__(self, field: str, known: Sequence[str] = (), path: str | None = None) -> None:
        what = f"the field {field!r}" if path is None else f"a path that begins with {path!r}"
        there = ", ".join(known[:_NAMED]) + (f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else "")
        hint = f"there are: {there}" if known else "no document has any field"
        super().__init__(f"no document has {what}; {hint}")
        self.field = field
        self.known: tuple[str, ...] = tuple(known)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.known, self.path)


class NoFingerprintError(SimdocError, ValueError):
    """A text has no words, so nothing can be compared."""


class NoTextError(SimdocError):
    """The store does not have the text of a document that is to be read.

    Attributes:
        id: the document.
    """

    def __init__(self, id: str) -> None:
        how = "index it again with its text, or name the field of an application's index with --text-field"
        super().__init__(f"the store does not have the text of {id!r}; {how}")
        self.id = id

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.id,)


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


class LocationError(StoreError, ValueError):
    """What was given as the place of a store looks like the address of an engine, and is none."""


class StoreNotFoundError(StoreError):
    """There is no store at this place."""


class StoreLockedError(StoreError):
    """Another process is writing to the store."""


class StoreUnavailableError(StoreError):
    """The engine that keeps the store is down, unreachable or too busy; later it may answer."""


class WriteRefusedError(StoreError):
    """The store refused some of what it was to write or to delete; the rest is done.

    Attributes:
        failed: id to reason, for what was refused.
        done: how many writes the store took.
    """

    def __init__(self, message: str, failed: Mapping[str, str], done: int = 0) -> None:
        super().__init__(message)
        self.failed: dict[str, str] = dict(failed)
        self.done = done

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.failed, self.done)


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
