"""A page that stands alone: what it shows, how, and what it may do, in one file that asks nothing of any other."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources

from simdoc_search.passages.report.html_escaping import attribute


def page(title: str, body: Iterable[str]) -> str:
    """An HTML page with our style and script, and a policy by which a browser runs and loads nothing else.

    Args:
        title: what the window is called; plain text.
        body: HTML, in which whatever others wrote went through `marking`. It has no style of its own, no handlers.
    """
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{attribute(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{''.join(body)}<script>{script}</script>\n</body>\n</html>\n"
    )


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
