"""Finds the bibliography of a text."""

from __future__ import annotations

import re
from collections import deque

from simdoc_search.passages.passage import Span
from simdoc_search.passages.positions import TextPositions

_HEADINGS = (
    *("(?:select(?:ed)? )?bibliography", "(?:list of )?references", "reference list", "works cited"),
    *("(?:cited )?literature", "literature cited", "sources(?: and literature)?"),
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
    *("remerciements", "(?:table|liste) des (?:figures|illustrations|tableaux)", "anexos?\\b.*", "załączniki?\\b.*"),
    *("ap[eéê]ndices?\\b.*", "allegat[oi]\\b.*", "bijlagen?\\b.*", "bilag(?:a|or)\\b.*"),
)
_SPACE = r"[^\S\n\f]"
_LINE_START = rf"(?:^|(?<=\f)){_SPACE}*(?:#+{_SPACE}*)?(?:(?:\d+(?:\.\d+)*|[IVX]+|[A-Z])[.)]?{_SPACE}+)?[*_]{{0,3}}"
_LINE_END = rf":?[*_]{{0,3}}:?{_SPACE}*(?:$|(?=\f))"
_HEADING = re.compile(rf"{_LINE_START}(?:{'|'.join(_HEADINGS)}){_LINE_END}", re.IGNORECASE | re.MULTILINE)
_NEXT_HEADING = re.compile(
    rf"{_LINE_START}(?:{'|'.join(_NEXT_HEADINGS)}){_LINE_END}|^\[\^\w+\]:|^[^\n]*?\.{{5}}", re.IGNORECASE | re.MULTILINE
)
_CAPITAL = "A-ZÀ-ÖØ-ÞŒĄĆĘŁŃŚŹŻ"
_TOKEN = re.compile(
    r"(?P<reference>(?i:\b(?:1[5-9]|20)\d\d[a-z]?\b|\bdoi\b|\bhttps?:|\bwww\.\S+|\bISBN\b|\bin press\b))"
    rf"|(?P<sign>//\S+|\b[{_CAPITAL}]\.|\d[–-]\d|\d\(\d|,\s(?=[{_CAPITAL}\d\"“„«‘]))"
    rf"|(?<![\w-])[^\W\d_{_CAPITAL}][\w-]+"
)
"""A sign of an entry, or a word in lower case. Nearly every entry of a bibliography contains a reference: a year, a DOI
or an address. The other signs are an initial, a range of pages, an issue, a comma before a name or number, and the
slashes of an address, which is two signs."""
_LINE = re.compile(r"[^\n\f]+")
_ENTRY_ENDS = (".", ")", "]", "/", *"0123456789")
"""How a line without a sign ends if it is the last one of an entry."""
_WORDS_PER_SIGN = 5
"""The number of words in lower case that a sign offsets. The last line may also have this many that no sign offsets."""
_MAX_WORDS = 30
"""The maximum number of words in lower case in a row without a sign, such as in a long title."""
_MAX_HEADINGS = 5
"""The maximum number of headings that are tried, from the last one."""
_MAX_GAP_CHARACTERS = 500
"""The maximum number of characters between two references of a bibliography."""


def find_bibliography(text: str) -> Span | None:
    """Return the span of a text's bibliography with its heading, or None if it has none.

    The heading is the last line in the second half of the text that is the name of a bibliography. The bibliography
    ends before the next heading that usually follows it, such as an index or an appendix, before the footnotes, or
    where prose begins.
    """
    headings = deque(_HEADING.finditer(text, len(text) // 2), _MAX_HEADINGS)
    for heading in reversed(headings):
        next_heading = _NEXT_HEADING.search(text, heading.end())
        limit = next_heading.start() if next_heading else len(text)
        if (end := _find_end(text, heading.end(), limit)) > heading.end():
            return heading.start(), end
    return None


def describe_bibliography(text: str, span: Span | None) -> str:
    """Return a sentence that says which part of a text is its bibliography."""
    if span is None:
        return "No bibliography was found, so none is ignored."
    positions = TextPositions(text)
    return f"The bibliography is ignored: {positions.label(span[0])} to {positions.label(span[1] - 1)}."


def _find_end(text: str, start: int, limit: int) -> int:
    """Return the end of the last line that belongs to the entries from `start` to `limit`; `start` if there is none.

    `surplus` is the number of words in lower case that no sign offsets. In entries, it returns to almost zero again
    and again. In prose, it grows.
    """
    end = last_reference = start
    surplus = row = 0
    for line in _LINE.finditer(text, start, limit):
        has_sign = False
        for token in _TOKEN.finditer(text, line.start(), line.end()):
            if token.lastgroup:
                has_sign = True
                surplus, row = max(0, surplus - _WORDS_PER_SIGN), 0
                if token.lastgroup == "reference":
                    last_reference = token.end()
            else:
                surplus, row = surplus + 1, row + 1
            if row > _MAX_WORDS or token.end() - last_reference > _MAX_GAP_CHARACTERS:
                return end
        content = line[0].rstrip()
        if surplus <= _WORDS_PER_SIGN and last_reference > start and (has_sign or content.endswith(_ENTRY_ENDS)):
            end = line.start() + len(content)
    return end
