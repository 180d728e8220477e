"""The errors of this package. Catch `SimdocError` and print its message.

SimdocError
├── QuerySyntaxError, AmbiguousQueryError, UnknownDocumentError, UnknownFieldError
├── NoFingerprintError, NoTextError, DocumentError, CorpusError, MissingExtraError
├── TextlessFileError   a file, such as an image, has no text                (corpus.file_reader)
├── PlanError           a plan of duplicates cannot be read or written       (duplicates.plan)
├── ConceptsError       synonyms or an extractor of concepts cannot be used  (concepts.errors)
├── AddressError        the server cannot listen on an address               (web.server)
├── FileNotAvailableError  the original file of a document cannot be sent  (web.original_file)
├── NotIndexedError     the index lacks the data for a page                  (web.served_store)
└── StoreError
    ├── LocationError, StoreNotFoundError, StoreLockedError, StoreUnavailableError
    ├── WriteRefusedError, FormatMismatchError
    ├── IndexGoneError      an index was deleted while it was open           (stores.remote.bulk)
    ├── RequestError        the engine responds to a request with an error   (stores.remote.errors)
    ├── ResponseTooLargeError  the engine's response is too large            (stores.remote.errors)
    ├── UnsupportedIndexError     fingerprints cannot be added to an index         (attach.backfill)
    └── DevEngineError      the development engine cannot be run             (devengine)

Every message is one sentence that says what happened and what to do next. No message contains a password. An error
that only one package raises is defined in that package. IndexGoneError is also a StoreNotFoundError, and
TextlessFileError is also a CorpusError.

Some errors are not SimdocErrors, because their callers handle them: StoppedError (cancellation), ProcessEndedError
(workers.process), NeedsSubprocessError (corpus.file_reader), LeftAloneError (duplicates.plan) and GitError
(versions.git).
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simdoc_search.display import without_secrets
from simdoc_search.installation import install_command

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

_MAX_SUGGESTED_NAMES = 10


class SimdocError(Exception):
    """Base class of the errors that this package raises on purpose. All of them can be pickled."""

    def __str__(self) -> str:
        return without_secrets(super().__str__())

    def __reduce__(self) -> tuple[Callable[..., SimdocError], tuple[Any, ...]]:
        return _unpickle, (type(self), str(self), self.__dict__)


def _unpickle(error_type: type[SimdocError], message: str, attributes: dict[str, Any]) -> SimdocError:
    error = error_type.__new__(error_type, message)
    error.__dict__.update(attributes)
    return error


class QuerySyntaxError(SimdocError, ValueError):
    """A FINGERPRINT string such as `doc123_20_80`, an overlap or a probability is malformed or out of range."""


class AmbiguousQueryError(SimdocError):
    """A FINGERPRINT string such as `invoice_10` matches several stored documents.

    Attributes:
        readings: for each of these documents, a FINGERPRINT string that matches only this document.
        query: the ambiguous string.
    """

    def __init__(self, message: str, readings: Sequence[str], query: str = "") -> None:
        super().__init__(message)
        self.readings: tuple[str, ...] = tuple(readings)
        self.query = query


class UnknownDocumentError(SimdocError, LookupError):
    """No stored document has this id.

    Attributes:
        id: the unknown id.
        suggestions: the most similar stored ids, best first.
        other_indices: the indices that contain this id outside `search_scope`.
        search_scope: the store, index or routing that was searched, for the message.
        id_hint: says which id to give for an index that simdoc-search did not create; otherwise empty.
    """

    def __init__(
        self,
        id: str,
        suggestions: Sequence[str] = (),
        other_indices: Sequence[str] = (),
        search_scope: str = "the index",
        id_hint: str = "",
    ) -> None:
        if other_indices:
            hint = f"this id exists in: {', '.join(other_indices)}"
        elif suggestions:
            hint = f"did you mean {', '.join(map(repr, suggestions))}?"
        else:
            hint = id_hint or (
                "give the file's path relative to the indexed folder, the document's id in the JSONL file, or its _id "
                "in the engine; a skipped file has no id"
            )
        super().__init__(f"no document {id!r} in {search_scope}; {hint}")
        self.id = id
        self.suggestions: tuple[str, ...] = tuple(suggestions)
        self.other_indices: tuple[str, ...] = tuple(other_indices)
        self.search_scope = search_scope
        self.id_hint = id_hint


class UnknownFieldError(SimdocError, LookupError):
    """No stored document has the field of a filter, or no path begins with the value of a `path` filter.

    Attributes:
        field: the field of the filter.
        known: the existing fields or folders, by descending similarity.
        path: the value of a `path` filter; None for other fields.
    """

    def __init__(self, field: str, known_names: Sequence[str] = (), path: str | None = None) -> None:
        missing = f"the field {field!r}" if path is None else f"a path that begins with {path!r}"
        hidden_count = len(known_names) - _MAX_SUGGESTED_NAMES
        suggested = known_names[:_MAX_SUGGESTED_NAMES] if hidden_count > 1 else known_names
        more = f" and {hidden_count:,} more" if hidden_count > 1 else ""
        nothing = "the documents have no fields" if path is None else "no document has a path with a folder"
        hint = f"choose from: {', '.join(suggested)}{more}" if known_names else nothing
        super().__init__(f"no document has {missing}; {hint}")
        self.field = field
        self.known_names: tuple[str, ...] = tuple(known_names)
        self.path = path


class NoFingerprintError(SimdocError, ValueError):
    """A text has no words, so it has no fingerprint."""


class NoTextError(SimdocError):
    """The store does not have the text of a document.

    Attributes:
        id: the id of the document.
    """

    def __init__(self, id: str) -> None:
        hint = (
            "index the document again with its text; if another program created the index, set the text field with "
            "--text-field"
        )
        super().__init__(f"the index does not have the text of {id!r}; {hint}")
        self.id = id


class DocumentError(SimdocError, ValueError):
    """A document cannot be indexed: its id, its text or its JSONL line is invalid."""


class CorpusError(SimdocError):
    """A folder, file or JSONL stream cannot be read at all."""


class MissingExtraError(SimdocError, ImportError):
    """An optional package is not installed. The message contains the command that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs optional packages; install them with: {install_command(extra)}")


class StoreError(SimdocError):
    """A store cannot be opened, read or written."""


class LocationError(StoreError, ValueError):
    """A location is neither a folder nor a valid URL of an engine."""


class StoreNotFoundError(StoreError):
    """There is no store at this location."""


class StoreLockedError(StoreError):
    """Another writer is writing to the store."""


class StoreUnavailableError(StoreError):
    """The engine is down, unreachable or too busy. A later attempt may succeed."""


class WriteRefusedError(StoreError):
    """The store refused some writes or deletions. All others succeeded.

    Attributes:
        failed: maps each refused id to the reason.
        accepted_count: number of writes and deletions that succeeded.
    """

    def __init__(self, message: str, reasons_by_id: Mapping[str, str], accepted_count: int = 0) -> None:
        super().__init__(message)
        self.reasons_by_id: dict[str, str] = dict(reasons_by_id)
        self.accepted_count = accepted_count


class FormatMismatchError(StoreError):
    """The settings of the store differ from the requested ones, or a newer version of simdoc-search wrote them.

    Attributes:
        found: the settings of the store, as plain values.
        expected: the requested settings, as plain values.
    """

    def __init__(self, message: str, found: object = None, expected: object = None) -> None:
        super().__init__(message)
        self.found = found
        self.expected = expected


_OUT_OF_MEMORY_PATTERN = re.compile(
    r"can't start new thread|failed to map segment|cannot allocate memory", re.IGNORECASE
)
"""Matches the messages of errors that occur if there is not enough memory to start a thread or load a library."""


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is an out-of-memory error."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, (RuntimeError, ImportError)) and _OUT_OF_MEMORY_PATTERN.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
