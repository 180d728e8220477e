"""What the server may do for a browser on the same computer: open original files, and move duplicates."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from simdoc_search.display import quote_command
from simdoc_search.web.server import is_loopback

_FORWARDING_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Proxies add these headers. The sender of such a request may be on another computer."""


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """The additional features of a server that only this computer can reach.

    Attributes:
        store_location: The location of the store, for commands to copy.
        removed_files_folder: The folder into which the server may move duplicates. None if it may not.
        exclude: The patterns of files that `index` skips.
        form_token: A secret that a form must contain to move files. Other sites cannot read it.
    """

    store_location: str
    removed_files_folder: Path | None = None
    exclude: Sequence[str] = ()
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def has_form_token(self, given: str) -> bool:
        """Return whether a form contains the secret."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.form_token.encode())

    def command(self, *arguments: str) -> str:
        """Return a complete command line for the terminal of this computer."""
        return quote_command(*arguments, "--store", self.store_location)


def is_local(request: Request) -> bool:
    """Return whether a request comes from this computer, and not through a proxy."""
    is_forwarded = any(name in request.headers for name in _FORWARDING_HEADERS)
    return request.client is not None and is_loopback(request.client.host) and not is_forwarded
