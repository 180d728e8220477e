"""Extracts the text of an HTML page: its title, unless a block repeats it, then one line per block or table row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from simdoc_search.corpus.encoding import decode
from simdoc_search.errors import DocumentError, MissingExtraError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HIDDEN_ELEMENTS = ["head", "script", "style", "template", "noscript", "iframe", "noembed", "noframes"]
_BLOCK_NAMES = """
address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption
figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre search section
select summary table tbody td text textarea tfoot th thead tr ul
"""
_BLOCK_ELEMENTS = frozenset(_BLOCK_NAMES.split())
_RUBY_TEXT = frozenset({"rt", "rp"})
_BLOCK_BREAK = "\u2029"  # the Unicode paragraph separator; if the page contains one, a line ends there too
_CELL_BREAK = "\u2028"  # the Unicode line separator; if the page contains one, a tab is written there
_MAX_BLOCKS_PER_CELL = 1
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_CHARSET_SEARCH_BYTES = 4096
_XML = re.compile(r"\s*<\?xml\b")
_OWN_PAGE_SELECTOR = 'head meta[name="generator"][content="simdoc-search"]'
_SELF_CLOSED_ELEMENT = re.compile(r"<(title|script|style|iframe|textarea)\b([^<>]*)/>", re.IGNORECASE)


def extract_html_text(data: bytes, *, with_title: bool = True) -> str | None:
    """Extract the visible text of a page. The HTML may be malformed.

    Block elements, table cells and the numbers of notes separate words. Inline elements (`<b>`, `<a>`) do not. A row of
    a table is a line with tabs between its cells, unless one of them has several blocks: then the table may arrange a
    whole page. Ruby annotations are left out.

    Returns:
        The text, or None if the file is binary.

    Raises:
        DocumentError: simdoc-search wrote the page. The page shows texts of documents, so it would be similar to them.
        MissingExtraError: selectolax is not installed.
    """
    try:
        from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingExtraError("reading HTML", "local") from None
    charset = _CHARSET.search(data, 0, _CHARSET_SEARCH_BYTES)
    page = decode(data, charset[1].decode("ascii") if charset else None)
    if page is None:
        return None
    if _XML.match(page):  # for an HTML parser, `<script/>` is an opening tag, so it hides the rest of the page
        page = _SELF_CLOSED_ELEMENT.sub(r"<\1\2></\1>", page)
    tree = LexborHTMLParser(page)
    if tree.css_first(_OWN_PAGE_SELECTOR):
        raise DocumentError("an HTML page that simdoc-search wrote")
    title = tree.css_first("head title") if with_title else None
    title_line = " ".join(title.text().split()) if title else ""
    tree.strip_tags(_HIDDEN_ELEMENTS)
    blocks = "".join(_text_pieces(tree.root)).split(_BLOCK_BREAK) if tree.root else []
    lines = [line for block in blocks if not block.isspace() and (line := _format_line(block)).strip()]
    if title_line and title_line not in lines:  # many pages repeat their heading as the title
        lines.insert(0, title_line)
    return "\n".join(lines)


def _format_line(block: str) -> str:
    if _CELL_BREAK not in block:
        return " ".join(block.split())
    return "\t".join(" ".join(cell.split()) for cell in block.split(_CELL_BREAK))


def _text_pieces(root: LexborNode) -> Iterator[str]:
    """Yield the texts below an element, and a break before and after each block, in linear time."""
    node: LexborNode | None = root if root.child is not None else None
    while node is not None:
        tag, child = node.tag, node.child
        if tag == "-text":
            yield node.text_content or ""
        elif tag in _BLOCK_ELEMENTS:
            yield _BLOCK_BREAK
        elif tag == "sup" and _is_link(node):
            yield " "
        if child is not None and tag not in _RUBY_TEXT:
            row = _read_row(node) if tag == "tr" else None
            if row is None:
                node = child
                continue
            yield row
        while node is not None and node.next is None:  # after the last child, close its parents
            node = node.parent
            if node is None or node.mem_id == root.mem_id:
                return
            if node.tag in _BLOCK_ELEMENTS:
                yield _BLOCK_BREAK
        if node is not None:
            if node.tag in _BLOCK_ELEMENTS:
                yield _BLOCK_BREAK
            node = node.next


def _read_row(row: LexborNode) -> str | None:
    """Return the text of a row of a table. It is None if the row has one cell, or if a cell has several blocks."""
    cells = [cell for cell in _children(row) if cell.tag in ("td", "th")]
    if len(cells) < 2 or any(map(_has_several_blocks, cells)):
        return None
    return _CELL_BREAK.join("".join(_text_pieces(cell)).replace(_BLOCK_BREAK, " ") for cell in cells)


def _is_link(node: LexborNode) -> bool:
    """Return whether an element is a link or begins with one, as the number of a note."""
    return any(other is not None and other.tag == "a" for other in (node.parent, node.child))


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _has_several_blocks(cell: LexborNode) -> bool:
    blocks = (node for node in cell.traverse() if node.tag in _BLOCK_ELEMENTS and node.mem_id != cell.mem_id)
    return next(islice(blocks, _MAX_BLOCKS_PER_CELL, None), None) is not None
