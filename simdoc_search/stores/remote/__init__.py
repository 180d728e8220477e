"""The store in an index of OpenSearch or Elasticsearch.

The way to it
    engine.py     requests that wait for a busy engine      connection.py, clients.py   from an address to a client
    responses.py  is an answer one, and whole?              errors.py     what goes wrong, in one sentence
    event_loop_client.py a client that lives in an event loop
    bounded_requests.py answers bounded in time and size          retry.py      for how long is waited
What lies there
    index_body.py, mappings.py    the mapping of our field, and what mappings say
    mapping_check.py what is wrong with an index               malformed.py  what is wrong with a document's fingerprint
    schema.py     how a record lies in an index             records.py    how one is read, whatever others wrote
Writing
    bulk.py       the one way to write                      bulk_sender.py many small writes as few large ones
    writer.py     records, so that late writes undo nothing
    updates.py    changes that lose nobody's write
    watches.py    standing queries, which the engine asks of new documents
Reading
    queries.py    a plan and filters to a request           point_in_time.py all that a search finds, at one moment
    candidates.py what a plan found, read lazily            lookups.py    ids, fields and folders by name
    store.py      the store itself
"""

from __future__ import annotations

__all__: list[str] = []
