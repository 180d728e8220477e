"""Renders HTML templates and self-contained pages. Every value in a template is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from simdoc_search.display import format_count, printable
from simdoc_search.passages.escape import escape_html
from simdoc_search.passages.summary import excerpt

_PATH_SEPARATORS = re.compile(r"[/_]+")


def make_environment(package: str) -> Environment:
    """Return a Jinja environment for the templates of a package. It escapes HTML and invisible characters in values."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escape_invisible_characters,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["format_count"] = format_count
    environment.filters |= {
        "breakable": _make_breakable,
        "excerpt": excerpt,
        "escape_html": lambda text: Markup(escape_html(text)),  # noqa: S704 - the text is escaped
    }
    return environment


def _make_breakable(path: str) -> Markup:
    """Return a path as HTML that a browser can break after a slash or an underscore."""
    return Markup(_PATH_SEPARATORS.sub(r"\g<0><wbr>", str(escape(printable(path)))))  # noqa: S704 - the path is escaped


def _escape_invisible_characters(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _get_environment() -> Environment:
    return make_environment("simdoc_search.passages.report")


def render(template: str, **values: Any) -> Markup:
    """Return the HTML of a template with these values."""
    return Markup(_get_environment().get_template(template).render(values))  # noqa: S704 - the environment escapes the values


def render_page(title: str, body: Markup) -> str:
    """Return a self-contained page. Its content security policy allows only the style and script in the page."""
    style, script = Markup(_read_asset("page.css")), Markup(_read_asset("page.js"))  # noqa: S704 - these are files of this package
    digests = {"style_digest": _compute_digest(style), "script_digest": _compute_digest(script)}
    return str(render("page.html", title=title, body=body, style=style, script=script, **digests))


@cache
def _read_asset(name: str) -> str:
    return resources.files(__package__).joinpath("static", name).read_text("utf-8")


def _compute_digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
