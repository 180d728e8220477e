#!/bin/sh
# Similar documents with curl alone: a document is saved, then asked about; then a text that is in no index, at last in
# bands: an overlap of 20 % is found with a probability of 95 %.
#
#     sh similar.sh http://localhost:9200 manuals ann
#
# Each answer is one line of JSON; its scores are numbers of matching tokens.
set -eu
url=$1 index=$2 user=$3
readable="{\"terms\": {\"readers\": [\"$user\", \"everyone\"]}}" # what the application filters all its searches by
shown='filter_path=hits.hits._score,hits.hits._source'

request() { # method, path, JSON
    curl --silent --show-error --fail-with-body -X "$1" -H 'Content-Type: application/json' "$url/$2" -d "$3"
}

# Saved like any other document: the pipeline adds the field simdoc. The answer says in which index it is, as an alias
# has several.
saved=$(request PUT "$index/_doc/kettle-2?refresh=true&filter_path=_index" '{
  "title": "Wren kettle, second edition", "readers": ["everyone"],
  "body": "The Wren is a kettle for induction hobs. Fill it to the line inside, and put the whistle on before you switch the hob on. It sings at a hundred degrees. Descale it with two spoons of vinegar every month."
}')
at=${saved#'{"_index":"'}
at=${at%'"}'}

# What is like a document. First a search says whether the user may read it, as the template reads it past all filters,
# and its number of tokens.
itself="{\"ids\": {\"values\": [\"kettle-2\"]}}, {\"term\": {\"_index\": \"$at\"}}"
found=$(request POST "$index/_search?filter_path=hits.hits.fields" "{
  \"query\": {\"bool\": {\"filter\": [$itself, $readable]}}, \"docvalue_fields\": [\"simdoc.buckets\"]
}")
buckets=${found#*'"simdoc.buckets":['}
if [ "$buckets" != "$found" ]; then # else not for this user, or a text without words
    min_tokens=$(((${buckets%%']'*} * 20 + 99) / 100))
    request POST "$index/_search/template?$shown" "{\"id\": \"simdoc-similar\", \"params\": {
      \"index\": \"$at\", \"id\": \"kettle-2\", \"overlap\": 20, \"min_tokens\": $min_tokens,
      \"filter\": [$readable], \"fields\": [\"title\"]
    }}"
    echo
fi

# What is like a text: the pipeline makes its fingerprint, which is sent back as it came.
simulated=$(request POST '_ingest/pipeline/simdoc/_simulate?filter_path=docs.doc._source.simdoc' '{"docs": [{"_source": {
  "body": "It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry it with the lid off."
}}]}')
fingerprint=${simulated#'{"docs":[{"doc":{"_source":{"simdoc":'}
fingerprint=${fingerprint%'}}}]}'}
request POST "$index/_search/template?$shown" "{\"id\": \"simdoc-similar-to-text\", \"params\": {
  \"fingerprint\": $fingerprint, \"overlap\": 10, \"filter\": [$readable], \"fields\": [\"title\"]
}}"
echo

# In bands: the script cuts them, and how many tokens must be equal, for the same template.
cut=$(request POST '_ingest/pipeline/_simulate?filter_path=docs.doc._source.bands' "{
  \"pipeline\": {\"processors\": [{\"script\": {
    \"id\": \"simdoc-bands\", \"params\": {\"into\": \"simdoc\", \"overlap\": 20, \"probability\": 95}
  }}]},
  \"docs\": [{\"_source\": {\"simdoc\": $fingerprint}}]
}")
bands=${cut#'{"docs":[{"doc":{"_source":{"bands":'}
bands=${bands%'}}}]}'}
request POST "$index/_search/template?$shown" "{\"id\": \"simdoc-similar-to-text\", \"params\": {
  \"fingerprint\": $fingerprint, \"bands\": $bands, \"filter\": [$readable], \"fields\": [\"title\"]
}}"
echo
