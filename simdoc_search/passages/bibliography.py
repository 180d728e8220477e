"""Finds the bibliography of a text."""

from __future__ import annotations

import re
from collections import deque

from simdoc_search.passages.passage import Span
from simdoc_search.passages.positions import TextPositions

_HEADINGS = (
    *("(?:select(?:ed)? )?bibliography", "(?:list of )?references", "reference list", "works cited"),
    *("(?:cited )?literature", "literature cited", "sources and literature"),
    *("(?:quellen- und )?literaturverzeichnis", "quellenverzeichnis", "literatur", "bibliogra(?:ph|f)ie"),
    *("références(?: bibliographiques)?", "referencias(?: bibliográficas)?", "bibliografía", "bibliografia"),
    *("riferimenti bibliografici", "referências(?: bibliográficas)?", "literatuur(?:lijst)?", "referenties"),
    *("literatura", "wykaz literatury", "referenser", "(?:käll- och )?litteraturförteckning", "källförteckning"),
)
"""In English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and Swedish."""
_NEXT_HEADINGS = (
    *("index", "statement", "acknowledge?ments?", "glossary", "notes", "footnotes", "endnotes", "copyright"),
    *("appendi(?:x|ces)\\b.*", "annex(?:es)?\\b.*", "declaration\\b.*", "about the authors?", "curriculum vitae"),
    *("anh[aä]n?ge?\\b.*", "anlagen?\\b.*", "eidesstattliche .*", "erklärung\\b.*", "list of .*"),
    *("danksagung", "selbst(?:st)?ändigkeitserklärung", "(?:abbildungs|tabellen)verzeichnis"),
    *("licen[cs]es?", "lizenz(?:en)?", "licencias?", "licenz[ae]", "licenties?", "funding", "förderung", "financement"),
    *("data availability(?: statement)?", "supplementary (?:data|information|materials?)", "author contributions"),
    *("(?:competing|conflicts? of) interests?", "tables", "figures", "transcripts?", "postscript", "afterword"),
    *("remerciements", "anexos?\\b.*", "załączniki?\\b.*"),
    *("ap[eéê]ndices?\\b.*", "allegat[oi]\\b.*", "bijlagen?\\b.*", "bilag(?:a|or)\\b.*"),
)
_SPACE = r"[^\S\n\f]"
_LINE_START = rf"(?:^|(?<=\f)){_SPACE}*(?:#+{_SPACE}*)?(?:(?:\d+(?:\.\d+)*|[IVX]+|[A-Z])[.)]?{_SPACE}+)?[*_]{{0,3}}"
_LINE_END = rf":?[*_]{{0,3}}:?{_SPACE}*(?:$|(?=\f))"
_HEADING = re.compile(rf"{_LINE_START}(?:{'|'.join(_HEADINGS)}){_LINE_END}", re.IGNORECASE | re.MULTILINE)
_NEXT_HEADING = re.compile(
    rf"{_LINE_START}(?:{'|'.join(_NEXT_HEADINGS)}){_LINE_END}|^\[\^\w+\]:", re.IGNORECASE | re.MULTILINE
)
_REFERENCE = re.compile(r"\b(?:1[5-9]|20)\d\d[a-z]?\b|\bdoi\b|\bhttps?:|\bISBN\b|\bin press\b", re.IGNORECASE)
"""What nearly every entry of a bibliography contains."""
_MAX_HEADINGS = 5
"""The maximum number of headings that are tried, from the last one."""
_MAX_GAP_CHARACTERS = 500
"""The maximum number of characters between two references of a bibliography."""


def find_bibliography(text: str) -> Span | None:
    """Return the span of a text's bibliography with its heading, or None if it has none.

    The heading is the last line in the second half of the text that is the name of a bibliography. A reference is a
    year, a DOI or an address. The bibliography ends before the next heading that usually follows it, such as an
    index or an appendix, before the footnotes, or where the references end.
    """
    headings = deque(_HEADING.finditer(text, len(text) // 2), _MAX_HEADINGS)
    for heading in reversed(headings):
        next_heading = _NEXT_HEADING.search(text, heading.end())
        limit = next_heading.start() if next_heading else len(text)
        end = heading.end()
        for reference in _REFERENCE.finditer(text, end, limit):
            if reference.start() - end > _MAX_GAP_CHARACTERS:
                break
            end = reference.end()
        if end > heading.end():
            return heading.start(), _end_of_entry(text, end, limit)
    return None


def describe_bibliography(text: str, span: Span | None) -> str:
    """Return a sentence that says which part of a text is its bibliography."""
    if span is None:
        return "No bibliography was found, so none is ignored."
    positions = TextPositions(text)
    return f"The bibliography is ignored: {positions.label(span[0])} to {positions.label(span[1] - 1)}."


def _end_of_entry(text: str, position: int, limit: int) -> int:
    """Return the end of the entry whose last reference ends at `position`: the end of a paragraph or line."""
    rest = text[position : min(limit, position + _MAX_GAP_CHARACTERS)]
    if position + len(rest) == limit:
        return position + len(rest.rstrip())
    end = re.search(r"\r?\n[^\S\n]*\n|\f", rest) or re.search(r"\r?\n|$", rest)
    return position + end.start() if end else limit
