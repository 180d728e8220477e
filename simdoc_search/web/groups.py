"""The pages of the searches for families of versions and for topics."""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json.groups import families_as_json, topics_as_json
from simdoc_search.groups import Families, Topics
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Page, Redirect
from simdoc_search.web.versions import read_thresholds

_DEFAULT_GROUPS, _MAX_MEMBERS = 10, 50


def families(request: PageRequest) -> Page:
    """Return the page that shows the progress of the search, or families. Git is never run."""

    def show_groups(result: Families, start: int, limit: int) -> tuple[int, dict[str, Any], dict[str, Any]]:
        search = request.served_store.search()
        groups = [search.order_family(family, use_git=False) for family in result.families(limit, start)]
        values = {"groups": groups, "max_members": _MAX_MEMBERS}
        return result.family_count, values, families_as_json(result, groups)

    return request.served_store.families.make_page(request, "groups.html", _DEFAULT_GROUPS, show_groups)


def topics(request: PageRequest) -> Page:
    """Return the page that shows the progress of the search, or topics."""
    search = request.served_store.concepts_search()

    def show_groups(result: Topics, start: int, limit: int) -> tuple[int, dict[str, Any], dict[str, Any]]:
        groups = [(topic, search.name_topic(topic)) for topic in result.topics(limit, start)]
        values = {"groups": groups, "max_members": _MAX_MEMBERS}
        return result.topic_count, values, topics_as_json(result, groups)

    return request.served_store.topics.make_page(request, "groups.html", _DEFAULT_GROUPS, show_groups)


def start_families(request: PageRequest) -> Redirect:
    """Start a search for families of versions."""
    search = request.served_store.search()
    options: dict[str, Any] = {"filters": request.filters(), **read_thresholds(request)}
    return request.served_store.families.start(lambda report: search.version_families(**options, progress=report))


def start_topics(request: PageRequest) -> Redirect:
    """Start a search for topics."""
    search = request.served_store.concepts_search()
    options: dict[str, Any] = {"filters": request.filters(), **read_thresholds(request)}
    return request.served_store.topics.start(lambda report: search.topics(**options, progress=report))
