"""The pages of the searches for families of versions and for topics."""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json import families_as_json, topics_as_json
from simdoc_search.groups import Families, Topics
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Page, Redirect
from simdoc_search.web.versions import limits_of

_DEFAULT_GROUPS, _MAX_MEMBERS = 10, 50


def families(request: PageRequest) -> Page:
    """Return the progress of the search, or some of its families. Git is never run."""

    def show(result: Families, start: int, limit: int) -> tuple[int, dict[str, Any], dict[str, Any]]:
        search = request.served.search()
        groups = [search.order_family(family, version_control=False) for family in result.families(limit, start)]
        shown = {"groups": groups, "max_members": _MAX_MEMBERS}
        return result.family_count, shown, families_as_json(result, groups)

    return request.served.families.page(request, "groups.html", _DEFAULT_GROUPS, show)


def topics(request: PageRequest) -> Page:
    """Return the progress of the search, or some of its topics."""
    search = request.served.concepts_search()

    def show(result: Topics, start: int, limit: int) -> tuple[int, dict[str, Any], dict[str, Any]]:
        groups = [(topic, search.name_topic(topic)) for topic in result.topics(limit, start)]
        shown = {"groups": groups, "max_members": _MAX_MEMBERS}
        return result.topic_count, shown, topics_as_json(result, groups)

    return request.served.topics.page(request, "groups.html", _DEFAULT_GROUPS, show)


def start_families(request: PageRequest) -> Redirect:
    """Start a search for families of versions."""
    search = request.served.search()
    options: dict[str, Any] = {"filters": request.filters(), **limits_of(request)}
    return request.served.families.start(lambda report: search.version_families(**options, progress=report))


def start_topics(request: PageRequest) -> Redirect:
    """Start a search for topics."""
    search = request.served.concepts_search()
    options: dict[str, Any] = {"filters": request.filters(), **limits_of(request)}
    return request.served.topics.start(lambda report: search.topics(**options, progress=report))


def stop_families(request: PageRequest) -> Redirect:
    """Stop the running search."""
    return request.served.families.stop()


def stop_topics(request: PageRequest) -> Redirect:
    """Stop the running search."""
    return request.served.topics.stop()
