"""The lines of JSONL files become documents. A bad line is listed with its number."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.corpus import Document, SkippedFile, read_corpus, read_jsonl
from simdoc_search.errors import DocumentError

STRINGS = st.text(max_size=20)
IDS = st.text(min_size=1, max_size=40)


def read(data: bytes | str, **fields: Any) -> list[Document | SkippedFile]:
    return list(read_jsonl(io.BytesIO(data if isinstance(data, bytes) else data.encode()), **fields))


def reason(line: bytes | str) -> str:
    (found,) = read(line)
    assert isinstance(found, SkippedFile)
    return found.reason


@given(st.lists(st.tuples(IDS, STRINGS, st.dictionaries(STRINGS, STRINGS | st.booleans() | st.integers()))))
def test_documents_are_read_as_they_were_written(documents: list[tuple[str, str, dict[str, str | int | bool]]]) -> None:
    expected = [
        Document(f"x{id_}", text, {f"m{key}": value for key, value in metadata.items()})
        for id_, text, metadata in documents
    ]
    lines = [json.dumps({"id": d.id, "text": d.text, **d.metadata}) for d in expected]

    assert [
        Document(d.id, d.text, {k: str(v) if _is_big(v) else v for k, v in d.metadata.items()}) for d in expected
    ] == read("\n".join(lines))


def _is_big(value: object) -> bool:
    return isinstance(value, int) and not -(2**63) <= value < 2**63


@given(st.binary())
def test_no_bytes_make_reading_fail(data: bytes) -> None:
    assert len(read(data)) <= data.count(b"\n") + 1


def test_other_fields_are_metadata() -> None:
    line = """{"id": "a", "text": "t", "lang": "de", "year": 1999, "score": 0.5, "public": true, "note": null,
        "tags": ["x", "y"], "none": [], "author": {"name": "É", "born": {"year": 1950}, "died": null},
        "pages": [1, null, {"漢": 2}], "huge": 18446744073709551616}""".replace("\n", " ")

    assert [
        Document(
            "a",
            "t",
            {
                "lang": "de",
                "year": 1999,
                "score": 0.5,
                "public": True,
                "tags": ["x", "y"],
                "none": [],
                "author.name": "É",
                "author.born.year": 1950,
                "pages": '[1, null, {"漢": 2}]',
                "huge": "18446744073709551616",
            },
        )
    ] == read(line)


@pytest.mark.parametrize(
    ("written", "id_"),
    [
        ("42", "42"),
        ("-7", "-7"),
        ("1.5", "1.5"),
        ('"doc_1_20"', "doc_1_20"),
        (r'"a/b c\"d\\é漢"', 'a/b c"d\\é漢'),
        (r'"\ud83d\ude00"', "😀"),
        ('" "', " "),
        (f'"{"x" * 512}"', "x" * 512),
    ],
)
def test_ids_can_be_any_string_or_number(written: str, id_: str) -> None:
    assert [Document(id_, "t")] == read(f'{{"id": {written}, "text": "t"}}')


NESTED_NAMES = '{"id": "a", "text": "t"' + f', "{"k" * 50}": {{"z": 1' * 300 + "}" * 301
"""20 kB of nested JSON whose flattened names have 2 MB."""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"id": "a", "text": "t"', "not JSON: Expecting ',' delimiter at column 24"),
        ("no json", "not JSON: Expecting value at column 1"),
        ('["a", "t"]', "not a JSON object"),
        ('"text"', "not a JSON object"),
        ('{"text": "t"}', "no 'id'"),
        ('{"id": null, "text": "t"}', "no 'id'"),
        ('{"id": "a"}', "no 'text'"),
        ('{"id": "a", "text": 5}', "'text' is not a string"),
        ('{"id": ["a"], "text": "t"}', "'id' is neither a string nor a number"),
        ('{"id": true, "text": "t"}', "'id' is neither a string nor a number"),
        ('{"id": "", "text": "t"}', "a document's id is empty; give every document an id"),
        (
            f'{{"id": "{"é" * 257}", "text": "t"}}',
            f"the id {'é' * 40!r}… is 514 bytes long; the limit is 512",
        ),
        ('{"id": "a", "text": "t", "n": NaN}', "not JSON: JSON does not allow NaN"),
        ('{"id": "a", "text": "t", "n": [-Infinity]}', "not JSON: JSON does not allow -Infinity"),
        ('{"id": "a", "text": "t", "n": 1e999}', "not JSON: the number 1e999 is too large"),
        (r'{"id": "a", "text": "\ud800"}', "the line contains an unpaired surrogate, which is not a character"),
        (r'{"id": "\udfff", "text": "t"}', "the line contains an unpaired surrogate, which is not a character"),
        (
            r'{"id": "a", "text": "t", "m": {"k": ["\uD83D"]}}',
            "the line contains an unpaired surrogate, which is not a character",
        ),
        (b'{"id": "a", "text": "\xe9"}', "not valid UTF-8"),
        ('{"id": "a", "text": "t", "m": ' + "[" * 200_000, "nested too deeply"),
        ('{"id": "a", "text": "t", "m": ' + '{"m":' * 900 + "1" + "}" * 901, None),
        (NESTED_NAMES, "the field names have more than 1,048,576 characters in total"),
    ],
)
def test_a_bad_line_has_a_reason(line: bytes | str, why: str | None) -> None:
    found = read(line)

    assert 1 == len(found)
    assert why is None or why == reason(line)


def test_a_bad_line_does_not_stop_the_run() -> None:
    data = b'\xef\xbb\xbf{"id": 1, "text": "a"}\n\n  \r\nbad\n{"id": 2, "text": "b"}\r\n\xff\n{"id": 3, "text": "c"}'

    assert [
        Document("1", "a"),
        SkippedFile("stream:4", "not JSON: Expecting value at column 1"),
        Document("2", "b"),
        SkippedFile("stream:6", "not valid UTF-8"),
        Document("3", "c"),
    ] == read(data)


@pytest.mark.parametrize("name", ["lines.jsonl", "lines.ndjson", "LINES.JSONL"])
def test_a_file_is_named_in_reasons(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"id": 1, "text": "a"}\n[]\n')

    assert [Document("1", "a"), SkippedFile(f"{path}:2", "not a JSON object")] == list(read_corpus([path]))


def test_the_lines_before_the_end_of_a_truncated_gzip_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl.gz"
    lines = b"".join(json.dumps({"id": n, "text": str(n * n)}).encode() + b"\n" for n in range(4_000))
    path.write_bytes(gzip.compress(lines)[:-4_000])
    found = list(read_jsonl(path))

    assert Document("0", "0") == found[0]
    assert isinstance(found[-1], SkippedFile)
    assert f"{path}:{len(found)}" == found[-1].path
    assert found[-1].reason.startswith("the rest of the file cannot be read: ")


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input_is_one_text_if_it_has_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "Die Straße\nist lang.\n".encode("utf-16"))

    assert [Document("road", "Die Straße\nist lang.\n")] == list(read_corpus(["-"], stdin_id="road"))


def test_binary_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"\x7fELF\0\0")

    with pytest.raises(DocumentError, match="is binary; give plain text"):
        list(read_corpus(["-"], stdin_id="x"))


def test_a_jsonl_file_in_a_folder_is_text(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text('{"id": 1, "text": "a"}\n')

    assert ["lines.jsonl"] == [getattr(found, "id", None) for found in read_corpus([tmp_path])]


@pytest.mark.slow
def test_only_a_few_copies_of_a_long_line_are_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w") as file:
        for number in range(3):
            file.write(json.dumps({"id": number, "text": "word " * 4_000_000}) + "\n")
    tracemalloc.start()
    try:
        sizes = [len(found.text) for found in read_jsonl(path) if isinstance(found, Document)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert [20_000_000] * 3 == sizes
    assert peak < 5 * 20_000_000


def test_an_invalid_id_is_refused_at_the_call() -> None:
    with pytest.raises(DocumentError, match="a document's id is empty"):
        read_corpus(["-"], stdin_id="")
