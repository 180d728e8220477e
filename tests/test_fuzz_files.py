"""Any file with several parts, and any file that people edit, is read, or rejected with a documented error."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search.concepts import ConceptsError, read_synonyms
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.members import read_members
from simdoc_search.corpus.text_filters import FRONT_MATTER, QUOTED_REPLIES, remove_parts
from simdoc_search.documents import Document
from simdoc_search.duplicates.plan.journal import Journal
from simdoc_search.duplicates.plan.rows import PlanError
from simdoc_search.duplicates.plan.table import read_plan
from simdoc_search.errors import CorpusError, FormatMismatchError
from simdoc_search.sketch.settings import Settings
from simdoc_search.small_files import parse_json, parse_toml
from simdoc_search.tuning.labelled_pairs import read_pairs
from tests.support import cli, formats
from tests.support.fuzzing import damaged, fuzzing, is_text, mixed, value_or_none

_FORMATS_0_1 = Path(__file__).parent / "data" / "formats_0_1"
_MAX_BYTES = 1 << 20

_MAIL = b"""\
From: a@example.org
Subject: =?utf-8?q?caf=C3=A9?=
Date: Mon, 01 Jan 2024 10:00:00 +0000
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain

See attached.
--b
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename*=utf-8''n%C3%B6te.txt

d29yZHM=
--b--
"""
_MAILBOX = b"From a@example.org Mon Jan  1 10:00:00 2024\n" + _MAIL + b"\n>From here on, words.\n\n"


def _pack_zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/words.txt", "words " * 50)
        file.writestr("mail.eml", _MAIL)
    return packed.getvalue()


def _pack_tar() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as file:
        for name, data in (("wörds.txt", b"words"), ("x" * 120 + ".txt", b"words"), ("in.zip", _pack_zip())):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
    return packed.getvalue()


_ARCHIVES = {
    "a.zip": _pack_zip(),
    "a.tar": _pack_tar(),
    "a.tgz": gzip.compress(_pack_tar()),
    "a.tar.bz2": bz2.compress(_pack_tar()),
    "a.tar.xz": lzma.compress(_pack_tar()),
    "a.mbox": _MAILBOX * 2,
    "a.mbox.gz": gzip.compress(_MAILBOX * 2),
    "a.eml": _MAIL,
}
_MATTER_PIECES = [
    *(b"---\n", b"+++\n", b"title: words\n", b"date: 2024-01-01\n", b"date: 2024-13-45\n", b"tags: [a, 2, null]\n"),
    *(b"&a ", b"*a", b"!!python/object:x ", b"!!bool x\n", b"? {a: b}\n", b"a = 1\n", b"[a.b]\n", b"[[a]]\n", b"'''"),
    *(b"a: 1_000e999\n", b"n: " + b"9" * 5000 + b"\n", b"[" * 300, b"{" * 300, b"> quoted\n", b"On 1 May A wrote:\n"),
]
_PLAN_PIECES = [
    *(b"action", b"group", b"path", b"kept", b"id", b"state", b"keep", b"drop", b"decide", b"1", b"9" * 5000, b"\xb2"),
    *(b"file:1:1:" + b"0" * 32, b"text:", rb"\x20", rb"\ud800", rb"\U00110000", b"\\", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"action\tgroup\tpath\tkept\tid\tstate\n", b"keep\t1\ta\t\ta\t\n", b"\t", b",", b";", b'"', b"\n", b"\r", b"\0"),
]
_SYNONYM_PIECES = [
    b"a",
    b"new york",
    b",",
    b"=>",
    b"\\",
    b"#",
    b"\n",
    b"\r",
    b" ",
    b"=",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
]
_PAIR_PIECES = [b"a", b"b", b"\t", b"yes", b"no", b"YES", b"\n", b"\r\n", b"#", b"a\tb\tyes\n", b"b\ta\tno\n", b"\0"]
_TOML_PIECES = [b"a", b"=", b".", b"[", b"]", b"{", b"}", b'"', b"'''", b"1", b"inf", b"1979-05-27", b"\n", b"." * 300]


@pytest.mark.parametrize("name", _ARCHIVES)
@fuzzing
@given(data=st.data())
def test_any_bytes_are_an_archive_or_have_a_reason(name: str, data: st.DataObject) -> None:
    """Members that are read have a name. What is not read has a reason of one line."""
    some = data.draw(damaged(_ARCHIVES[name]))
    source = FileSource(name, name, name, len(some), 0, _MAX_BYTES, data=some, format=determine_format(name))
    members = [member for batch in read_members(source) for member in batch]

    assert [] == [member for member in members if not (member.name or member.reason)]
    assert [] == [member for member in members if "\n" in member.reason or (member.reason and member.data)]
    assert all(is_text(member.name) and len(member.data) <= _MAX_BYTES for member in members)


@st.composite
def _damaged_office_file(draw: st.DrawFn, extension: str) -> bytes:
    """A file with wrong bytes, or an archive with wrong bytes inside one of its members."""
    whole = formats.MAKERS[extension]()
    if not zipfile.is_zipfile(io.BytesIO(whole)) or draw(st.booleans()):
        return draw(damaged(whole))
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        changed = draw(st.sampled_from(old.namelist()))
        for name in old.namelist():
            new.writestr(name, draw(damaged(old.read(name))) if name == changed else old.read(name))
    return packed.getvalue()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of a failure
@fuzzing
@given(files=st.fixed_dictionaries({extension: _damaged_office_file(extension) for extension in formats.MAKERS}))
def test_each_damaged_office_file_is_indexed_or_has_a_reason(files: dict[str, bytes]) -> None:
    """A reader may crash on one of them. The others are read all the same."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = cli.write(Path(folder) / "corpus", {f"a{extension}": data for extension, data in files.items()})
        report = cli.answer("index", corpus, "--store", Path(folder) / "store", "--workers", 1, "--worker-memory", 300)

    reasons = [skipped["reason"] for skipped in report["skipped"]]
    assert len(files) == report["added_count"] + len(reasons)
    assert [] == [reason for reason in reasons if not reason or "\n" in reason]


@pytest.mark.parametrize("name", ["a.md", "a.eml"])
@fuzzing
@given(data=mixed(_MATTER_PIECES))
@example(data=b"---\n" + b"? [" * 900 + b"\n---\n")
@example(data=b"---\na: &a [*a]\n---\nwords")
@example(data=b"---\n? !!set {a}\n: 1\n---\nwords")
def test_any_text_keeps_its_words_if_its_front_matter_or_quotes_are_removed(name: str, data: bytes) -> None:
    document = Document("a", data.decode("utf-8", "replace"))
    for parts in ((), (FRONT_MATTER, QUOTED_REPLIES)):
        rest = remove_parts(document, determine_format(name), parts)

        assert is_text(rest.text)
        assert json.loads(json.dumps(rest.metadata)) == rest.metadata
        assert document.text.endswith(rest.text) or name == "a.eml"


@fuzzing
@given(data=mixed(_PLAN_PIECES) | damaged((_FORMATS_0_1 / "plan.tsv").read_bytes()))
@example(data=b"\xff\xfe\0")
def test_any_bytes_are_a_plan_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.tsv"
        path.write_bytes(data)
        rows = value_or_none(lambda: read_plan(path), PlanError)

    assert all(row.key.id and row.group >= 0 for row in rows or ())


@fuzzing
@given(data=damaged((_FORMATS_0_1 / "plan.tsv.undo").read_bytes()) | st.binary())
@example(data=b"")
def test_any_bytes_are_an_undo_file_or_refused(data: bytes) -> None:
    """Each change that is read is one of the undamaged file, because each line has a checksum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.tsv.undo"
        path.write_bytes((_FORMATS_0_1 / "plan.tsv.undo").read_bytes())
        with Journal(path) as journal:
            recorded = {change.path for change in journal.changes.values()}
        path.write_bytes(data)
        found = value_or_none(lambda: Journal(path), PlanError)
        if found:
            with closing(found):
                assert found.changes.keys() <= recorded


@fuzzing
@given(data=mixed(_SYNONYM_PIECES))
def test_any_bytes_are_synonyms_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synonyms.txt"
        path.write_bytes(data)
        synonyms = value_or_none(lambda: read_synonyms(path), ConceptsError)

    for words, replacement in synonyms.replacements.items() if synonyms else ():
        assert words
        assert replacement
        assert synonyms is None or [(words, replacement)] == list(synonyms.split_into_runs(words))


@fuzzing
@given(data=mixed(_PAIR_PIECES))
def test_any_lines_are_labelled_pairs_or_refused(data: bytes) -> None:
    lines = io.StringIO(data.decode("utf-8", "replace"))
    pairs = value_or_none(lambda: read_pairs(lines, "pairs.tsv"), CorpusError)

    assert pairs is None or {True, False} == {pair.is_yes for pair in pairs}


@fuzzing
@given(data=mixed(_TOML_PIECES))
@example(data=b"a = " + b"[" * 5000)
@example(data=b"a = " + b"9" * 5000)
def test_any_text_is_toml_or_json_or_refused(data: bytes) -> None:
    value_or_none(lambda: parse_toml(data.decode("utf-8", "replace")), ValueError)
    value_or_none(lambda: parse_json(data), ValueError)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_ANALYSIS_KEYS = ("profile", "shingle_size", "unit", "short_texts", "stop_words", "stemmer")
_SKETCH_PIECES = [
    *("bucketed:1", "words:1", "sentences:2", "concepts:1", "passages:1", "language:1", "universal:1", "new:1", "x:"),
    *(" ", "512", "1", "false", "9", "-1", "names", "-", "keywords", "0a1b2c", "٣", "9" * 5000, "32 5", ":"),
]
_SKETCHES = st.lists(st.lists(st.sampled_from(_SKETCH_PIECES), max_size=6).map(" ".join), max_size=4)


@fuzzing
@given(
    values=st.fixed_dictionaries(
        {"version": st.just(1) | _VALUES},
        optional={
            "analysis": _VALUES | st.fixed_dictionaries({}, optional=dict.fromkeys(_ANALYSIS_KEYS, _VALUES)),
            "sketches": _SKETCHES | _VALUES,
            "thresholds": _VALUES,
            "hash_key_check": _VALUES,
        },
    )
)
@example(values={"version": 1, "analysis": {}, "sketches": ["bucketed:1 512 1 false 9", "new:7 x"]})
def test_any_json_is_settings_or_refused(values: dict[str, object]) -> None:
    settings = value_or_none(lambda: Settings.from_dict(values), FormatMismatchError)

    assert settings is None or settings == Settings.from_dict(json.loads(json.dumps(settings.to_dict())))
