#!/bin/sh
# Finds similar documents with nothing but curl. The script saves a document and finds documents that are similar to it.
# Then it finds documents that are similar to a text that is not in the index: first with all tokens, then with bands,
# which find a document with an overlap of 20 % with a probability of 95 %.
#
#     sh similar.sh http://localhost:9200 manuals ann
#
# Each response is one line of JSON. Its scores are numbers of matching tokens.
set -eu
url=$1 index=$2 user=$3
readable="{\"terms\": {\"readers\": [\"$user\", \"everyone\"]}}" # the filter of every search of this user
shown='filter_path=hits.hits._score,hits.hits._source'

request() { # method, path, JSON
    curl --silent --show-error --fail-with-body -X "$1" -H 'Content-Type: application/json' "$url/$2" -d "$3"
}

# Save a document. The pipeline adds the field simdoc. The response names the index, because an alias can have several.
saved=$(request PUT "$index/_doc/kettle-2?refresh=true&filter_path=_index" '{
  "title": "Wren kettle, second edition", "readers": ["everyone"],
  "body": "The Wren is a kettle for induction hobs. Fill it to the line inside, and put the whistle on before you switch the hob on. It sings at a hundred degrees. Descale it with two spoons of vinegar every month."
}')
at=${saved#'{"_index":"'}
at=${at%'"}'}

# Find documents that are similar to this document. The template reads the document without any filters, so first
# search for the document with the user's filter. The hit also has the number of its tokens.
itself="{\"ids\": {\"values\": [\"kettle-2\"]}}, {\"term\": {\"_index\": \"$at\"}}"
found=$(request POST "$index/_search?filter_path=hits.hits.fields" "{
  \"query\": {\"bool\": {\"filter\": [$itself, $readable]}}, \"docvalue_fields\": [\"simdoc.buckets\"]
}")
buckets=${found#*'"simdoc.buckets":['}
if [ "$buckets" != "$found" ]; then # otherwise the user may not read it, or it has no words
    request POST "$index/_search/template?$shown" "{\"id\": \"simdoc-similar\", \"params\": {
      \"index\": \"$at\", \"id\": \"kettle-2\", \"overlap\": 20, \"buckets\": ${buckets%%']'*},
      \"filter\": [$readable], \"fields\": [\"title\"]
    }}"
    echo
fi

# Find documents that are similar to a text. The pipeline computes its fingerprint. Send the fingerprint unchanged.
simulated=$(request POST '_ingest/pipeline/simdoc/_simulate?filter_path=docs.doc._source.simdoc' '{"docs": [{"_source": {
  "body": "It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry it with the lid off."
}}]}')
fingerprint=${simulated#'{"docs":[{"doc":{"_source":{"simdoc":'}
fingerprint=${fingerprint%'}}}]}'}
request POST "$index/_search/template?$shown" "{\"id\": \"simdoc-similar-to-text\", \"params\": {
  \"fingerprint\": $fingerprint, \"overlap\": 10, \"filter\": [$readable], \"fields\": [\"title\"]
}}"
echo

# Do the same with bands. The script returns the bands, the minimum number of matching tokens, and the overlap.
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
