"""Concepts by a pipeline of spaCy's: entities, and noun phrases if it parses sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from simdoc_search.chunks.paragraphs import paragraph_spans
from simdoc_search.concepts.errors import ConceptsError
from simdoc_search.concepts.occurrences import Found, by_paragraph
from simdoc_search.errors import MissingExtraError

if TYPE_CHECKING:
    from spacy.language import Language

PREFIX = "sp/"
"""What the name of one begins with in the settings of an index; then comes that of the model."""

_MOST_LETTERS = 15
_NAME = re.compile(r"[a-z0-9._-]+")
_NUMBERS = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})
"""Entities that are none of what a text is about."""


class SpacyConcepts:
    """Finds the entities and noun phrases of each paragraph.

    Args:
        nlp: the pipeline, as `spacy.load` gives it. Its language and name are what an index remembers.

    Raises:
        ConceptsError: its name is too long for that.
    """

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp
        self._model = f"{nlp.lang}_{nlp.meta['name']}".lower()
        if len(self._model) > _MOST_LETTERS or not _NAME.fullmatch(self._model):
            raise ConceptsError(
                f"an index cannot remember the model {self._model!r:.60}; give nlp.meta['name'] another one, so that "
                f"it has up to {_MOST_LETTERS} letters with the language"
            )

    @property
    def name(self) -> str:
        """`sp/` and the name of the model, like `sp/en_core_web_sm`."""
        return PREFIX + self._model

    def find(self, text: str) -> list[Counter[str]]:
        """The entities and noun phrases of each paragraph."""
        spans = paragraph_spans(text)
        found: list[Found] = []
        documents = self._nlp.pipe(text[begin:end] for begin, end in spans)
        for (begin, _), document in zip(spans, documents, strict=True):
            found += _found(document, begin)
        return by_paragraph(spans, found)


def load_spacy(model: str) -> SpacyConcepts:
    """An installed model of spaCy's, like `en_core_web_sm`.

    Raises:
        MissingExtraError: spaCy is not installed.
        ConceptsError: the model is not.
    """
    if find_spec("spacy") is None:
        raise MissingExtraError("finding concepts with spaCy", "spacy")
    import spacy  # noqa: PLC0415 - of the extra, and slow to load

    try:
        return SpacyConcepts(spacy.load(model))
    except OSError:
        how = f"python -m spacy download {model}"
        raise ConceptsError(f"spaCy's model {model!r:.60} is not installed; {how}") from None


def _found(document: Any, offset: int) -> list[Found]:
    """The entities of a paragraph, and those of its noun phrases that have none."""
    entities = [each for each in document.ents if each.label_ not in _NUMBERS]
    phrases = list(document.noun_chunks) if document.has_annotation("DEP") else []
    starts = [each.start for each in entities]
    ends = [each.end for each in entities]
    alone = [each for each in phrases if bisect_right(starts, each.end - 1) == bisect_right(ends, each.start)]
    return [Found(offset + each.start_char, offset + each.end_char, each.text) for each in (*entities, *alone)]
