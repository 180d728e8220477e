"""Finds dates in the metadata of documents."""

from __future__ import annotations

import re
from collections.abc import Mapping

from simdoc_search.documents import MetadataValue
from simdoc_search.passages.dates import Date, parse_date

_DATE_FIELD_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "modified": re.compile(
        "(?:date|last)?(?:mod|modified|modification|updated?|changed?|revised|revision|edited)(?:at|on|date|time)?"
    ),
    "date": re.compile(
        "date|datetime|timestamp|published|issued|released|sent|date(?:published|issued|released)|"
        "(?:published|publication|publish|pub|issued?|released?|sent|effective|document|version)(?:at|on|date|time)"
    ),
    "created": re.compile("(?:date)?(?:created?|creation)(?:at|on|date|time)?"),
}
"""Patterns of the names of metadata fields with dates. Names are in lower case, without digits and punctuation."""

DATE_FIELDS = (
    *("modified", "modified_at", "modifiedAt", "last_modified", "lastModified", "updated", "updated_at", "updatedAt"),
    *("date", "published", "published_at", "publishedAt", "sent", "timestamp"),
    *("created", "created_at", "createdAt", "path"),
)
"""Fields that are read as dates if simdoc-search did not create the index. `path` may also contain a date."""

_NOT_LETTERS = re.compile(r"[^a-z]+")


def find_date_in_metadata(metadata: Mapping[str, MetadataValue], field_kind: str) -> Date | None:
    """Return the latest date in the metadata fields of one kind; None if there is no date.

    `field_kind` is `modified`, `date` or `created`.
    """
    pattern = _DATE_FIELD_PATTERNS[field_kind]
    values = (value for name, value in metadata.items() if pattern.fullmatch(_keep_letters(name.rpartition(".")[2])))
    return max((date for date in map(parse_date, values) if date), default=None)


def _keep_letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower())
