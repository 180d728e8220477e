"""Decides whether a location is a folder or the address of an engine. A malformed address is never used as a folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError

EngineKind = Literal["opensearch", "elasticsearch"]
ENGINES: tuple[EngineKind, ...] = ("opensearch", "elasticsearch")

MEMORY = ":memory:"

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CREDENTIALS = re.compile(r"(?:^|[/\\])[^/\\:@]+:[^/\\@]*@|^/*[^/\\:@]+:.*@", re.DOTALL)
_HOST = r"(?:\[[0-9a-f:.]+\]|[\w.\-]+):\d{1,5}(?=[,/]|$)"
_ADDRESS = re.compile(rf"https?(?:[:;]|//|\\)|(?://)?(?:[^/\\\s:@]+@)?{_HOST}", re.IGNORECASE)


def parse_location(location: str) -> Path | str:
    """Return the folder, or the address of an engine or `:memory:` as a string.

    Raises:
        LocationError: it looks like a malformed address. The message contains no secret.
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
        LocationError: it looks like an address and does not exist, or it contains `://` or a password.
    """
    if _is_address(path):
        raise LocationError(f"{without_credentials(path)} is the address of an engine; name a folder")
    if _looks_like_an_address(path):
        raise _malformed(path, "" if "://" in path else ", or ./ before a folder of that name")


def check_address(address: str) -> None:
    """Check that an address begins with `http://` or `https://`.

    Raises:
        LocationError: it does not. The message contains no secret.
    """
    if not _is_address(address):
        raise _malformed(address, "")


def _is_address(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _looks_like_an_address(path: str) -> bool:
    if _DRIVE.match(path) and (os.name == "nt" or "@" not in path):
        return False
    if "://" in path or _CREDENTIALS.search(path):
        return True
    return bool(_ADDRESS.match(path)) and not os.path.exists(path)  # noqa: PTH110 - Path.exists raises for long names


def _malformed(text: str, alternative: str) -> LocationError:
    shown = without_credentials(text)
    meant = f"http://{shown}" if re.match(_HOST, shown, re.IGNORECASE) else "http://host:port/index"
    if _CREDENTIALS.search(text):
        return LocationError(
            f"the address {shown} has a password, which process lists show; set SIMDOC_USERNAME and SIMDOC_PASSWORD, "
            f"and write {meant}"
        )
    return LocationError(f"{shown} is not the address of an engine; write {meant}{alternative}")


def _folder_of_url(url: str) -> Path:
    path = url[len("file:") :]
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            raise LocationError(f"the address {without_credentials(url)} names another machine; write file:///folder")
        path = f"/{path}"
    from urllib.request import url2pathname  # noqa: PLC0415 - it loads all of HTTP

    return Path(url2pathname(path))
