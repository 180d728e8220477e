<?php
// Similar documents in PHP, without a package: a document is saved, then asked about; then a text that is in no index.
//
//     php similar.php http://localhost:9200 manuals ann
//
// The numbers are those of matching tokens.

declare(strict_types=1);

[, $url, $index, $user] = $argv;
$readable = ['terms' => ['readers' => [$user, 'everyone']]]; // what the application filters all its searches by

function request(string $method, string $path, array $body): array
{
    global $url;
    $options = ['method' => $method, 'header' => 'Content-Type: application/json', 'content' => json_encode($body)];
    $answer = file_get_contents("$url/$path", false, stream_context_create(['http' => $options]));
    if ($answer === false) {
        exit(1); // PHP has said why
    }
    return json_decode($answer, true);
}

/** Save a document like any other: the pipeline adds the field simdoc. The answer says in which index it is. */
function save(string $id, array $document): array
{
    global $index;
    return request('PUT', "$index/_doc/" . rawurlencode($id) . '?refresh=true', $document);
}

/**
 * What is like a document, which is a hit or the answer to a write. First a search says whether the user may read it,
 * as the template reads it past all filters; its routing, if it has one; and its number of tokens.
 */
function similar(array $document, int $overlap): array
{
    global $index, $readable;
    ['_index' => $at, '_id' => $id] = $document;
    $query = ['bool' => ['filter' => [['ids' => ['values' => [$id]]], ['term' => ['_index' => $at]], $readable]]];
    $asked = ['query' => $query, '_source' => false, 'docvalue_fields' => ['simdoc.buckets']];
    $found = request('POST', "$index/_search", $asked)['hits']['hits'][0] ?? [];
    if (!isset($found['fields'])) {
        return []; // not for this user, or a text without words
    }
    $minTokens = (int) ceil($found['fields']['simdoc.buckets'][0] * $overlap / 100);
    $source = ['index' => $at, 'id' => $id, 'routing' => $found['_routing'] ?? null];
    return ask('simdoc-similar', $source + ['overlap' => $overlap, 'min_tokens' => $minTokens]);
}

/** What is like a text: the pipeline makes its fingerprint, which is sent back as it came. */
function similarToText(string $body, int $overlap): array
{
    $made = request('POST', '_ingest/pipeline/simdoc/_simulate', ['docs' => [['_source' => ['body' => $body]]]]);
    $fingerprint = $made['docs'][0]['doc']['_source']['simdoc'] ?? null; // a text without words has none
    return $fingerprint ? ask('simdoc-similar-to-text', ['fingerprint' => $fingerprint, 'overlap' => $overlap]) : [];
}

function ask(string $template, array $params): array
{
    global $index, $readable;
    $params += ['filter' => [$readable], 'fields' => ['title']];
    $answer = request('POST', "$index/_search/template", ['id' => $template, 'params' => $params]);
    return array_map(fn($hit) => "{$hit['_source']['title']} ({$hit['_score']})", $answer['hits']['hits']);
}

$saved = save('kettle-2', [
    'title' => 'Wren kettle, second edition',
    'readers' => ['everyone'],
    'body' => 'The Wren is a kettle for induction hobs. Fill it to the line inside, and put the whistle on before you '
        . 'switch the hob on. It sings at a hundred degrees. Descale it with two spoons of vinegar every month.',
]);
foreach (similar($saved, 20) as $found) {
    echo "like the document: $found\n";
}
$text = 'It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry '
    . 'it with the lid off.';
foreach (similarToText($text, 10) as $found) {
    echo "like the text: $found\n";
}
