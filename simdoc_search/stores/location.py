"""The store that a path or an address means. What looks like an address is never taken for a folder."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError

EngineKind = Literal["opensearch", "elasticsearch"]
ENGINES: tuple[EngineKind, ...] = ("opensearch", "elasticsearch")

MEMORY = ":memory:"

_SCHEMES = ("http", "https")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CREDENTIALS = re.compile(r"(?:^|[/\\])[^/\\:@]+:[^/\\@]*@|^/*[^/\\:@]+:.*@", re.DOTALL)
_ADDRESS = re.compile(
    r"https?(?:[:;]|//|\\)"
    r"|(?://)?(?:[^/\\\s:@]+@)?(?:\[[0-9a-f:.]+\]|[\w.\-]+):\d{1,5}(?=[,/]|$)",
    re.IGNORECASE,
)
_BEGIN = re.compile(r"([a-z][\w+.\-]*)://(.*)|(https?)[:;/\\]+(.*)", re.IGNORECASE | re.DOTALL)


def located(location: str) -> Path | str:
    """Return the folder, or the address of an engine or `:memory:` as a string.

    Raises:
        LocationError: it looks like a malformed address; the message has the right spelling and no secret.
    """
    if location == MEMORY or _is_address(location):
        return location
    if location.lower().startswith("file:"):
        return _folder_of_url(location)
    check_folder(location)
    return Path(location)


def check_folder(path: str) -> None:
    """Check that a folder does not look like an address.

    Raises:
        LocationError: it does, and there is no such folder; or it contains `://` or a password.
    """
    if _is_address(path):
        raise LocationError(f"{without_credentials(path)} is the address of an engine; name a folder")
    if _looks_like_an_address(path):
        other = "" if "://" in path else ", or ./ before a folder of that name"
        raise LocationError(_mistyped(path, "/index", other))


def check_address(address: str, *, index: bool = True) -> None:
    """Check that an address begins like that of an engine.

    Raises:
        LocationError: it does not; the message has the right spelling, and no secret.
    """
    if not _is_address(address):
        raise LocationError(_mistyped(address, "/index" if index else ""))


def _is_address(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _looks_like_an_address(path: str) -> bool:
    if _DRIVE.match(path) and (os.name == "nt" or "@" not in path):
        return False
    if "://" in path or _CREDENTIALS.search(path):
        return True
    return bool(_ADDRESS.match(path)) and not os.path.exists(path)  # noqa: PTH110 - Path.exists raises for long names


def _mistyped(text: str, index: str, other: str = "") -> str:
    """Return what is wrong with an address, in a sentence with its right spelling."""
    begin = _BEGIN.match(text)
    scheme, rest = (part for part in begin.groups() if part is not None) if begin else ("", text)
    meant = "https" if "https" in scheme.lower() else (*get_close_matches(scheme.lower(), _SCHEMES, 1), "http")[0]
    place = without_credentials(rest).strip("/\\:; ")
    written = f"{meant}://{place or 'host:port'}{'' if '/' in place else index}"
    if _CREDENTIALS.search(rest):
        how = "set SIMDOC_USERNAME and SIMDOC_PASSWORD"
        return f"an address with a password is refused, as process lists show it; write {written}, and {how}"
    shown = text if "…" not in place and not set("@?#") & set(text) else place
    return f"{shown} is no address of an engine; write {written}{other}"


def _folder_of_url(url: str) -> Path:
    path = url[len("file:") :]
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            raise LocationError(f"the address {without_credentials(url)} names another machine; write file:///folder")
        path = f"/{path}"
    from urllib.request import url2pathname  # noqa: PLC0415 - it loads all of HTTP

    return Path(url2pathname(path))
