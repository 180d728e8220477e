r"""Any text in a cell of a table, so that editors and spreadsheets leave it as it is.

Tabs, ends of lines, quotes, lone surrogates (the bytes of a name that is not UTF-8) and what does not show are written
as `\t`, `\udcff` and so on, a backslash as `\\`. What a spreadsheet would take for a formula, a number or a date begins
with such an escape: `=1+1` is `\x3d1+1`.
"""

from __future__ import annotations

import re

from simdoc_search.display import printable

_TAKEN_FOR_ELSE = re.compile(r"[=+\-@#' ].*|[\d.,:/ e+\-]+%?|true|false", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([\\tnr])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|)")
_SHORT = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def escaped(text: str) -> str:
    """A text as a cell."""
    cell = printable(text.replace("\\", "\\\\")).replace('"', r"\x22")
    if _TAKEN_FOR_ELSE.fullmatch(cell):
        cell = rf"\x{ord(cell[0]):02x}{cell[1:]}"
    return cell[:-1] + r"\x20" if cell.endswith(" ") else cell


def unescaped(cell: str) -> str:
    """The text of a cell.

    Raises:
        ValueError: a backslash begins no escape.
    """
    return _ESCAPE.sub(_meant, cell)


def _meant(match: re.Match[str]) -> str:
    short, *codes = match.groups()
    code = next(filter(None, codes), None)
    if short is None and code is None:
        raise ValueError(rf"a backslash is written \\ in a plan; in {match.string!r:.100} one is not")
    return _SHORT[short] if short else chr(int(code or "", 16))
