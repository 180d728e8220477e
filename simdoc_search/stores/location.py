"""Decides whether a location is a folder or the URL of an engine. A malformed URL is never used as a folder."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Literal

from simdoc_search.display import without_credentials
from simdoc_search.errors import LocationError

EngineKind = Literal["opensearch", "elasticsearch"]
ENGINES: tuple[EngineKind, ...] = ("opensearch", "elasticsearch")

MEMORY_LOCATION = ":memory:"

_DRIVE_PATTERN = re.compile(r"[A-Za-z]:[\\/]")
_CREDENTIALS_PATTERN = re.compile(r"(?:^|[/\\])[^/\\:@]+:[^/\\@]*@|^/*[^/\\:@]+:.*@", re.DOTALL)
_HOST_PATTERN = r"(?:\[[0-9a-f:.]+\]|[\w.\-]+):\d{1,5}(?=[,/]|$)"
_URL_LIKE_PATTERN = re.compile(rf"https?(?:[:;]|//|\\)|(?://)?(?:[^/\\\s:@]+@)?{_HOST_PATTERN}", re.IGNORECASE)


def parse_location(location: str) -> Path | str:
    """Return the path of a folder, or the URL of an engine or `:memory:` as a string.

    Raises:
        LocationError: the location looks like a malformed URL. The message does not contain the password.
    """
    if location == MEMORY_LOCATION or _is_url(location):
        return location
    if location.lower().startswith("file:"):
        return _parse_file_url(location)
    check_not_url(location)
    return Path(location)


def absolute_location(location: str) -> str:
    """Return the absolute path of a folder, or the URL of an engine without user and password.

    Raises:
        LocationError: the location looks like a malformed URL.
    """
    parsed = parse_location(location)
    if isinstance(parsed, Path):
        return os.path.abspath(parsed)  # noqa: PTH100 - Path.resolve would follow links
    return without_credentials(parsed).rstrip("/")


def is_same_location(location: str, other: str) -> bool:
    """Return whether two absolute locations are equal, or lead to the same folder."""
    if location == other:
        return True
    with suppress(OSError, ValueError):
        return os.path.samefile(location, other)  # noqa: PTH121 - the locations are strings
    return False


def check_not_url(path: str) -> None:
    """Raise a LocationError if a path looks like a URL and does not exist, or contains `://` or a password."""
    if _is_url(path):
        raise LocationError(f"{without_credentials(path)} is the URL of an engine; give the path of a folder")
    if _looks_like_url(path):
        raise _malformed_url_error(path, "" if "://" in path else ", or put ./ before the name of a folder")


def check_url(url: str) -> None:
    """Raise a LocationError unless a URL begins with `http://` or `https://`. The message has no password."""
    if not _is_url(url):
        raise _malformed_url_error(url, "")


def _is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _looks_like_url(path: str) -> bool:
    if _DRIVE_PATTERN.match(path) and (os.name == "nt" or "@" not in path):
        return False
    if "://" in path or _CREDENTIALS_PATTERN.search(path):
        return True
    return bool(_URL_LIKE_PATTERN.match(path)) and not os.path.exists(path)  # noqa: PTH110 - Path.exists raises for long names


def _malformed_url_error(text: str, alternative: str) -> LocationError:
    shown = without_credentials(text)
    suggestion = f"http://{shown}" if re.match(_HOST_PATTERN, shown, re.IGNORECASE) else "http://host:port/index"
    if _CREDENTIALS_PATTERN.search(text):
        return LocationError(
            f"the URL {shown} contains a password, which other users could see in the process list; set "
            f"SIMDOC_USERNAME and SIMDOC_PASSWORD, and use {suggestion}"
        )
    return LocationError(f"{shown} is not the URL of an engine; use {suggestion}{alternative}")


def _parse_file_url(url: str) -> Path:
    path = url[len("file:") :]
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            raise LocationError(
                f"{without_credentials(url)} is on another machine; give a path on this machine, such as file:///folder"
            )
        path = f"/{path}"
    from urllib.request import url2pathname  # noqa: PLC0415 - slow to import, because it loads the modules for HTTP

    return Path(url2pathname(path))
