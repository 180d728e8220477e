"""Writes the stored forms of this version, which tests open for ever.

    simdoc-search engine start --ephemeral
    python scripts/golden_formats.py tests/data/formats_0_1 --engine http://127.0.0.1:9201

Before a release, run it again if a form changed. After the release, write a new folder for each new form, and keep the
old one.

| File | Content |
|---|---|
| store.tar.gz | a local store |
| index.json | an index of an engine: mapping and documents |
| application.json.gz | the mapping of the fingerprint field and the ingest pipeline for the index of an application |
| fingerprints.json | the values of the fingerprint field with other settings |
| plan.tsv, plan.tsv.undo | a plan of duplicates, and the undo file of a run that moved a file and made a hard link |
| rows.tar.gz | the kept rows that `dedupe --save` wrote |
| watches.json | the index of `watch`: mapping and document; needs `--engine` |
| commands.json | files, and the lines that commands print for them with `--json` |
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from simdoc_search.stores.record import ALL_PARTS

sys.path.insert(0, str(Path(__file__).parents[1]))

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.stop_words import StopWords
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.concepts import extractor_from_settings
from simdoc_search.dedupe import deduplicate_files
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import XorSketch
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.records import to_sources
from simdoc_search.stores.remote.schema import build_index_body, field_mappings
from simdoc_search.stores.remote.texts import build_text_fields_mapping
from tests.support.cli import json_values

DOCUMENTS = [
    Document("letters/draft.txt", "The quick brown fox jumps over the lazy dog near the bank.", {"year": 2020}),
    Document("letters/final.txt", "the quick brown FOX jumps over the lazy cat near the bank", {"team": ["a", "b"]}),
    Document("notes/größe.txt", "Die Größe der Straße, gemessen in Zürich: 漢字 und \U0001f600 zählen mit."),
]
LONG = " ".join(f"word{number * number % 997} of the long text" for number in range(200))
ALL_KINDS = Settings(sentences=SentenceSettings(), concepts=ConceptSettings("names"))
SETTINGS = {
    "default": Settings(),
    "all kinds of tokens": ALL_KINDS,
    "no passages": Settings(passages=None),
    "longer passages": Settings(passages=PassageSettings(20)),
    "shingles of 3": Settings(Analysis(shingle_size=3)),
    "lowercase": Settings(Analysis(profile="lowercase", short_texts=False)),
    "characters": Settings(Analysis(unit="character")),
    "stop words": Settings(Analysis(stop_words=StopWords(["the", "of", "near"]))),
    "frequencies": Settings(Analysis(frequencies=True)),
    "128 buckets": Settings(sketch=MinHash(bucket_count=128)),
    "xor": Settings(sketch=XorSketch()),
    "key": Settings(sketch=MinHash(key=HashKey("a secret of the golden files"))),
}
FOLDER = "@FOLDER@"
FILES = {"a/kept.txt": LONG, "b/moved.txt": LONG, "b/linked.txt": LONG, "b/other.txt": DOCUMENTS[0].text}
PARAGRAPH = "The committee approved the budget for the new library on Monday after a short debate. "
JSON_FILES = {
    "docs/a.txt": PARAGRAPH * 2 + "A reading room opens in spring, said Ada Quill of Eastmouth.",
    "docs/copy.txt": PARAGRAPH * 2 + "A reading room opens in spring, said Ada Quill of Eastmouth.",
    "docs/b.md": PARAGRAPH * 2 + "A reading room opens in autumn, said Ada Quill of Eastmouth.",
    "docs/c.txt": "In Eastmouth, Ada Quill counted the ships of the harbour for many years, until the last one left.",
    "docs/empty.txt": "",
    "essay.txt": f"These words are my own. {PARAGRAPH}These words are mine, too.",
    "ids.txt": "a.txt\nb.md\n",
    "rows.jsonl": '{"id": "1", "text": "one two three four five six seven"}\n' * 2,
}
JSON_COMMANDS = """\
index docs --with versions,related
info
list
show a.txt
similar a_20_80
similar a --measure containment
passages a
passages --file essay.txt
passages --all-from ids.txt
compare a b.md
versions a
versions --all
related a --min-score 0.1
related --all
duplicates --overlap 50
languages
explain a_20_80
duplicates --plan plan.tsv
apply plan.tsv --move-to moved --yes
apply --undo plan.tsv.undo --yes
dedupe rows.jsonl -o kept.jsonl
check .simdoc
backup .simdoc saved
repair .simdoc --to repaired
delete c.txt
"""
TIME = 1_750_000_000  # seconds; the modification time of the files


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="Writes the stored forms of this version.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", metavar="URL", help="an OpenSearch without an index golden; writes watches.json")
    arguments = parser.parse_args()
    target = arguments.folder
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        store = open_store(folder / "store", ALL_KINDS, create=True)
        SimilaritySearch(store).index(DOCUMENTS)
        _write_archive(folder / "store", target / "store.tar.gz")
        index = _index(store)
        _write_json(target / "index.json", index)
        if arguments.engine:
            _write_json(target / "watches.json", _watches(arguments.engine, index))
        _write_json(target / "fingerprints.json", _fingerprints())
        _write_plan(folder / "files", target)
        rows = "".join(json.dumps({"text": document.text}) + "\n" for document in DOCUMENTS)
        (folder / "rows.jsonl").write_text(rows, "utf-8")
        deduplicate_files(folder / "rows.jsonl", folder / "kept.jsonl", save=folder / "rows")
        _write_archive(folder / "rows", target / "rows.tar.gz")
    fields = field_mappings(Settings(), "simdoc")
    fields["text_hash"] = build_text_fields_mapping(fields["text_hash"], ["body"])
    application = {"fields": fields, "pipeline": build_pipeline_body(text_field="body")}
    (target / "application.json.gz").write_bytes(gzip.compress(json.dumps(application).encode(), mtime=0))
    _write_json(target / "commands.json", _commands())


def _index(store: Any) -> dict[str, Any]:
    records = list(store.scan(load=ALL_PARTS))
    sources = to_sources(records, ALL_KINDS, field="simdoc", store_text=True)
    documents = {record.id: source for record, source in zip(records, sources, strict=True)}
    return {"body": build_index_body(ALL_KINDS, field="simdoc", store_texts=True), "documents": documents}


def _watches(engine: str, index: dict[str, Any]) -> dict[str, Any]:
    """Watch the first document of the index, and return the index of watches."""
    _call(engine, "PUT", "/golden", index["body"])
    try:
        for id, source in index["documents"].items():
            _call(engine, "PUT", f"/golden/_doc/{quote(id, safe='')}?refresh=true", source)
        _run(Path(), "watch", DOCUMENTS[0].id, "--store", f"{engine}/golden", "--watches", "golden-watches")
        (hit,) = _call(engine, "GET", "/golden-watches/_search")["hits"]["hits"]
        mapping = _call(engine, "GET", "/golden-watches")["golden-watches"]["mappings"]
    finally:
        _call(engine, "DELETE", "/golden,golden-watches?ignore_unavailable=true")
    return {"mappings": mapping, "document": hit["_source"]}


def _call(engine: str, method: str, path: str, body: Any = None) -> Any:
    headers = {"Content-Type": "application/json"}
    request = Request(f"{engine}{path}", body and json.dumps(body).encode(), headers, method=method)  # noqa: S310
    with urlopen(request) as response:  # noqa: S310 - the URL that was given on the command line
        return json.load(response)


def _fingerprints() -> dict[str, Any]:
    texts = {**{document.id: document.text for document in DOCUMENTS}, "long": LONG}
    values: dict[str, Any] = {"texts": texts, "settings": {}}
    for name, settings in SETTINGS.items():
        extractor = extractor_from_settings(settings.concepts) if settings.concepts else None
        fields = {id: fingerprint_field(text, settings, extractor) for id, text in texts.items()}
        values["settings"][name] = {"stored": settings.to_dict(), "fields": fields}
    return values


def _commands() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for path, text in JSON_FILES.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, "utf-8")
            os.utime(folder / path, (TIME, TIME))
        printed = {line: _run(folder, *line.split(), "--json") for line in JSON_COMMANDS.splitlines()}
        outputs = {command: json_values(text.replace(str(folder), FOLDER)) for command, text in printed.items()}
    return {"files": JSON_FILES, "outputs": outputs}


def _write_plan(folder: Path, target: Path) -> None:
    """Write a plan, and the undo file of the runs that moved one of its files and replaced another with a link."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o640)
        os.utime(folder / name, (TIME, TIME))
    _run(folder, "duplicates", ".", "--plan", "plan.tsv", "--keep-in", "a/")
    plan = (folder / "plan.tsv").read_text("utf-8")
    for option, dropped in (("--move-to=moved", "b/moved.txt"), ("--hardlink", "b/linked.txt")):
        lines = [line for line in plan.splitlines() if dropped in line or not line.startswith("drop")]
        (folder / "plan.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        _run(folder, "apply", "plan.tsv", option, "--yes")
    (target / "plan.tsv").write_text(plan.replace(str(folder), FOLDER), "utf-8")
    undo = (folder / "plan.tsv.undo").read_text("ascii")
    # The checksums of the lines do not fit any more. The test computes them again.
    (target / "plan.tsv.undo").write_text(undo.replace(str(folder), FOLDER), "ascii")


def _run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "simdoc_search", *arguments]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def _write_json(path: Path, value: Any) -> None:
    path.write_text(f"{json.dumps(value, indent=1)}\n", "utf-8")


def _write_archive(folder: Path, target: Path) -> None:
    """Write an archive of the files, without owners, times and locks."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"):
            member = tarfile.TarInfo(file.relative_to(folder).as_posix())
            member.size = file.stat().st_size
            archive.addfile(member, io.BytesIO(file.read_bytes()))
    target.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))


if __name__ == "__main__":
    main()
