"""Untrusted text is printed without control characters, invisible characters and passwords."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.display import (
    format_estimate,
    format_percent,
    printable,
    quote_command,
    safe_json,
    safe_message,
    without_credentials,
    without_secrets,
)
from simdoc_search.stores.remote.advice import install_pipeline_command

HOSTILE = [
    *("\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\x00", "\r", "\n", "\x7f", "\U000e0041", "\ue000", "\udcff"),
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    *"\u200b\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029\u00a0\u3000",
    *"\u034f\u115f\u1160\u17b4\u3164\uffa0\u2800\ufe0f\U000e0100",
]


def test_control_and_invisible_characters_are_escaped() -> None:
    for text in HOSTILE:
        shown = printable(f"a{text}b")

        assert shown.isprintable(), ascii(text)
        assert text not in shown, ascii(text)
        assert "\\" in shown, ascii(text)


@pytest.mark.parametrize("text", ["plain text", "größe", "漢字😀", "e\u0301", "עברית", "a\\b", "हिन्दी"])
def test_visible_characters_are_not_changed(text: str) -> None:
    assert text == printable(text)


@given(st.text())
def test_any_text_becomes_one_printable_line(text: str) -> None:
    shown = printable(text)

    assert shown.isprintable()
    assert len(shown) >= len(text)


@pytest.mark.slow
def test_every_invisible_character_of_unicode_is_escaped() -> None:
    kinds = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    hidden = {c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in kinds}

    assert 900_000 < len(hidden)
    assert set() == hidden & set(printable("".join(hidden)))


@given(st.dictionaries(st.text(), st.text()))
def test_escaped_json_has_the_same_value(values: dict[str, str]) -> None:
    for written in (json.dumps(values, ensure_ascii=False, indent=2), json.dumps(values)):
        shown = safe_json(written)

        assert values == json.loads(shown)
        assert shown.replace("\n", "").isprintable()


def test_json_has_no_control_or_invisible_characters() -> None:
    """A character beyond 16 bits is escaped as two units."""
    for text in HOSTILE:
        shown = safe_json(json.dumps({"id": text}, ensure_ascii=False))

        assert {"id": text} == json.loads(shown), ascii(text)
        assert shown.isprintable(), ascii(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see http://u:SECRET@h/x now", "see http://h/x now"),
        ("htp://u:SEC/RET@h/x", "htp://h/x"),
        ("https://joe@corp.com:SECRET@h/", "https://h/"),
        ("http:/u:SECRET@h/x", "http:/h/x"),
        ("http://SECRET@h/x", "http://h/x"),
        ("'u:SECRET@h:9200/x' is none", "'h:9200/x' is none"),
        ("u:S@E@SECRET@h", "h"),
        ("joe@corp.com:SECRET@h", "joe@h"),
        ("first http://u:SECRET@a/x, then http://u:SECRET@b/x", "first http://a/x, then http://b/x"),
    ],
)
def test_a_message_has_no_password(text: str, shown: str) -> None:
    assert shown == without_secrets(text)
    assert shown == safe_message(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://h1:9200,h2:9200/docs",
        "https://medium.com/@user/post",
        "http://h:9200/@joe",
        "C:/Users/joe@work/x",
        "write to joe@example.org: now",
        "docs.jsonl:4: joe@example.org",
        "/home/joe@work/a",
    ],
)
def test_a_message_keeps_ports_handles_and_mail_addresses(text: str) -> None:
    assert text == without_secrets(text)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://u:SEC RET@h/x", "http://h/x"),
        ("http://u:SECRET/h/x", "http://u:…/h/x"),
        ("http://h/x?key=SECRET", "http://h/x"),
        ("http://[::1]:9200/x", "http://[::1]:9200/x"),
        ("http://a:9200,b:9200/x", "http://a:9200,b:9200/x"),
        ("u:SECRET@h", "h"),
    ],
)
def test_a_url_is_shown_without_its_secrets(address: str, shown: str) -> None:
    """The password may contain spaces."""
    assert shown == without_credentials(address)


@pytest.mark.parametrize(
    ("share", "shown", "estimated"),
    [
        (1.0, "100.0 %", "~100 %"),
        (0.9996, "99.9 %", "~99 %"),
        (0.996, "99.6 %", "~99 %"),
        (1 - 1e-12, "99.9 %", "~99 %"),
        (0.934, "93.4 %", "~93 %"),
        (0.5, "50.0 %", "~50 %"),
        (0.006, "0.6 %", "~1 %"),
        (0.004, "0.4 %", "<1 %"),
        (0.0001, "<0.1 %", "<1 %"),
        (0.0, "0.0 %", "~0 %"),
    ],
)
def test_only_1_is_100_percent_and_only_0_is_0_percent(share: float, shown: str, estimated: str) -> None:
    """An estimate has a tilde and no decimals."""
    assert (shown, estimated) == (format_percent(share), format_estimate(share))
    assert "99.99 %" == format_percent(0.99999, 2)


def test_a_recommended_command_shows_the_invisible_characters_of_its_arguments() -> None:
    command = install_pipeline_command("http://localhost:9200", "simdoc", ["a\u200bb"], "simdoc")

    assert r"simdoc-search template install http://localhost:9200 --pipeline --text-field $'a\U0000200bb'" == command


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    "name", ["a b.txt", "it's.txt", "line\nbreak.txt", "it's\\n\n.txt", "\x1b[31m", "a\u200b\xa0b", "$HOME"]
)
def test_a_shell_reads_the_arguments_of_a_command_line(name: str) -> None:
    line = quote_command("show", name)
    printed = subprocess.run(
        ["bash", "-c", f"simdoc-search() {{ printf '%s\\0' \"$@\"; }}; {line}"],
        capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"},
    )  # fmt: skip

    assert printable(line) == line
    assert ["show", name, ""] == printed.stdout.decode().split("\0")
