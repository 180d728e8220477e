"""Members of archives and mailboxes are read under unique names. Hostile and damaged members are skipped."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from simdoc_search.corpus import FileSource
from simdoc_search.corpus import members as module
from simdoc_search.corpus.folder import find_files
from simdoc_search.corpus.member_names import find_archive
from simdoc_search.corpus.members import Member, read_members
from tests.support.archives import encrypted, mail, mbox, packed_tar, packed_zip


def members_of(tmp_path: Path, name: str, data: bytes, max_bytes: int = 50_000_000) -> list[Member]:
    """Return the members of an archive."""
    (tmp_path / name).write_bytes(data)
    (source,) = find_files([tmp_path / name], max_bytes=max_bytes)
    assert isinstance(source, FileSource)
    return [member for batch in read_members(source) for member in batch]


def read(found: list[Member]) -> dict[str, bytes]:
    """Return the names and contents of the members that were read."""
    return {member.name: member.data for member in found if not member.reason}


def reasons(found: list[Member]) -> dict[str, str]:
    """Return the names and reasons of the members that were not read."""
    return {member.name: member.reason for member in found if member.reason}


# --- contents ---


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tgz", "tar.bz2", "tar.xz", "TXZ"])
def test_a_member_has_a_name_bytes_and_a_date(tmp_path: Path, ending: str) -> None:
    files = {"2021/Report.txt": b"one", "ä/b.md": b"two"}
    compression = {"gz": "gz", "gz2": "", "bz2": "bz2", "xz": "xz", "tar": "", "tgz": "gz", "txz": "xz"}
    last = ending.lower().rpartition(".")[2]
    data = packed_zip(files) if ending == "zip" else packed_tar(files, compression[last])
    found = members_of(tmp_path, f"old.{ending}", data)

    assert files == read(found)
    assert {1_614_834_368 if ending == "zip" else 1_600_000_000} == {member.mtime_ns // 10**9 for member in found}


def test_a_message_is_named_by_its_subject(tmp_path: Path) -> None:
    box = mbox(
        mail("Re: thing", "one"),
        mail("=?utf-8?q?Gr=C3=BC=C3=9Fe?= aus\n  a/b", "two"),
        mail("Re: thing", "three"),
        mail("Re: thing 2", "four"),
        mail("", "five"),
        mail("=?nobody?q?x?=", "six"),
        mail("=?utf-8?b?a?=", "seven"),
    )
    found = members_of(tmp_path, "mail.mbox", box)
    names = [
        "Re: thing",
        "Grüße aus a_b",
        "Re: thing 2",
        "Re: thing 2 2",
        "no subject",
        "=?nobody?q?x?=",
        "=?utf-8?b?a?=",
    ]

    assert [f"{name}.eml" for name in names] == [member.name for member in found]
    assert found == members_of(tmp_path, "mail.mbox.gz", gzip.compress(box))
    assert {1_583_143_200} == {member.mtime_ns // 10**9 for member in found}


def test_a_line_from_without_a_date_does_not_begin_a_message(tmp_path: Path) -> None:
    text = "Dear all\n\nFrom my point of view\nFrom Ada Mon Mar  2 10:00:00 2020\n>From here\n>>From there"
    (found,) = members_of(tmp_path, "mail.mbox", mail("one", text))

    assert b"view\nFrom Ada Mon Mar  2 10:00:00 2020\nFrom here\n>From there\n" in found.data


def test_nested_archives_are_read(tmp_path: Path) -> None:
    deepest = packed_zip({"f.txt": "no"})
    third = packed_zip({"e.txt": "four", "d.zip": deepest})
    second = packed_zip({"d.txt": "three", "c.tgz": packed_tar({"c.zip": third})})
    found = members_of(tmp_path, "a.zip", packed_zip({"b.zip": second, "m.mbox": mail("hello", "x")}))

    assert {"b.zip!d.txt", "m.mbox!hello.eml"} == set(read(found))
    assert {"b.zip!c.tgz!c.zip": "nested in 3 archives"} == reasons(found)


# --- names ---


def test_names_are_safe_and_unique(tmp_path: Path) -> None:
    names = [
        "/etc/passwd",
        "../../etc/passwd",
        "C:\\a\\b.txt",
        "a/./b.txt",
        "a//b.txt",
        "x\x1b[2J\n.txt",
        "..",
        "x" * 900,
    ]
    found = members_of(tmp_path, "a.zip", packed_zip([(name, "text") for name in names]))
    seen = [member.name for member in found]

    assert ["etc/passwd", "etc/passwd 2", "a/b.txt", "a/b 2.txt", "a/b 3.txt", "x [2J .txt", "unnamed"] == seen[:-1]
    assert 400 == len(seen[-1])


def test_a_member_whose_name_ends_with_an_exclamation_mark_is_not_hidden(tmp_path: Path) -> None:
    inner = packed_zip({"Happy Birthday!.txt": "one", ".hidden!.txt": "two"})
    found = members_of(tmp_path, "a.zip", packed_zip({"Wow!.txt": "three", "b.zip": inner}))

    assert {"Wow!.txt", "b.zip!Happy Birthday!.txt"} == set(read(found))
    assert {"b.zip!.hidden!.txt": "hidden"} == reasons(found)


def test_hidden_members_links_and_devices_are_skipped(tmp_path: Path) -> None:
    data = packed_tar({".git/x": "a", "__MACOSX/._b": "b", "c": "c"}, links={"out": "/etc/passwd"})
    found = members_of(tmp_path, "a.tar.gz", data)

    assert {"c": b"c"} == read(found)
    assert {"hidden", "a link or device in an archive, not a regular file"} == set(reasons(found).values())


def test_the_archive_of_a_path_is_the_outermost_one() -> None:
    assert "/a/b.tar.gz" == find_archive("/a/b.tar.gz!c.zip!d")
    assert "/a!b/c.ZIP" == find_archive("/a!b/c.ZIP!d")
    assert find_archive("/a!b.txt") is None


# --- damaged and hostile archives ---


def test_an_encrypted_or_damaged_member_is_skipped(tmp_path: Path) -> None:
    data = encrypted(packed_zip({"a.txt": "one", "b.txt": "two", "c.txt": "three" * 50}), "b.txt")
    at = data.rindex(b"c.txt", 0, data.index(b"PK\1\2")) + len("c.txt")
    broken = data[:at] + bytes(8) + data[at + 8 :]
    found = members_of(tmp_path, "a.zip", broken)

    assert {"a.txt": b"one"} == read(found)
    assert "encrypted" == reasons(found)["b.txt"]
    assert reasons(found)["c.txt"].startswith("damaged: ")


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz", "a.mbox", "a.mbox.gz"])
def test_a_file_that_is_not_an_archive_is_damaged(tmp_path: Path, name: str) -> None:
    for data in (b"", b"no archive at all", b"PK\3\4" + bytes(50), b"\x1f\x8b" + bytes(50), b"\xff" * 999):
        found = members_of(tmp_path, name, data)

        assert {} == read(found), data
        assert all(member.reason.startswith("damaged: ") and not member.name for member in found), data


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "tar"])
def test_the_members_of_a_truncated_archive_are_read(tmp_path: Path, ending: str) -> None:
    files = {f"{number}.txt": bytes(number) * 5000 for number in range(9)}
    data = packed_zip(files) if ending == "zip" else packed_tar(files, ending.removeprefix("tar").strip("."))
    found = members_of(tmp_path, f"a.{ending}", data[: len(data) * 2 // 3])

    assert read(found).items() <= files.items()
    assert reasons(found)[""].startswith("damaged: ")


def test_the_size_limit_of_files_applies_to_members(tmp_path: Path) -> None:
    data = packed_zip({"big.txt": "a" * 2000, "small.txt": "b"})
    lying = data.replace((2000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    box = mbox(mail("big", "a" * 2000), mail("small", "b"))

    assert {"big.txt": "2,000 bytes are over the limit of 1,000"} == reasons(members_of(tmp_path, "a.zip", data, 1000))
    assert ["small.txt"] == list(read(members_of(tmp_path, "a.zip", lying, 1000)))
    assert ["small.eml"] == list(read(members_of(tmp_path, "a.mbox", box, 1000)))
    assert "bytes are over the limit of 1,000" in reasons(members_of(tmp_path, "a.mbox", box, 1000))["big.eml"]


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_a_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(module, "_MAX_EXPANSION_RATIO", 1)
    files = {f"{number}.txt": "a" * 10_000 for number in range(200)}
    found = members_of(tmp_path, f"a.{ending}", packed_zip(files) if ending == "zip" else packed_tar(files), 10_000)

    assert 40 == len(read(found))
    assert {"": "the members unpack to more than 400,000 bytes in total"} == reasons(found)


def test_a_bomb_of_nested_archives_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_EXPANSION_RATIO", 1)
    part = packed_zip({f"{number}.txt": "a" * 10_000 for number in range(10)})
    found = members_of(tmp_path, "b.zip", packed_zip({f"{number}.zip": part for number in range(50)}), 10_000)

    assert 30 < len(read(found)) < 40
    assert "the members unpack" in reasons(found)[""]


def test_an_archive_may_unpack_to_200_times_its_size(tmp_path: Path) -> None:
    files = {f"{number}.txt": "a" * 10_000 for number in range(200)}

    assert 200 == len(read(members_of(tmp_path, "a.zip", packed_zip(files), 10_000)))


def test_the_number_of_members_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEMBERS", 5)
    found = members_of(tmp_path, "a.zip", packed_zip({f"{number}.txt": "a" for number in range(20)}))

    assert 5 == len(read(found))
    assert {"": "there are more than 5 members"} == reasons(found)


def test_a_skipped_member_counts_towards_the_limit(tmp_path: Path) -> None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=9) as archive:
        for number in range(3):
            info = tarfile.TarInfo(f"{number}.txt")
            info.size = 3_000_000
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    found = members_of(tmp_path, "a.tgz", written.getvalue(), 1000)

    assert "the members unpack" in reasons(found)[""]


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_the_size_of_a_tar_header_is_limited(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("header")
    header.type, header.size = kind, 300_000_000
    packed = gzip.compress(header.tobuf(tarfile.GNU_FORMAT)) + 300 * gzip.compress(bytes(1_000_000))
    tracemalloc.start()
    found, (_, peak) = members_of(tmp_path, "a.tar.gz", packed), tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert {"": "damaged: a header has 300,000,000 bytes, more than the limit of 262,144"} == reasons(found)
    assert peak < 100_000_000
