"""What version 0.1 wrote can be read by this version: scripts/golden_formats.py wrote the files.

`tests/stores/test_stored_forms.py` opens the local store, and `tests/test_site.py` compares the JSON of commands.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import tarfile
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import open_store
from simdoc_search.analysis.stop_words import StopWords
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.concepts import extractor_from_settings
from simdoc_search.dedupe import deduplicate_files
from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.records import to_record
from simdoc_search.stores.remote.schema import fingerprint_field_names, parse_meta
from tests.support.cli import answer, output, run, sentence, write
from tests.support.datasets import read_rows
from tests.support.engines import call, each_engine
from tests.support.http_server import TempIndices
from tests.support.pages import page_commands, run_command

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "data" / "formats_0_1"
FINGERPRINTS: dict[str, Any] = json.loads((GOLDEN / "fingerprints.json").read_text("utf-8"))
INDEX: dict[str, Any] = json.loads((GOLDEN / "index.json").read_text("utf-8"))
UPGRADING = (ROOT / "docs" / "upgrading.md").read_text("utf-8")
STOP_WORDS = StopWords(["the", "of", "near"])
SECRET = "a secret of the golden files"
TIME = 1_750_000_000


def unpack(archive: str, folder: Path) -> None:
    """Unpack an archive."""
    with tarfile.open(GOLDEN / archive) as opened:
        for member in opened.getmembers():
            file = opened.extractfile(member)
            assert file is not None
            write(folder, {member.name: file.read()})


@pytest.mark.parametrize("name", FINGERPRINTS["settings"])
def test_fingerprints_are_comparable_with_those_of_0_1(name: str) -> None:
    """They have the same tokens, hashes and labels."""
    golden = FINGERPRINTS["settings"][name]
    settings = Settings.from_dict(golden["stored"])
    if settings.sketch.key:
        settings = settings.with_verified_key(HashKey(SECRET), "the index")
    extractor = extractor_from_settings(settings.concepts) if settings.concepts else None
    if settings.analysis.stop_words:
        assert settings.analysis.stop_words == STOP_WORDS
        settings = replace(settings, analysis=replace(settings.analysis, stop_words=STOP_WORDS))

    assert golden["stored"] == settings.to_dict()
    assert golden["fields"] == {
        id: fingerprint_field(text, settings, extractor) for id, text in FINGERPRINTS["texts"].items()
    }
    assert 0 < min(field["buckets"] for id, field in golden["fields"].items() if id == "long")


def test_an_index_in_a_folder_is_upgraded_by_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unpack("store.tar.gz", tmp_path / ".simdoc")
    section = UPGRADING.partition("\n## Upgrade an index in a folder\n")[2].partition("\n## ")[0]
    commands = re.findall(r"(?m)^ *\$ (simdoc-search .*)$", section)
    printed = [output(*shlex.split(command)[1:]) for command in commands]

    assert ["backup", "check", "similar", "similar"] == [command.split()[1] for command in commands]
    assert ["letters/final.txt" in text for text in printed] == [False, False, True, True]


# --- indices of engines ---


def test_the_mapping_and_the_documents_of_an_index_are_read() -> None:
    mapping = INDEX["body"]["mappings"]
    settings = parse_meta(mapping["properties"]["simdoc"]["properties"]["tokens"]["meta"])
    golden = FINGERPRINTS["settings"]["all kinds of tokens"]
    for id, source in INDEX["documents"].items():
        record = to_record(DocumentKey(id), source, field="simdoc")

        assert ("", FINGERPRINTS["texts"][id]) == (record.fault, record.text)
        assert {name: value for name, value in source["simdoc"].items() if name in golden["fields"][id]} == (
            golden["fields"][id]
        )
        assert min(map(len, (record.token_ids, record.passages, record.sentences, record.concepts))) > 0
    assert ["simdoc"] == fingerprint_field_names(mapping)
    assert Settings.from_dict(golden["stored"]) == settings


engine_url = each_engine("opensearch", "elasticsearch_7")


def test_an_index_of_0_1_can_be_queried_and_written_to(temp_indices: TempIndices) -> None:
    name = temp_indices.make(INDEX["body"]["mappings"], INDEX["body"].get("settings"))
    url = f"{temp_indices.engine}/{name}"
    for id, source in INDEX["documents"].items():
        temp_indices.put(name, id, source)
    with closing(open_store(url)) as store:
        assert {*INDEX["documents"]} == {record.id for record in store.scan()}
    hits = answer("similar", "draft_20_80", "--store", url)["hits"]
    passages = answer("passages", "--text", "over the lazy cat near the bank", "--store", url)

    assert ["letters/final.txt"] == [hit["id"] for hit in hits]
    assert "letters/final.txt" in [hit["id"] for hit in passages["hits"]]
    assert answer("check", url)["ok"]


def test_an_index_and_a_pipeline_are_upgraded_by_the_commands_of_the_page(temp_indices: TempIndices) -> None:
    """The pipeline of 0.1 makes the fingerprints of 0.1. The commands then replace it, and find nothing wrong."""
    golden = json.loads(gzip.decompress((GOLDEN / "application.json.gz").read_bytes()))
    properties = {"body": {"type": "text"}, "simdoc": {"properties": golden["fields"]}}
    name, engine = temp_indices.make({"properties": properties}), temp_indices.engine
    call(engine, "PUT", f"/_ingest/pipeline/{name}", golden["pipeline"])
    try:
        call(engine, "PUT", f"/{name}/_settings", {"index.default_pipeline": name})
        for id, text in FINGERPRINTS["texts"].items():
            temp_indices.put(name, id, {"body": text})
        written = {
            hit["_id"]: hit["_source"]["simdoc"] for hit in call(engine, "GET", f"/{name}/_search")["hits"]["hits"]
        }
        section = UPGRADING.partition("\n## Upgrade and rollback of simdoc-search\n")[2].partition("\n## ")[0]
        commands = page_commands(section, {"http://localhost:9200": engine, "articles": name})
        for command in commands:
            run_command(command)
        temp_indices.put(name, "new", {"body": FINGERPRINTS["texts"]["letters/draft.txt"]})
        hits = answer("similar", "new_20", "--store", f"{engine}/{name}")["hits"]
    finally:
        call(engine, "PUT", f"/{name}/_settings", {"index.default_pipeline": None})
        call(engine, "DELETE", f"/_ingest/pipeline/{name}")

    assert 4 == len(commands)
    assert FINGERPRINTS["settings"]["default"]["fields"] == written
    assert ["letters/draft.txt", "letters/final.txt"] == [hit["id"] for hit in hits]


def test_a_watch_of_0_1_finds_copies(temp_indices: TempIndices) -> None:
    golden = json.loads((GOLDEN / "watches.json").read_text("utf-8"))
    articles, watches = temp_indices.make(INDEX["body"]["mappings"]), temp_indices.make(golden["mappings"])
    source = INDEX["documents"][golden["document"]["watched"]["id"]]
    temp_indices.put(articles, "new", source)
    golden["document"]["watched"]["index"] = articles
    temp_indices.put(watches, "watch", golden["document"])
    url = ["--store", f"{temp_indices.engine}/{articles}", "--watches", watches]

    assert ["letters/draft.txt"] == [watch["id"] for watch in answer("watch", "--list", *url)["watched"]]
    assert "letters/draft.txt" in output("watch", "--check-new", "new", *url)


# --- plans and datasets ---


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the plan, and the plan with their paths."""
    monkeypatch.chdir(tmp_path)
    text = FINGERPRINTS["texts"]["long"]
    write(tmp_path, {f"{name}.txt": text for name in ("a/kept", "b/moved", "b/linked")})
    for path in tmp_path.rglob("*.txt"):
        os.utime(path, (TIME, TIME))
        path.chmod(0o640)
    write(tmp_path, {"plan.tsv": (GOLDEN / "plan.tsv").read_text("utf-8").replace("@FOLDER@", str(tmp_path))})
    return tmp_path


def tree(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Return the text, time and permissions of each file."""
    states = {path.relative_to(folder).as_posix(): (path, path.stat()) for path in folder.rglob("*.txt")}
    return {name: (path.read_text(), int(info.st_mtime), info.st_mode) for name, (path, info) in states.items()}


def test_a_plan_of_0_1_can_be_applied(files: Path) -> None:
    output("apply", "plan.tsv", "--move-to", "moved", "--yes")

    assert {"a/kept.txt", "moved/b/moved.txt", "moved/b/linked.txt"} == {*tree(files)}


@pytest.mark.parametrize(
    "index_line", ["", '- {"act": "index", "location": "@FOLDER@/index", "folders": {"@FOLDER@": ""}}\n']
)
def test_an_undo_file_of_0_1_can_be_undone(files: Path, index_line: str) -> None:
    before = tree(files)
    lines = []
    header, rest = (GOLDEN / "plan.tsv.undo").read_text("ascii").split("\n", 1)
    for line in f"{header}\n{index_line}{rest}".replace("@FOLDER@", str(files)).splitlines():
        text = line.partition(" ")[2]
        lines.append(f"{blake2b(text.encode(), digest_size=8).hexdigest()} {text}\n")
    write(files, {"plan.tsv.undo": "".join(lines)})
    (files / "moved" / "b").mkdir(parents=True)
    (files / "b" / "moved.txt").rename(files / "moved" / "b" / "moved.txt")
    (files / "b" / "linked.txt").unlink()
    (files / "b" / "linked.txt").hardlink_to(files / "a" / "kept.txt")
    output("apply", "--undo", "plan.tsv.undo", "--yes")

    assert before == tree(files)
    assert 1 == (files / "b" / "linked.txt").stat().st_nlink


def test_an_undo_file_of_another_version_is_refused_with_both_numbers(files: Path) -> None:
    header = (GOLDEN / "plan.tsv.undo").read_text("ascii").splitlines()[0]
    write(files, {"plan.tsv.undo": re.sub(r'"version": \d+', '"version": 99', header) + "\nmore\n"})

    assert "plan.tsv.undo was written by another version of simdoc-search (format 99, not 2); undo" in sentence(
        run("apply", "--undo", "plan.tsv.undo")
    )


def test_rows_that_0_1_saved_are_old_data(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    unpack("rows.tar.gz", tmp_path / "rows")
    texts = [*FINGERPRINTS["texts"].values(), "A new text of seven different words."]
    write(tmp_path, {"new.jsonl": "".join(json.dumps({"text": text}) + "\n" for text in texts)})
    deduplicate_files(tmp_path / "new.jsonl", tmp_path / "kept.jsonl", against=tmp_path / "rows")

    assert [FINGERPRINTS["texts"]["long"], texts[-1]] == [row["text"] for row in read_rows(tmp_path / "kept.jsonl")]
