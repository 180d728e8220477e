"""Reads an apostrophe and a narrow space in the same way, whichever character a program chose for them.

For Lucene, `don't` with `'` and with `’` are different words, and a narrow no-break space joins the words at its sides.
But word processors write `’` where web pages write `'`, and French texts have narrow spaces before `;` and `?`.

All functions keep the length of a text, so positions in it do not change.
"""

from __future__ import annotations

import re

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import WordPositions, locate_words

_APOSTROPHES = "\u2019\u2018\u02bc\uff07"
"""The apostrophes besides `'`: two quotation marks, the modifier letter and the full-width apostrophe."""
_NARROW_SPACE, _NO_BREAK_SPACE = "\u202f", "\u00a0"
_FRENCH_SPACE = re.compile(r"[ \u00a0](?=[;:!?»%€])|(?<=«)[ \u00a0]|(?<=\d)[ \u00a0](?=\d{3}(?!\d))")
"""A space where French texts may have a narrow one: before and after some symbols, and between thousands."""


def unify_typography(text: str) -> str:
    """Return a text with `'` for each apostrophe, and with spaces that do not join words."""
    if text.isascii():
        return text
    for apostrophe in _APOSTROPHES:
        text = text.replace(apostrophe, "'")
    return text.replace(_NARROW_SPACE, _NO_BREAK_SPACE)


def locate_unified_words(text: str, analysis: Analysis | None = None) -> WordPositions:
    """Return the words of a text with unified typography; see `locate_words`."""
    return locate_words(unify_typography(text), analysis)


def list_typographic_variants(text: str) -> list[str]:
    """Return a text and the distinct other ways to write its apostrophes and its narrow spaces.

    In each other way, all apostrophes are the same, and so are all spaces that may be narrow.
    """
    unified = unify_typography(text)
    narrow = _FRENCH_SPACE.sub(_NARROW_SPACE, unified)
    others = (variant.replace("'", apostrophe) for apostrophe in "'’" for variant in (unified, narrow))
    return list(dict.fromkeys([text, *others]))
