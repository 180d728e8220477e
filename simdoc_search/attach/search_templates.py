"""Stores search templates (Mustache) in an engine. An application sends parameters, and the engine builds the query.

    simdoc-similar           documents similar to a stored document, by its id
    simdoc-similar-to-text   documents similar to a text, by its fingerprint
    simdoc-passages          documents that share passages with a stored document or a text
    simdoc-new-copies        watched documents that share text with a document or a text; searches the index of watches

docs/search_templates_reference.md describes the parameters. A Mustache template cannot calculate. The minimum number of
matching tokens is therefore a percentage, which the engine rounds down. A long document can have that many in spite of
a small overlap. The stored script simdoc-overlap removes such hits, if the number of tokens of the query document is
known. The stored script simdoc-bands computes the bands for an overlap and a probability. Applications run it with
`_ingest/pipeline/_simulate`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from string import Template
from typing import Any

from simdoc_search.attach.pipeline.body import join_scripts
from simdoc_search.attach.steps import Step, plan_install_step
from simdoc_search.query.dsl import MAX_CLAUSES, MAX_QUERY_TOKENS, MINIMUM_SHOULD_MATCH_BEYOND_CHANCE
from simdoc_search.query.plans import CHANCE_STEPS, MIN_OVERLAP_WITHOUT_CHANCE_FILTER
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD
from simdoc_search.stores.remote.watches import QUERY_FIELD, WATCHED_FIELD

_TEMPLATE_LANGUAGE = "mustache"
_SCRIPT_LANGUAGE = "painless"

_MAX_PASSAGE_TOKENS_TEMPLATE = "{{max_tokens}}{{^max_tokens}}" + str(MAX_CLAUSES - 24) + "{{/max_tokens}}"
"""Maximum number of passage tokens in a query. By default, it leaves 24 of the engine's clauses for filters."""

# Without the parameter `index`, each shard would look for the query document in its own index, so only one index behind
# an alias would return hits. If the parameter is missing, the template inserts an error message as an unknown key. The
# engine then rejects the query, and its response contains the message.
#
# `must_not` excludes the query document. `"include": false` would also exclude documents with the same id in other
# indices.
_QUERY_BY_ID = """{"bool": {
  "must": [{"more_like_this": {
    "fields": ["$field.$kind"],
    {{^index}}"the parameter index is missing; set it to the _index of the query document": 1, {{/index}}
    "like": [{
      {{#index}}"_index": "{{index}}", {{/index}}{{#routing}}"routing": "{{routing}}", {{/routing}}"_id": "{{id}}"
    }], "include": true,
    "max_query_terms": $max_tokens, "min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": "$min_should_match"
  }}],
  "must_not": [{"bool": {"filter": [
    {{#routing}}{"term": {"_routing": "{{routing}}"}}, {{/routing}}
    {"term": {"_index": "{{index}}"}}, {"ids": {"values": ["{{id}}"]}}
  ]}}]
}}"""

# If the fingerprint is missing or malformed, `match` has no `query`, and the engine returns an error.
_QUERY_BY_FINGERPRINT = """{"match": {"$field.$kind": {
  {{#fingerprint.format}}"query": "{{fingerprint.$kind}}", {{/fingerprint.format}}
  "analyzer": "whitespace", "minimum_should_match": "$min_should_match"
}}}"""

# With bands, a document must contain all tokens of at least one band, and the minimum number of matching tokens.
_QUERY_BY_TOKENS = """{"bool": {
  "must": [{"match": {"$field.$kind": {
    {{#fingerprint.format}}"query": "{{fingerprint.$kind}}", {{/fingerprint.format}}
    "analyzer": "whitespace",
    "minimum_should_match": "{{#bands.min_tokens}}{{bands.min_tokens}}{{/bands.min_tokens}}\
{{^bands.min_tokens}}$min_should_match{{/bands.min_tokens}}"
  }}}],
  "filter": [{{#bands.min_tokens}}{"bool": {"should": [
    {{#bands.any_of}}{"match": {"$field.$kind": {"query": "{{.}}", "analyzer": "whitespace", "operator": "and"}}},
    {{/bands.any_of}}{"match_none": {}}
  ], "minimum_should_match": 1}}, {{/bands.min_tokens}}{"match_all": {}}],
  "must_not": [{{#id}}{"bool": {"filter": [
    {{#routing}}{"term": {"_routing": "{{routing}}"}}, {{/routing}}
    {{#index}}{"term": {"_index": "{{index}}"}}, {{/index}}{"ids": {"values": ["{{id}}"]}}
  ]}}{{/id}}]
}}"""

_QUERY_BY_ID_OR_FINGERPRINT = (
    "{{^fingerprint}}" + _QUERY_BY_ID + "{{/fingerprint}}{{#fingerprint}}" + _QUERY_BY_FINGERPRINT + "{{/fingerprint}}"
)

_MIN_OVERLAP_TEMPLATE = (
    "{{#overlap}}{{overlap}}%{{/overlap}}{{^overlap}}" + MINIMUM_SHOULD_MATCH_BEYOND_CHANCE + "{{/overlap}}"
)

# A query with a minimum overlap removes the hits to which the script gives the score 0. If only `bands` contains the
# overlap, the query removes only the hits whose number of matching tokens rules out the overlap.
_CHECK = """{"script_score": {"min_score": 1, $error "script": {"id": "simdoc-overlap", "params": {
  "field": "$field", "overlap": $overlap, $buckets "is_tolerant": $is_tolerant
} }, "query": """
_END_CHECK = " } }"

_BUCKETS = """{{#bands.buckets}}"buckets": {{bands.buckets}}, {{/bands.buckets}}
  {{^bands.buckets}}{{#fingerprint.buckets}}"buckets": {{fingerprint.buckets}}, {{/fingerprint.buckets}}
  {{/bands.buckets}}"""

_MISSING_BUCKETS = """{{^bands.buckets}}{{^fingerprint.buckets}}
  "the parameter fingerprint has no buckets; set it to the whole object of a document": 1, {{/fingerprint.buckets}}
  {{/bands.buckets}}"""

# In `includes`, a comma follows each of the user's fields. So the list ends with one more field, `$field.none`, which
# does not exist. It cannot be `$field`, because OpenSearch 3.8 and newer reject a field that is also in `excludes`.
_REQUEST = """{
"query": $check{"bool": {
  "must": [$clause],
  "filter": [{{#filter}}{{#toJson}}.{{/toJson}}, {{/filter}}{"match_all": {}}]
}}$end,
"size": {{size}}{{^size}}10{{/size}}, "from": {{from}}{{^from}}0{{/from}},
{{#min_tokens}}"min_score": {{min_tokens}},{{/min_tokens}}
"_source": {"includes": [{{#fields}}"{{.}}", {{/fields}}{{^fields}}"*", {{/fields}}"$field.none"],
  "excludes": ["$field"]},
"docvalue_fields": ["$field.buckets"]
}"""

# The score of a percolated query is meaningless, so another clause counts the matching tokens.
_NEW_COPIES_REQUEST = """{
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


def build_search_templates(field: str = DEFAULT_FIELD) -> dict[str, dict[str, Any]]:
    """Return the bodies for `PUT _scripts/NAME`, by name. `field` is the default value of their parameter `field`."""
    names = {"field": "{{field}}" + insert_default_field(field), "query": QUERY_FIELD, "watched": WATCHED_FIELD}

    def build_body(request: str, clause: str, *, check: str = "", end: str = "", **values: str) -> dict[str, Any]:
        """Enclose the query in `check` and `end`."""
        parts = {"clause": Template(clause).substitute(names, **values), "check": check, "end": end}
        return {"script": {"lang": _TEMPLATE_LANGUAGE, "source": Template(request).substitute(names, **parts)}}

    chance = {
        "chance_steps": ", ".join(map(str, CHANCE_STEPS)),
        "chance_percent": float(100 * MIN_OVERLAP_WITHOUT_CHANCE_FILTER),
    }
    scripts = {"bands": Template(join_scripts("bands")).substitute(chance), "overlap": join_scripts("overlap")}
    tokens = {"kind": "tokens", "max_tokens": str(MAX_QUERY_TOKENS)}
    similar = {**tokens, "min_should_match": _MIN_OVERLAP_TEMPLATE}
    passages = {"kind": "passages", "max_tokens": _MAX_PASSAGE_TOKENS_TEMPLATE, "min_should_match": "1"}
    return {
        "simdoc-similar": build_body(_REQUEST, _QUERY_BY_ID, **_checks_by_id(names), **similar),
        "simdoc-similar-to-text": build_body(_REQUEST, _QUERY_BY_TOKENS, **_checks_by_tokens(names), **similar),
        "simdoc-passages": build_body(_REQUEST, _QUERY_BY_ID_OR_FINGERPRINT, **passages),
        "simdoc-new-copies": build_body(
            _NEW_COPIES_REQUEST, _QUERY_BY_ID_OR_FINGERPRINT, **tokens, min_should_match="1"
        ),
        **{f"simdoc-{name}": {"script": {"lang": _SCRIPT_LANGUAGE, "source": text}} for name, text in scripts.items()},
    }


def _checks_by_id(names: Mapping[str, str]) -> dict[str, str]:
    """Return the parts `check` and `end` of a request with the parameters `overlap` and `buckets`."""
    check = _build_check(names, overlap="{{overlap}}", buckets='"buckets": {{buckets}},')
    return {name: _only_with(text, "overlap", "buckets") for name, text in (("check", check), ("end", _END_CHECK))}


def _checks_by_tokens(names: Mapping[str, str]) -> dict[str, str]:
    """Return the parts `check` and `end` of a request with the parameter `overlap`, or `bands` that contain it."""
    check = _build_check(names, overlap="{{overlap}}", buckets=_BUCKETS, error=_MISSING_BUCKETS)
    check_of_bands = _build_check(
        names, overlap="{{bands.overlap}}", buckets='"buckets": {{bands.buckets}},', is_tolerant="true"
    )
    return {
        name: _only_with(text, "overlap") + "{{^overlap}}" + _only_with(text_of_bands, "bands.overlap") + "{{/overlap}}"
        for name, text, text_of_bands in (("check", check, check_of_bands), ("end", _END_CHECK, _END_CHECK))
    }


def _build_check(names: Mapping[str, str], **values: str) -> str:
    return Template(_CHECK).substitute({"error": "", "is_tolerant": "false", **names, **values})


def _only_with(text: str, *parameters: str) -> str:
    """Return text that appears only if the request has all of these parameters."""
    for name in reversed(parameters):
        text = f"{{{{#{name}}}}}{text}{{{{/{name}}}}}"
    return text


def plan_search_template_steps(engine: Engine, field: str = DEFAULT_FIELD, *, force: bool = False) -> list[Step]:
    """Return the steps that install the missing search templates.

    Raises:
        StoreError: a different template has one of these names, and `force` is not set.
    """
    steps = []
    for name, body in build_search_templates(field).items():
        kind = "script" if body["script"]["lang"] == _SCRIPT_LANGUAGE else "search template"
        stored = (engine.call("GET", ["_scripts", name], allowed_statuses=(404,)) or {}).get("script")
        existing = {"script": {key: stored.get(key) for key in ("lang", "source")}} if stored else None
        steps += plan_install_step(
            engine, "search template", ["_scripts", name], body, existing=existing, name=f"{kind} {name}", force=force
        )
    return steps


def insert_default_field(field: str) -> str:
    """Return the part of a template that inserts this field if the request has no parameter `field`."""
    return "{{^field}}" + json.dumps(field)[1:-1] + "{{/field}}"
