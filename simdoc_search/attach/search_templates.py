"""Stored search templates (mustache): an application sends parameters, and the engine builds the query.

    simdoc-similar           documents similar to a stored document, by its id
    simdoc-similar-to-text   documents similar to a text, by its fingerprint
    simdoc-passages          documents that share passages with a stored document or a text
    simdoc-new-copies        watched documents that a stored document or a text copies; searches the index of watches

docs/search_templates.md describes the parameters. Mustache cannot compute, so the minimum of equal tokens is a
percentage, and the engine rounds the number down. The stored script simdoc-bands computes the bands for an overlap and
a probability. It runs in a simulated pipeline.
"""

from __future__ import annotations

import json
from string import Template
from typing import Any

from simdoc_search.attach.pipeline.body import script_source
from simdoc_search.attach.steps import Step, install_step
from simdoc_search.query.dsl import BEYOND_CHANCE, MAX_CLAUSES
from simdoc_search.query.plans import CHANCE_OVERLAP, CHANCE_STEPS
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD
from simdoc_search.stores.remote.watches import QUERY, WATCHED

_TEMPLATE_LANGUAGE = "mustache"
_SCRIPT_LANGUAGE = "painless"

_TOKENS = "512"
"""Maximum number of tokens in a query. It is the number of buckets in the default settings."""

_PASSAGES = "{{most}}{{^most}}" + str(MAX_CLAUSES - 24) + "{{/most}}"
"""Maximum number of passage tokens in a query. The other clauses are for filters."""

# If the index is missing, each shard looks for the source in its own index, and the other indices behind an alias
# silently return nothing. So an unknown key turns a missing index into an error, and the error quotes the key.
# `must_not` replaces the exclusion by the engine, which would exclude documents with the same id in other indices too.
_BY_ID = """{"bool": {
  "must": [{"more_like_this": {
    "fields": ["$field.$kind"],
    {{^index}}"the parameter index is missing; give the _index of the source, as in a hit": 1, {{/index}}
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

# A match without a query is an error, so a missing or wrong fingerprint is an error too.
_BY_FINGERPRINT = """{"match": {"$field.$kind": {
  {{#fingerprint.format}}"query": "{{fingerprint.$kind}}", {{/fingerprint.format}}
  "analyzer": "whitespace", "minimum_should_match": "$least"
}}}"""

# With bands, a document must have one band, and the minimum number of equal tokens.
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

_OVERLAP = "{{#overlap}}{{overlap}}%{{/overlap}}{{^overlap}}" + BEYOND_CHANCE + "{{/overlap}}"

# The last include names no existing field: it ends the list, and OpenSearch 3.8 and newer refuse a field in both lists.
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

# The score of a percolated query is meaningless, so another clause counts the equal tokens.
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
    """Return the bodies for `PUT _scripts/NAME`, by name. `field` is the default of their parameter `field`."""
    names = {"field": "{{field}}" + _default_field(field), "query": QUERY, "watched": WATCHED}

    def body(request: str, clause: str, kind: str, most: str, least: str) -> dict[str, Any]:
        clause = Template(clause).substitute(names, kind=kind, most=most, least=least)
        return {"script": {"lang": _TEMPLATE_LANGUAGE, "source": Template(request).substitute(names, clause=clause)}}

    chance = {"chance_steps": ", ".join(map(str, CHANCE_STEPS)), "chance_percent": float(100 * CHANCE_OVERLAP)}
    bands = Template(script_source("bands")).substitute(chance)
    return {
        "simdoc-similar": body(_REQUEST, _BY_ID, "tokens", _TOKENS, _OVERLAP),
        "simdoc-similar-to-text": body(_REQUEST, _BY_TOKENS, "tokens", _TOKENS, _OVERLAP),
        "simdoc-passages": body(_REQUEST, _BY_EITHER, "passages", _PASSAGES, "1"),
        "simdoc-new-copies": body(_NEW_COPIES, _BY_EITHER, "tokens", _TOKENS, "1"),
        "simdoc-bands": {"script": {"lang": _SCRIPT_LANGUAGE, "source": bands}},
    }


def search_template_steps(engine: Engine, field: str = DEFAULT_FIELD, *, force: bool = False) -> list[Step]:
    """Return the steps that install the missing search templates.

    Raises:
        StoreError: a different template has one of these names, and `force` is not set.
    """
    steps = []
    for name, body in search_templates(field).items():
        kind = "script" if body["script"]["lang"] == _SCRIPT_LANGUAGE else "search template"
        stored = (engine.call("GET", ["_scripts", name], allow=(404,)) or {}).get("script")
        existing = {"script": {key: stored.get(key) for key in ("lang", "source")}} if stored else None
        steps += install_step(
            engine, "search template", ["_scripts", name], body, existing=existing, name=f"{kind} {name}", force=force
        )
    return steps


def _default_field(field: str) -> str:
    """The part of a template that inserts this name if the request has no parameter `field`."""
    return "{{^field}}" + json.dumps(field)[1:-1] + "{{/field}}"
