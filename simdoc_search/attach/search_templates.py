"""Stored search templates: an application sends parameters, the engine makes the query of them (mustache).

    simdoc-similar           what is like a stored document, by its id
    simdoc-similar-to-text   what is like a text, by its fingerprint
    simdoc-passages          who shares passages with either
    simdoc-new-copies        of which watched documents is either a copy? Asked of the index of watches

Mustache cannot compute. A stored script, simdoc-bands, cuts the bands of an overlap and a probability in a simulated
pipeline, and simdoc-similar-to-text takes them as they come.

docs/search_templates.md has their parameters. Mustache cannot count: it has no 100 - overlap, as `_least_of` of the
query builder writes it, so here an overlap asks for equal tokens rounded down.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from string import Template
from typing import Any

from simdoc_search.attach.pipeline.body import script_source
from simdoc_search.attach.steps import Step
from simdoc_search.errors import StoreError
from simdoc_search.query.dsl import ANY_SHARE, MAX_CLAUSES
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import DEFAULT_FIELD
from simdoc_search.stores.remote.watches import QUERY, WATCHED

_LANGUAGE = "mustache"
_SCRIPTS = "painless"

_TOKENS = "512"
"""Tokens of a document that are asked for: all of those of the default settings."""

_PASSAGES = "{{most}}{{^most}}" + str(MAX_CLAUSES - 24) + "{{/most}}"
"""Passage tokens of a document that are asked for, which leaves room for filters."""

# Without its index each shard would look for the source in its own index: over an alias of three indices, two of them
# would find nothing, silently. A key that no query has makes that an error, which quotes the key.
# The engine itself would leave out all documents with the id of the source, those in other indices too.
_BY_ID = """{"bool": {
  "must": [{"more_like_this": {
    "fields": ["$field.$kind"],
    {{^index}}"the parameter index is missing: the _index of a hit, or of the answer to a write": 1, {{/index}}
    "like": [{
      {{#index}}"_index": "{{index}}", {{/index}}{{#routing}}"routing": "{{routing}}", {{/routing}}"_id": "{{id}}"
    }], "include": true,
    "max_query_terms": $most, "min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": "$least"
  }}],
  "must_not": [{"bool": {"filter": [
    {{#routing}}{"term": {"_routing": "{{routing}}"}}, {{/routing}}
    {"term": {"_index": "{{index}}"}}, {"ids": {"values": ["{{id}}"]}}
  ]}}]
}}"""

# A match without a query is an error of the engine, so a fingerprint that was forgotten, or is none, is one too.
_BY_FINGERPRINT = """{"match": {"$field.$kind": {
  {{#fingerprint.format}}"query": "{{fingerprint.$kind}}", {{/fingerprint.format}}
  "analyzer": "whitespace", "minimum_should_match": "$least"
}}}"""

# Tokens are asked for in bands if there are some: these choose, and the number of equal tokens decides.
_BY_TOKENS = """{"bool": {
  "must": [{"match": {"$field.$kind": {
    {{#fingerprint.format}}"query": "{{fingerprint.$kind}}", {{/fingerprint.format}}
    "analyzer": "whitespace",
    "minimum_should_match": "{{#bands.least}}{{bands.least}}{{/bands.least}}{{^bands.least}}$least{{/bands.least}}"
  }}}],
  "filter": [{{#bands.least}}{"bool": {"should": [
    {{#bands.any_of}}{"match": {"$field.$kind": {"query": "{{.}}", "analyzer": "whitespace", "operator": "and"}}},
    {{/bands.any_of}}{"match_none": {}}
  ], "minimum_should_match": 1}}, {{/bands.least}}{"match_all": {}}],
  "must_not": [{{#id}}{"bool": {"filter": [
    {{#routing}}{"term": {"_routing": "{{routing}}"}}, {{/routing}}
    {{#index}}{"term": {"_index": "{{index}}"}}, {{/index}}{"ids": {"values": ["{{id}}"]}}
  ]}}{{/id}}]
}}"""

_BY_EITHER = "{{^fingerprint}}" + _BY_ID + "{{/fingerprint}}{{#fingerprint}}" + _BY_FINGERPRINT + "{{/fingerprint}}"

_OVERLAP = "{{#overlap}}{{overlap}}%{{/overlap}}{{^overlap}}" + ANY_SHARE + "{{/overlap}}"

# The last of the included is no field: it ends the list, and OpenSearch from 3.8 on lets nothing be in both lists.
_REQUEST = """{
"query": {"bool": {
  "must": [$clause],
  "filter": [{{#filter}}{{#toJson}}.{{/toJson}}, {{/filter}}{"match_all": {}}]
}},
"size": {{size}}{{^size}}10{{/size}}, "from": {{from}}{{^from}}0{{/from}},
{{#least}}"min_score": {{least}},{{/least}}
"_source": {"includes": [{{#fields}}"{{.}}", {{/fields}}{{^fields}}"*", {{/fields}}"$field.none"],
  "excludes": ["$field"]},
"docvalue_fields": ["$field.buckets"]
}"""

# A percolated query has a score of its own kind; the clause beside it counts equal tokens.
_NEW_COPIES = """{
"query": {"bool": {
  "must": [$clause],
  "filter": [{{#filter}}{{#toJson}}.{{/toJson}}, {{/filter}}{"percolate": {"field": "$query",
    {{#fingerprint}}"document": {"$field": {{#toJson}}fingerprint{{/toJson}} }{{/fingerprint}}
    {{^fingerprint}}{{#routing}}"routing": "{{routing}}", {{/routing}}
    "index": "{{index}}", "id": "{{id}}"{{/fingerprint}}
  }}],
  "must_not": [{{#id}}{"bool": {
    "filter": [{"term": {"$watched.id": "{{id}}"}}],
    "should": [{"term": {"$watched.index": "{{index}}"}}, {"term": {"$watched.alias": "{{index}}"}}],
    "minimum_should_match": 1
  }}{{/id}}]
}},
"size": {{size}}{{^size}}10{{/size}}, "from": {{from}}{{^from}}0{{/from}},
"_source": ["$watched"],
"docvalue_fields": ["$field.buckets"]
}"""


def search_templates(field: str = DEFAULT_FIELD) -> dict[str, dict[str, Any]]:
    """The bodies for `PUT _scripts/NAME`, by name.

    Args:
        field: the object field of the fingerprints, unless the parameter `field` names another one.
    """
    names = {"field": "{{field}}" + _usual(field), "query": QUERY, "watched": WATCHED}

    def body(request: str, form: str, kind: str, most: str, least: str) -> dict[str, Any]:
        clause = Template(form).substitute(names, kind=kind, most=most, least=least)
        return {"script": {"lang": _LANGUAGE, "source": Template(request).substitute(names, clause=clause)}}

    return {
        "simdoc-similar": body(_REQUEST, _BY_ID, "tokens", _TOKENS, _OVERLAP),
        "simdoc-similar-to-text": body(_REQUEST, _BY_TOKENS, "tokens", _TOKENS, _OVERLAP),
        "simdoc-passages": body(_REQUEST, _BY_EITHER, "passages", _PASSAGES, "1"),
        "simdoc-new-copies": body(_NEW_COPIES, _BY_EITHER, "tokens", _TOKENS, "1"),
        "simdoc-bands": {"script": {"lang": _SCRIPTS, "source": script_source("bands")}},
    }


def search_template_steps(engine: Engine, field: str = DEFAULT_FIELD, *, force: bool = False) -> list[Step]:
    """What puts the search templates into an engine, those that are not there already.

    Args:
        engine: where.
        field: the object field of the fingerprints.
        force: replace others of these names.

    Raises:
        StoreError: others of these names are there, and may not be replaced; or the engine has no search templates.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses.
    """
    templates = search_templates(field)
    there = {name: _script(engine, name) for name in templates}
    missing = [name for name, body in templates.items() if there[name] != body["script"]]
    if not force and (other := next((name for name in missing if there[name]), None)):
        raise StoreError(
            f"{engine.name} has another search template {other}; compare it with template show --search, or use --force"
        )
    refused = partial(_without_language, engine.name)
    kinds = {_LANGUAGE: "search template", _SCRIPTS: "script"}
    return [
        Step(
            ("_scripts", name),
            templates[name],
            f"{'replace' if there[name] else 'install'} the {kinds[templates[name]['script']['lang']]} {name}",
            "" if there[name] else f"DELETE /_scripts/{name}",
            refused,
        )
        for name in missing
    ]


def _usual(field: str) -> str:
    """What a template has where the parameter names no field."""
    return "{{^field}}" + json.dumps(field)[1:-1] + "{{/field}}"


def _script(engine: Engine, name: str) -> dict[str, Any]:
    """What an engine has by this name, without what it adds; empty if nothing."""
    found = (engine.call("GET", ["_scripts", name], allow=(404,)) or {}).get("script")
    return {key: found.get(key) for key in ("lang", "source")} if isinstance(found, Mapping) else {}


def _without_language(name: str, error: RequestError) -> str | None:
    lacks = next((each for each in (_LANGUAGE, _SCRIPTS) if f"[{each}]" in str(error)), None)
    if error.status != 400 or lacks is None:
        return None
    how = "send the queries of simdoc_search.query from your application instead"
    return f"{name} has no search templates, as it lacks {lacks}; {how}"
