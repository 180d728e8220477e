"""Reads an HTML page as a browser does, and makes comparisons by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from simdoc_search.passages.passage import Comparison, Difference, Passage

__all__ = ["Element", "HtmlPage", "comparison", "replaced", "same"]

_EMPTY = frozenset({"meta", "input", "link", "img", "br", "base", "rect", "path", "wbr"})


@dataclass
class Element:
    """An element and all text in it."""

    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]
    text: str = ""

    @property
    def classes(self) -> list[str]:
        """The CSS classes."""
        return (self.attributes.get("class") or "").split()


@dataclass
class HtmlPage(HTMLParser):
    """The elements of a page in order. Its tags must be balanced."""

    html: str
    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)
        self.feed(str(self.html))
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element. No attribute may occur twice."""
        assert len(dict(attrs)) == len(attrs)
        inside = tuple(name for element in self._open for name in [element.tag, *element.classes])
        element = Element(tag, dict(attrs), inside)
        self.elements.append(element)
        if tag not in _EMPTY:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close the last element."""
        if tag not in _EMPTY:
            assert tag == self._open.pop().tag

    def handle_data(self, data: str) -> None:
        """Add text to all open elements. Escape sequences are decoded. The numbers of links are left out."""
        if self._open and "n" in self._open[-1].classes:
            self._open[-1].text += data
            return
        if self._open and "escape" in self._open[-1].classes:
            data = data.encode().decode("unicode_escape")
        for element in self._open:
            element.text += data

    def all(self, *names: str) -> list[Element]:
        """The elements with all these names as tag or classes."""
        return [element for element in self.elements if set(names) <= {element.tag, *element.classes}]

    def of_side(self, side: str, *names: str) -> list[Element]:
        """The elements with these names in the first text (`a`) or the second text (`b`)."""
        return [element for element in self.all(*names) if {"side", side, "text"} <= set(element.inside)]

    def text(self, side: str) -> str:
        """The first or the second text, as shown."""
        return "".join(element.text for element in self.of_side(side, "p") if "data-o" in element.attributes)

    def check_links(self) -> None:
        """Every id occurs once, and every link leads to an id."""
        ids = [str(element.attributes["id"]) for element in self.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        targets = {str(element.attributes["href"]) for element in self.elements if "href" in element.attributes}
        assert targets <= {f"#{id}" for id in ids}


def comparison(
    passages: Sequence[Passage] = (), differences: Sequence[Difference] = (), words: tuple[int, int] = (10, 12)
) -> Comparison:
    """A comparison with invented measures."""
    return Comparison(
        0.5, 0.75, 0.6, (0.5, 0.75, 0.6), 0.52, (0.48, 0.56), words, (9, 9), tuple(passages), tuple(differences), ()
    )


def same(a: int, b: int, size: int, words: int = 30) -> Passage:
    """A passage of `size` equal characters that begins at `a` and `b`."""
    return Passage((a, a + size), (b, b + size), words, (((a, a + size), (b, b + size)),))


def replaced(a: tuple[int, int], b: tuple[int, int], words: int = 1) -> Difference:
    """A difference. An empty span decides its kind."""
    if a[0] == a[1]:
        return Difference("inserted", a, b, 0, words)
    return Difference("removed", a, b, words, 0) if b[0] == b[1] else Difference("replaced", a, b, words, words)
