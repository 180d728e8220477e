"""The options of a backfill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simdoc_search.concepts import Extractor
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.texts import text_field_names


@dataclass(frozen=True, slots=True)
class BackfillOptions:
    """The options of a backfill.

    Attributes:
        text_field: the path of the text field, such as `page.body`. The values of several fields are joined by line
            breaks into one text.
        field: the object field to write.
        stale: whether to compare existing fingerprints with the texts, and to replace fingerprints that do not match
            or are malformed. Only documents written since the last such run are compared.
        throttle: maximum number of documents per second; None for no limit.
        change_settings: takes the settings of the field, or the default settings if the field is new, and returns the
            requested settings. If the field has fingerprints, only passages, sentences and concepts may be added. None
            keeps the settings.
        extractor: finds concepts; None for the built-in extractor that the settings name.
        full: whether `stale` compares all documents, not only those written since the last such run.
        force: whether to accept text fields that differ from the text fields of existing fingerprints.
    """

    text_field: str | Sequence[str]
    field: str = "simdoc"
    stale: bool = False
    throttle: float | None = None
    change_settings: Callable[[Settings], Settings] | None = None
    extractor: Extractor | None = None
    full: bool = False
    force: bool = False

    @property
    def text_fields(self) -> list[str]:
        """The paths of the text fields, in order."""
        return text_field_names(self.text_field)
