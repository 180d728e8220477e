"""Which store is meant by a path or an address; what looks like an address is never a folder."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from simdoc_search import SimdocError, open_store
from simdoc_search.errors import LocationError
from simdoc_search.stores.location import check_folder, located
from simdoc_search.stores.remote.connection import connect

SECRET = [
    "htp://u:SECRET@h/x",
    "u:SECRET@h:9200/x",
    "http:/u:SECRET@h/x",
    "http//u:SECRET@h/x",
    "http;//u:SECRET@h",
    "http:u:SECRET@h/x",
    "//u:SECRET@h/x",
    "/u:SECRET@h/x",
    "/tmp/u:SECRET@h/x",
    "u:/SECRET@h/x",
    "u:x@SECRET@h/x",
    "u:x/SECRET@h/x",
    "htp://u:x y/SECRET@h/x",
    "opensearch+https://u:SECRET@h:9200/docs",
    "http://u:SECRET@h/x",
    "http://u:SECRET/h/x",
    "http://u:SECRET@h:port/x",
    "http://h/x?key=SECRET",
    "http://u:SECRET@h",
    "file://u:SECRET@h/x",
    "://u:SECRET@h",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder in which paths begin."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("location", SECRET)
def test_an_address_with_a_password_is_refused_without_repeating_it(location: str, folder: Path) -> None:
    """Neither the message nor what a traceback shows has it, and no folder is made."""
    with pytest.raises(LocationError) as caught:
        open_store(location, create=True)

    assert "SECRET" not in "".join(traceback.format_exception_only(caught.value))
    assert "SECRET" not in str(caught.value.__context__)
    assert [] == list(folder.iterdir())


@pytest.mark.parametrize("location", SECRET)
def test_an_engine_is_not_asked_at_an_address_with_a_password(location: str) -> None:
    """The commands that take the address of an index refuse it in the same words."""
    with pytest.raises(LocationError) as caught:
        connect(location)

    assert "SECRET" not in str(caught.value)


def test_a_path_object_of_an_address_is_recognised(folder: Path) -> None:
    """It has lost one of the two slashes."""
    for address in ("http://localhost:9200/docs", "htp://u:SECRET@h/x"):
        with pytest.raises(LocationError) as caught:
            open_store(Path(address), create=True)

        assert "SECRET" not in str(caught.value)

    assert [] == list(folder.iterdir())


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("localhost:9200/docs", "http://localhost:9200/docs"),
        ("localhost:9200", "http://localhost:9200/index"),
        ("127.0.0.1:9200", "http://127.0.0.1:9200/index"),
        ("[::1]:9200/docs", "http://[::1]:9200/docs"),
        ("a:9200,b:9200/docs", "http://a:9200,b:9200/docs"),
        ("//localhost:9200/docs", "http://localhost:9200/docs"),
        ("https//typo", "https://typo/index"),
        ("http:/h:9200/x", "http://h:9200/x"),
        ("http:h:9200/x", "http://h:9200/x"),
        ("HTTP:\\\\h", "http://h/index"),
        ("opensearch://h:9200/docs", "http://h:9200/docs"),
        ("elasticsearch://h/docs", "http://h/docs"),
        ("opensearch+https://h/docs", "https://h/docs"),
        ("htps://h/docs", "https://h/docs"),
        ("s3://bucket/docs", "http://bucket/docs"),
        ("es://", "http://host:port/index"),
    ],
)
def test_what_looks_like_an_address_is_answered_with_its_spelling(location: str, meant: str, folder: Path) -> None:
    """By the store, and by what asks an engine; no folder is made."""
    for opened in (lambda: open_store(location, create=True), lambda: connect(location)):
        with pytest.raises(LocationError, match="is no address of an engine") as caught:
            opened()

        assert f"write {meant}" in str(caught.value).replace(",", " ,").replace(" ,b", ",b").split(" ,", maxsplit=1)[0]

    assert [] == list(folder.iterdir())


@pytest.mark.parametrize("host", ["e\x1bvil", "a b", "h\u200b:9200", "h\x7f"])
def test_a_host_has_no_characters_that_steer_or_hide(host: str) -> None:
    """Clients fail at them, each in its own way."""
    with pytest.raises(LocationError, match=r"is not the address of an engine; write http://host:port/index$"):
        connect(f"http://{host}/docs")


@pytest.mark.parametrize("location", ["HTTP://h/docs", "https://h/docs"])
def test_the_scheme_may_be_written_in_capitals(location: str) -> None:
    """As everywhere."""
    assert location == located(location)


@pytest.mark.parametrize(
    "location",
    ["C:\\x", "C:/x/y", "C:\\Users\\x", "docs", "./a:1", "a:b", "http/x", "a b", "", "joe@work", "./joe@work"],
)
def test_paths_are_paths(location: str) -> None:
    """Those of Windows too, and those with a colon or an @."""
    assert Path(location) == located(location)


@pytest.mark.parametrize("name", ["notes:2024", "localhost:9200", "https:x"])
def test_a_folder_that_is_there_is_one_whatever_it_is_called(name: str, folder: Path) -> None:
    """A store in it is opened; a new one of that name is made with ./ before it."""
    with pytest.raises(LocationError, match=r"or \./ before a folder of that name"):
        located(name)
    open_store(f"./{name}", create=True).close()

    assert Path(name) == located(name)
    assert 0 == open_store(name).info().documents


def test_an_address_is_refused_where_only_a_folder_will_do() -> None:
    """It is spelled right, so nothing else is proposed; nor is its password repeated."""
    for address in ("http://h:9200/x", "http://u:SECRET@h:9200/x"):
        with pytest.raises(LocationError, match=r"^http://h:9200/x is the address of an engine; name a folder$"):
            check_folder(address)


def test_a_file_url_names_any_folder(folder: Path) -> None:
    """With one slash, or three, or without; what is quoted is unquoted."""
    for url in ("file:a%3Ab@c", "FILE:a:b@c", f"file://localhost{folder}/a:b@c", (folder / "a:b@c").as_uri()):
        assert folder / "a:b@c" == folder / located(url)


def test_every_error_of_the_package_keeps_secrets() -> None:
    """Whatever is put into a message: the tree's base leaves out what stands before the @ of an address."""
    assert "cannot read http://h/x" == str(SimdocError("cannot read http://u:SECRET@h/x"))
