"""HTML pages that stand alone, and other people's text in them, which is shown and never runs."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources

from simdoc_search.display import printable

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_LINE_END = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
# Control characters, those that turn the direction of a text or are not seen, tags, lone surrogates, no characters.
# Joiners stay: many scripts cannot be written without them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)


def content(text: str) -> str:
    r"""A text as the content of an element; what would not be seen is shown as `\u202e`, marked as a sign."""
    lines = _LINE_END.sub("\n", text).translate(_ESCAPES)
    return _HIDDEN.sub(lambda found: f'<span class="sign">{_escape_of(found.group())}</span>', lines)


def attribute(text: str) -> str:
    """A text as the value of an attribute, or as a title: in one line."""
    return printable(" ".join(text.split())).translate(_ESCAPES)


def _escape_of(character: str) -> str:
    return character.encode("unicode_escape").decode()


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
    return resources.files(__package__).joinpath("static", name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
