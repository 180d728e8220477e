"""The collection in a browser, and as a service for programs: the same addresses give HTML and JSON.

app.py          addresses to pages
dispatch.py     requests to answers, in threads
limits.py       what may a request cost?
guard.py        who may ask, and what may a browser do with an answer?
request_body.py the body of a request
forms.py        what does it say?
request.py      a request as plain values
response.py     an answer as HTML and as JSON
errors.py       and what went wrong
collection.py   the documents that are served
texts.py        which document or text is meant?
columns.py      what is shown beside each document?
background_jobs.py the search for duplicates, which runs beside
home.py, similar.py, passages.py, document.py, compare.py, versions.py, duplicates.py, status.py    a page or two each
openapi.py      all of it as OpenAPI
server.py       the server

A page takes what was asked and gives an answer; it knows nothing of HTTP. It runs in a thread, some at once.
"""

from simdoc_search.web.app import make_app
from simdoc_search.web.collection import Collection
from simdoc_search.web.guard import SHORTEST_TOKEN
from simdoc_search.web.server import Server, bound, is_loopback

__all__ = ["SHORTEST_TOKEN", "Collection", "Server", "bound", "is_loopback", "make_app"]
