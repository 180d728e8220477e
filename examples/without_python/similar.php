<?php
// Finds similar documents in PHP, without a package. The program saves a document and finds documents that are similar
// to it. Then it finds documents that are similar to a text that is not in the index.
//
//     php similar.php http://localhost:9200 manuals ann
//
// The numbers are numbers of matching tokens.

declare(strict_types=1);

[, $url, $index, $user] = $argv;
$readable = ['terms' => ['readers' => [$user, 'everyone']]]; // the filter of every search of this user

function request(string $method, string $path, array $body): array
{
    global $url;
    $options = ['method' => $method, 'header' => 'Content-Type: application/json', 'content' => json_encode($body)];
    $answer = file_get_contents("$url/$path", false, stream_context_create(['http' => $options]));
    if ($answer === false) {
        exit(1); // PHP has printed the reason
    }
    return json_decode($answer, true);
}

/** Save a document. The pipeline adds the field simdoc. The response names the index of the document. */
function save(string $id, array $document): array
{
    global $index;
    return request('PUT', "$index/_doc/" . rawurlencode($id) . '?refresh=true', $document);
}

/**
 * Find documents that are similar to a stored document, which is a hit or the response to a write. The template reads
 * this document without any filters, so a search with the user's filter comes first. The hit has its number of tokens,
 * and its routing, if there is one.
 */
function similar(array $document, int $overlap): array
{
    global $index, $readable;
    ['_index' => $at, '_id' => $id] = $document;
    $query = ['bool' => ['filter' => [['ids' => ['values' => [$id]]], ['term' => ['_index' => $at]], $readable]]];
    $asked = ['query' => $query, '_source' => false, 'docvalue_fields' => ['simdoc.buckets']];
    $found = request('POST', "$index/_search", $asked)['hits']['hits'][0] ?? [];
    if (!isset($found['fields'])) {
        return []; // the user may not read it, or it has no words
    }
    $source = ['index' => $at, 'id' => $id, 'routing' => $found['_routing'] ?? null];
    return ask('simdoc-similar', $source + ['overlap' => $overlap, 'buckets' => $found['fields']['simdoc.buckets'][0]]);
}

/** Find documents that are similar to a text. The pipeline computes its fingerprint, which is sent unchanged. */
function similarToText(string $body, int $overlap): array
{
    $made = request('POST', '_ingest/pipeline/simdoc/_simulate', ['docs' => [['_source' => ['body' => $body]]]]);
    $fingerprint = $made['docs'][0]['doc']['_source']['simdoc'] ?? null; // null if the text has no words
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
    echo "similar to the document: $found\n";
}
$text = 'It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry '
    . 'it with the lid off.';
foreach (similarToText($text, 10) as $found) {
    echo "similar to the text: $found\n";
}
