"""The server of `simdoc-search serve`. It serves the documents of a store as web pages, and as JSON for programs.

Docstrings do not list exceptions, because each one ends the request: problem.py returns its page.
"""

from simdoc_search.web.app import make_app
from simdoc_search.web.guard import MIN_TOKEN_LENGTH
from simdoc_search.web.local_access import LocalAccess
from simdoc_search.web.served_store import ServedStore
from simdoc_search.web.server import Server, is_loopback, open_listening_socket

__all__ = [
    "MIN_TOKEN_LENGTH",
    "LocalAccess",
    "ServedStore",
    "Server",
    "is_loopback",
    "make_app",
    "open_listening_socket",
]
