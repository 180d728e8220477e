"""Small files, which may be hostile, are read completely or refused with one sentence."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import tracemalloc
from pathlib import Path

import pytest

from simdoc_search.small_files import parse_json, parse_toml, read_small_file

LIMIT = 100

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")


def refusal(path: Path | str) -> str:
    """Return the reason why a file cannot be read."""
    with pytest.raises(OSError, match=r".") as error:
        read_small_file(path, LIMIT)
    return str(error.value.strerror)


def test_a_file_up_to_the_limit_is_read_also_through_a_link(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * LIMIT)
    (tmp_path / "link").symlink_to(path)

    assert b"x" * LIMIT == read_small_file(tmp_path / "link", LIMIT)
    path.write_bytes(b"x" * (LIMIT + 1))
    assert "the file is larger than 100 bytes" == refusal(path)


def test_a_file_takes_memory_for_its_size_not_for_the_limit(tmp_path: Path) -> None:
    """No machine has as much memory as the limit."""
    path = tmp_path / "a"
    path.write_bytes(b"x" * LIMIT)

    assert b"x" * LIMIT == read_small_file(path, 1 << 60)


def test_a_large_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)

    tracemalloc.start()
    try:
        assert "the file is larger than 100 bytes" == refusal(tmp_path / "large")
        assert 1_000_000 > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@posix_only
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """Nobody writes to the pipe, and the call does not wait."""
    os.mkfifo(tmp_path / "pipe")

    assert "the path leads to a pipe, not to a regular file" == refusal(tmp_path / "pipe")
    assert "the path leads to a folder, not to a regular file" == refusal(tmp_path)
    assert "the path leads to a device, not to a regular file" == refusal("/dev/zero")
    assert "No such file or directory" == refusal(tmp_path / "missing")
    with socket.socket(socket.AF_UNIX) as sock, tempfile.TemporaryDirectory() as short:
        sock.bind(f"{short}/s")
        assert refusal(f"{short}/s")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_the_limit_also_applies_to_a_file_of_unknown_size() -> None:
    assert 0 == Path("/proc/self/maps").stat().st_size
    assert "the file is larger than 100 bytes" == refusal("/proc/self/maps")


def test_a_key_with_many_dots_is_refused() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="a line has more than 200 dots"):
            parse_toml(".".join("a" * 5_000) + " = 1")
        assert 10_000_000 > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_deeply_nested_values_are_refused() -> None:
    for text in ("x = " + "[" * 100_000, "x = " + "{a=" * 100_000):
        with pytest.raises(ValueError, match="values are nested too deeply"):
            parse_toml(text)
    with pytest.raises(ValueError, match="values are nested too deeply"):
        parse_json(b"[" * 100_000)


def test_other_values_are_parsed() -> None:
    assert {"a": {"b": {"c": [[1]]}}} == parse_toml("a.b.c = [[1]]")
    assert {"a": [1, 2**64 - 1]} == parse_json(b'{"a": [1, 18446744073709551615]}')
    assert ["1.1." * 50] == parse_toml(f"a = ['{'1.1.' * 50}']")["a"]
    for parse in (lambda: parse_toml("a = "), lambda: parse_json(b"{")):
        with pytest.raises(ValueError, match=r"\S"):
            parse()
