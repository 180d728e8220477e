"""Which date is in the metadata of a document?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from simdoc_search.documents import MetadataValue
from simdoc_search.passages.dates import Date, date_of

_FIELDS: Mapping[str, re.Pattern[str]] = {
    "modified": re.compile(
        "(?:date|last)?(?:mod|modified|modification|updated?|changed?|revised|revision|edited)(?:at|on|date|time)?"
    ),
    "date": re.compile(
        "date|datetime|timestamp|published|issued|released|sent|date(?:published|issued|released)|"
        "(?:published|publication|publish|pub|issued?|released?|sent|effective|document|version)(?:at|on|date|time)"
    ),
    "created": re.compile("(?:date)?(?:created?|creation)(?:at|on|date|time)?"),
}
"""The names of fields, in small letters without signs."""

DATE_FIELDS = (
    *("modified", "modified_at", "modifiedAt", "last_modified", "lastModified", "updated", "updated_at", "updatedAt"),
    *("date", "published", "published_at", "publishedAt", "sent", "timestamp"),
    *("created", "created_at", "createdAt", "path"),
)
"""Fields that are read of the documents of an application, as usual names go; `path` gives the name."""

_SIGNS = re.compile(r"[^a-z]+")


def date_in_metadata(metadata: Mapping[str, MetadataValue], field: str) -> Date | None:
    """The latest date of the fields that are called alike; None: there is none.

    Args:
        metadata: all fields.
        field: `modified`, `date` or `created`.
    """
    names = _FIELDS[field]
    found = [date_of(value) for name, value in metadata.items() if names.fullmatch(_signless(name.rpartition(".")[2]))]
    return max((date for date in found if date), default=None)


def _signless(name: str) -> str:
    return _SIGNS.sub("", name.lower())
