"""A location is a URL or a folder. A malformed URL is rejected without showing its password."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from simdoc_search import SimdocError, open_store
from simdoc_search.errors import LocationError
from simdoc_search.stores.location import check_not_url, parse_location
from simdoc_search.stores.remote.connection import connect

SECRET = [
    *("htp://u:SECRET@h/x", "u:SECRET@h:9200/x", "http:/u:SECRET@h/x", "http;//u:SECRET@h", "//u:SECRET@h/x"),
    *("/tmp/u:SECRET@h/x", "u:/SECRET@h/x", "u:x@SECRET@h/x", "htp://u:x y/SECRET@h/x", "http://u:SECRET@h/x"),
    *("http://u:SECRET/h/x", "http://u:SECRET@h:port/x", "http://h/x?key=SECRET", "http://u:SECRET@h"),
    *("file://u:SECRET@h/x", "://u:SECRET@h"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder. It becomes the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("location", SECRET)
def test_the_error_for_a_malformed_url_does_not_contain_the_password(location: str, folder: Path) -> None:
    """Neither the message nor a traceback contains it, and no folder is created."""
    for call in (lambda: open_store(location, create=True), lambda: connect(location)):
        with pytest.raises(LocationError) as caught:
            call()

        assert "SECRET" not in "".join(traceback.format_exception_only(caught.value))
        assert "SECRET" not in str(caught.value.__context__)
    assert [] == list(folder.iterdir())


def test_a_path_object_of_a_url_is_recognised(folder: Path) -> None:
    """The path object has only one of the two slashes."""
    for address in ("http://localhost:9200/docs", "htp://u:SECRET@h/x"):
        with pytest.raises(LocationError):
            open_store(Path(address), create=True)

    assert [] == list(folder.iterdir())


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("localhost:9200/docs", "http://localhost:9200/docs"),
        ("[::1]:9200/docs", "http://[::1]:9200/docs"),
        ("a:9200,b:9200/docs", "http://a:9200,b:9200/docs"),
        ("https//typo", "http://host:port/index"),
        ("http:/h:9200/x", "http://host:port/index"),
        ("HTTP:\\\\h", "http://host:port/index"),
        ("opensearch://h:9200/docs", "http://host:port/index"),
        ("s3://bucket/docs", "http://host:port/index"),
    ],
)
def test_the_error_for_a_malformed_url_shows_the_right_form(location: str, meant: str, folder: Path) -> None:
    for call in (lambda: open_store(location, create=True), lambda: connect(location)):
        with pytest.raises(LocationError, match="is not the URL of an engine; use ") as caught:
            call()

        assert str(caught.value).partition("; use ")[2].removesuffix(", or put ./ before the name of a folder") == meant

    assert [] == list(folder.iterdir())


@pytest.mark.parametrize("host", ["e\x1bvil", "a b", "h\u200b:9200", "h\x7f"])
def test_a_host_has_no_control_or_invisible_characters(host: str) -> None:
    with pytest.raises(LocationError, match=r"is not the URL of an engine; use http://host:port/index$"):
        connect(f"http://{host}/docs")


@pytest.mark.parametrize("location", ["HTTP://h/docs", "https://h/docs"])
def test_the_scheme_may_be_written_in_capitals(location: str) -> None:
    assert location == parse_location(location)


@pytest.mark.parametrize(
    "location",
    ["C:\\x", "C:/x/y", "C:\\Users\\x", "docs", "./a:1", "a:b", "http/x", "a b", "", "joe@work", "./joe@work"],
)
def test_paths_are_folders(location: str) -> None:
    """This includes Windows paths, and paths with a colon or an @."""
    assert Path(location) == parse_location(location)


@pytest.mark.parametrize("name", ["notes:2024", "localhost:9200", "https:x"])
def test_an_existing_folder_can_have_any_name(name: str, folder: Path) -> None:
    """To create a folder with such a name, put ./ before it."""
    with pytest.raises(LocationError, match=r"or put \./ before the name of a folder"):
        parse_location(name)
    open_store(f"./{name}", create=True).close()

    assert Path(name) == parse_location(name)
    assert 0 == open_store(name).info().document_count


def test_a_url_is_rejected_in_place_of_a_folder() -> None:
    for address in ("http://h:9200/x", "http://u:SECRET@h:9200/x"):
        with pytest.raises(LocationError, match=r"^http://h:9200/x is the URL of an engine; give the path of a "):
            check_not_url(address)


def test_a_file_url_can_be_any_folder(folder: Path) -> None:
    for url in ("file:a%3Ab@c", "FILE:a:b@c", f"file://localhost{folder}/a:b@c", (folder / "a:b@c").as_uri()):
        assert folder / "a:b@c" == folder / parse_location(url)


def test_every_error_of_the_package_hides_passwords() -> None:
    assert "cannot read http://h/x" == str(SimdocError("cannot read http://u:SECRET@h/x"))
