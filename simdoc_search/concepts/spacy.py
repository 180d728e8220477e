"""Finds concepts with a spaCy pipeline: entities, and noun phrases if the pipeline contains a parser."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from simdoc_search.chunks import paragraph_spans
from simdoc_search.concepts.finder import ConceptsError, Occurrence, count_by_paragraph
from simdoc_search.errors import MissingExtraError

if TYPE_CHECKING:
    from spacy.language import Language

STORED_NAME_PREFIX = "sp/"
"""Prefix of the name of the model in the settings of an index."""

_NAME = re.compile(r"[a-z0-9._-]{1,15}")
_NUMBER_LABELS = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})
"""Labels of entities that do not show the topic of a text."""


class SpacyFinder:
    """Finds the entities and noun phrases of each paragraph.

    Args:
        nlp: the pipeline, as returned by `spacy.load`. An index stores its language and name.

    Raises:
        ConceptsError: an index cannot store the name of the model.
    """

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp
        self._model = f"{nlp.lang}_{nlp.meta['name']}".lower()
        if not _NAME.fullmatch(self._model):
            raise ConceptsError(
                f"an index cannot store the model name {self._model!r:.60}. This name can have at most 15 characters: "
                "letters, digits, '.', '_' and '-'. Set nlp.meta['name'] to another name"
            )

    @property
    def name(self) -> str:
        """`sp/` and the name of the model, such as `sp/en_core_web_sm`."""
        return STORED_NAME_PREFIX + self._model

    def find(self, text: str) -> list[Counter[str]]:
        """Return the entities and noun phrases of each paragraph."""
        spans = paragraph_spans(text)
        docs = self._nlp.pipe(text[begin:end] for begin, end in spans)
        pairs = zip(spans, docs, strict=True)
        occurrences = [occurrence for (begin, _), doc in pairs for occurrence in _find_occurrences(doc, begin)]
        return count_by_paragraph(spans, occurrences)


def load_spacy(model: str) -> SpacyFinder:
    """Return a finder that uses an installed model, such as `en_core_web_sm`.

    Raises:
        MissingExtraError: spaCy is not installed.
        ConceptsError: the model is not installed.
    """
    if find_spec("spacy") is None:
        raise MissingExtraError("finding concepts with spaCy", "spacy")
    import spacy  # noqa: PLC0415 - an optional dependency

    try:
        return SpacyFinder(spacy.load(model))
    except OSError:
        advice = f"install the model with: python -m spacy download {model}"
        raise ConceptsError(f"the spaCy model {model!r:.60} is not installed; {advice}") from None


def _find_occurrences(doc: Any, offset: int) -> list[Occurrence]:
    """Return the entities of a paragraph, and the noun phrases that contain no entity."""
    entities = [entity for entity in doc.ents if entity.label_ not in _NUMBER_LABELS]
    phrases = list(doc.noun_chunks) if doc.has_annotation("DEP") else []
    starts = [entity.start for entity in entities]
    ends = [entity.end for entity in entities]
    others = [span for span in phrases if bisect_right(starts, span.end - 1) == bisect_right(ends, span.start)]
    return [Occurrence(offset + span.start_char, offset + span.end_char, span.text) for span in (*entities, *others)]
