"""Reads an HTML page as a browser does, and makes comparisons by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from simdoc_search.passages.passage import Comparison, Difference, Passage

__all__ = ["Element", "Page", "comparison", "replaced", "same"]

_EMPTY = frozenset({"meta", "input", "link", "img", "br", "base"})


@dataclass
class Element:
    """An element with all text below it."""

    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]
    text: str = ""

    @property
    def classes(self) -> list[str]:
        """What `class` says."""
        return (self.attributes.get("class") or "").split()


@dataclass
class Page(HTMLParser):
    """A page that was read: all its elements in order."""

    html: str
    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)
        self.feed(self.html)
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Every attribute stands there once."""
        assert len(dict(attrs)) == len(attrs)
        classes = tuple(each for element in self._open for each in [element.tag, *element.classes])
        element = Element(tag, dict(attrs), classes)
        self.elements.append(element)
        if tag not in _EMPTY and tag not in {"rect", "path"}:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As in an image."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """What is opened last is closed first."""
        if tag not in {"rect", "path"}:
            assert tag == self._open.pop().tag

    def handle_data(self, data: str) -> None:
        """Belongs to all that is open; signs are read back, and numbers of passages are no text."""
        if self._open and "n" in self._open[-1].classes:
            self._open[-1].text += data
            return
        if self._open and "sign" in self._open[-1].classes:
            data = data.encode().decode("unicode_escape")
        for element in self._open:
            element.text += data

    def all(self, *names: str) -> list[Element]:
        """The elements that have all these as tag or classes."""
        return [each for each in self.elements if set(names) <= {each.tag, *each.classes}]

    def of_side(self, side: str, *names: str) -> list[Element]:
        """Those of them in the first text (`a`) or the second (`b`)."""
        return [each for each in self.all(*names) if {"side", side, "text"} <= set(each.inside)]

    def text(self, side: str) -> str:
        """What the first or the second text shows."""
        return "".join(each.text for each in self.of_side(side, "p") if "data-o" in each.attributes)


def comparison(
    passages: Sequence[Passage] = (), differences: Sequence[Difference] = (), words: tuple[int, int] = (10, 12)
) -> Comparison:
    """What two texts share, with measures that nobody measured."""
    return Comparison(
        0.5, 0.75, 0.6, (0.5, 0.75, 0.6), 0.52, (0.48, 0.56), words, (9, 9), tuple(passages), tuple(differences), ()
    )


def same(a: int, b: int, size: int, words: int = 30) -> Passage:
    """A passage that is equal in both texts: where it begins, and how many characters it has."""
    return Passage((a, a + size), (b, b + size), words, (((a, a + size), (b, b + size)),))


def replaced(a: tuple[int, int], b: tuple[int, int], words: int = 1) -> Difference:
    """A difference; of what kind follows from the spans."""
    if a[0] == a[1]:
        return Difference("inserted", a, b, words)
    return Difference("removed" if b[0] == b[1] else "replaced", a, b, words)
