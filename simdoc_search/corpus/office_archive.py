"""Opens office files that are zip archives, and describes their damage."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

from simdoc_search.errors import DocumentError

DAMAGE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, EOFError, NotImplementedError, ValueError),
    LookupError,  # a missing member, or an unknown encoding
)


@contextmanager
def open_office_archive(data: bytes) -> Iterator[zipfile.ZipFile]:
    """Open the archive. An error while its members are read becomes a `DocumentError`.

    Raises:
        DocumentError: the file is encrypted or damaged. The message is the reason in a few words.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except KeyError as error:
        raise DocumentError(f"damaged: {error.args[0]}") from error
    except zipfile.BadZipFile as error:
        raise DocumentError("damaged: not a complete file of this format") from error
    except DAMAGE_ERRORS as error:
        raise DocumentError(f"damaged: {error}") from error
    except RuntimeError as error:
        raise DocumentError("encrypted") from error
