"""The store in an index of OpenSearch or Elasticsearch.

The engine
    engine.py         requests, retried while the engine is busy      connection.py, clients.py   from an address to a client
    responses.py      checks that an answer is whole                  errors.py     the errors of an engine, as sentences
    retry.py          the retry policy                                event_loop_client.py an asynchronous client
The mapping
    mappings.py       reads mappings                                  schema.py     the mapping of the fingerprint field
    mapping_check.py  finds what is wrong with an index               texts.py      the text fields of an application
Reading
    queries.py        a plan and filters to a request                 point_in_time.py all hits of a search
    candidates.py     the documents that a plan finds                 lookups.py    ids, fields and folders by name
    records.py        documents as JSON, and back                     fingerprint_value.py  whether a fingerprint is well formed
Writing
    bulk.py           the only way to write                           writer.py     records
    updates.py        conditional updates                             watches.py    standing queries
"""

from __future__ import annotations

__all__: list[str] = []
