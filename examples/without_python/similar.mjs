// Finds similar documents in Node, with nothing but fetch. The program saves a document and finds documents that are
// similar to it. Then it finds documents that are similar to a text that is not in the index.
//
//     node similar.mjs http://localhost:9200 manuals ann
//
// The numbers are numbers of matching tokens.

const [url, index, user] = process.argv.slice(2);
const readable = { terms: { readers: [user, "everyone"] } }; // the filter of every search of this user

async function request(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${url}/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}

/** Save a document. The pipeline adds the field simdoc. The response names the index of the document. */
async function save(id, document) {
  return request("PUT", `${index}/_doc/${encodeURIComponent(id)}?refresh=true`, document);
}

/**
 * Find documents that are similar to a stored document, which is a hit or the response to a write. The template reads
 * this document without any filters, so a search with the user's filter comes first. The hit has its number of tokens,
 * and its routing, if there is one.
 */
async function similar({ _index, _id }, overlap) {
  const query = { bool: { filter: [{ ids: { values: [_id] } }, { term: { _index } }, readable] } };
  const asked = { query, _source: false, docvalue_fields: ["simdoc.buckets"] };
  const [found] = (await request("POST", `${index}/_search`, asked)).hits.hits;
  if (!found?.fields) return []; // the user may not read it, or it has no words
  const [buckets] = found.fields["simdoc.buckets"];
  return ask("simdoc-similar", { index: _index, id: _id, routing: found._routing, overlap, buckets });
}

/** Find documents that are similar to a text. The pipeline computes its fingerprint, which is sent unchanged. */
async function similarToText(body, overlap) {
  const { docs } = await request("POST", "_ingest/pipeline/simdoc/_simulate", { docs: [{ _source: { body } }] });
  const fingerprint = docs[0].doc._source.simdoc;
  return fingerprint ? ask("simdoc-similar-to-text", { fingerprint, overlap }) : []; // the text may have no words
}

async function ask(template, params) {
  const asked = { id: template, params: { ...params, filter: [readable], fields: ["title"] } };
  const { hits } = await request("POST", `${index}/_search/template`, asked);
  return hits.hits.map((hit) => `${hit._source.title} (${hit._score})`);
}

const saved = await save("kettle-2", {
  title: "Wren kettle, second edition",
  readers: ["everyone"],
  body:
    "The Wren is a kettle for induction hobs. Fill it to the line inside, and put the whistle on before you switch " +
    "the hob on. It sings at a hundred degrees. Descale it with two spoons of vinegar every month.",
});
for (const found of await similar(saved, 20)) console.log("similar to the document:", found);
const text =
  "It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry it " +
  "with the lid off.";
for (const found of await similarToText(text, 10)) console.log("similar to the text:", found);
