"""Two texts side by side."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from simdoc_search.as_json import comparison_as_json
from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.compare import compare as compared
from simdoc_search.passages.report import pair_view
from simdoc_search.passages.report.summary import contents
from simdoc_search.web.limits import COMPARED_LETTERS
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer
from simdoc_search.web.texts import GivenText, given_text, has_text, letters_of, place_of, record_at

_SHOWN = 2_000_000
"""Characters of both texts that a browser shows fluently side by side."""


def compare(asked: Asked) -> Answer:
    """The documents `a` and `b`, or a text that came along and `b`."""
    search = asked.collection.search()
    second = place_of(asked, search, "b")
    given = given_text(asked) if has_text(asked) else None
    first = given or place_of(asked, search, "a")
    if isinstance(first, GivenText):
        name, text, said = first.name or "your text", first.text, {"file": first.name or None}
    else:
        name, text, said = _name(first), _text(search, first), {"id": first.id}
    texts, names = (text, _text(search, second)), (name, _name(second))
    size = sum(letters_of(each, asked) for each in texts)
    if size > COMPARED_LETTERS:
        raise QuerySyntaxError(
            f"the two texts have {size:,} characters after normalisation; {COMPARED_LETTERS:,} is the maximum here, "
            "simdoc-search compare takes more"
        )
    settings = search.store.settings
    comparison = compared(*texts, preset=asked.preset, settings=settings)
    shown = pair_view(comparison, texts, names, analysis=settings.analysis) if size <= _SHOWN else None
    values: dict[str, Any] = {
        "names": names,
        "places": (None if given else first, second),
        "measures": contents(comparison),
        # Whatever others wrote went through `marking` there.
        "pair": None if shown is None else Markup("".join(shown)),  # noqa: S704
    }
    return Answer("compare.html", values, comparison_as_json(comparison, (said, {"id": second.id})))


def _text(search: Any, place: Place) -> str:
    return record_at(search, place, needs_text=True).text or ""


def _name(place: Place) -> str:
    return place.id if place.index is None else f"{place.id} in {place.index}"
