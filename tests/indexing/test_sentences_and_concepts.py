"""Sentences and concepts are stored. If they cannot be computed, a text is stored without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.chunks import sentence_spans
from simdoc_search.concepts import Extractor, hash_words
from simdoc_search.corpus import read_corpus
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings, decode_simhashes, sentence_simhashes
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import sentences_and_concepts
from tests.support.capitals_extractor import CAPITALS, Capitals

BOTH = Settings(sentences=SentenceSettings(), concepts=ConceptSettings("capitals"))
TEXT = "The Danube flows through Vienna. It is a long river, and Vienna lies on it.\n\nBudapest lies there too."


@pytest.fixture
def search() -> SimilaritySearch:
    """A search over an empty store with sentences and concepts."""
    return SimilaritySearch(open_store(":memory:", BOTH))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_documents_get_their_sentences_and_concepts(search: SimilaritySearch, tmp_path: Path, workers: int) -> None:
    count = 400 if workers > 1 else 20  # fewer documents are prepared by this process
    for n in range(count):
        (tmp_path / f"{n}.txt").write_text(f"{TEXT} Number {n}.")
    sources = [*read_corpus([tmp_path])]
    report = search.index(sources, workers=workers, extractor=CAPITALS)
    record = search.store.get("7.txt", load={"sentences", "concepts"})
    text = f"{TEXT} Number 7."
    sentences = [text[begin:end] for begin, end in sentence_spans(text)]
    danube, vienna, number = hash_words(["Danube", "Vienna.", "Number"]).tolist()

    assert record is not None
    assert (count, {}) == (report.added_count, report.incomplete)
    assert 4 == len(sentences)
    expected, _ = sentence_simhashes(sentences, BOTH.analysis)
    assert expected.tolist() == decode_simhashes(record.sentences).tolist()
    assert [danube, vienna, vienna] == [code for code in record.concepts.tolist() if code in (danube, vienna)]
    assert [number, 0] == record.concepts.tolist()[-2:]
    assert count == search.index(sources, extractor=CAPITALS).unchanged_count


def test_a_text_without_sentences_or_concepts_is_listed(
    search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(text: str) -> list[tuple[int, int]]:
        if "break" in text:
            raise RuntimeError(text)
        return sentence_spans(text)

    monkeypatch.setattr(sentences_and_concepts, "sentence_spans", fails)
    texts = {"fine": TEXT, "one": f"{TEXT} fail", "other": f"{TEXT} break", "none": "fail break of all that is made"}
    report = search.index((Document(id, text) for id, text in texts.items()), extractor=CAPITALS)
    stored = {record.id: record for record in search.store.scan(load={"sentences", "concepts"})}

    assert {"one": "concepts", "other": "sentences", "none": "sentences and concepts"} == report.incomplete
    assert (4, False) == (report.added_count, report.has_failed)
    assert stored["fine"].concepts.tolist() == stored["other"].concepts.tolist()
    assert [0, 0] == [len(stored["one"].concepts), len(stored["other"].sentences)]
    assert len(stored["fine"].sentences) == len(stored["one"].sentences) > 0
    again = search.index([Document("one", f"{TEXT} fail"), Document("one", TEXT)], extractor=CAPITALS)
    assert {} == again.incomplete


def test_a_touched_file_keeps_its_sentences_and_concepts(search: SimilaritySearch, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(TEXT)
    search.index(read_corpus([tmp_path]), extractor=CAPITALS)
    before = search.store.get("a.txt", load={"passages", "sentences", "concepts"})
    file.touch()
    assert 1 == search.index(read_corpus([tmp_path]), extractor=CAPITALS).unchanged_count
    after = search.store.get("a.txt", load={"passages", "sentences", "concepts"})

    assert before is not None
    assert after is not None
    assert before.origin != after.origin
    for name in ("passages", "sentences", "concepts"):
        assert getattr(before, name).tolist() == getattr(after, name).tolist() != []


@pytest.mark.parametrize(
    ("settings", "extractor", "message"),
    [
        (
            BOTH,
            Extractor(Capitals("others")),
            "the index has concepts from capitals, but the given extractor is others",
        ),
        (BOTH, None, "there is no built-in extractor 'capitals'"),
        (Settings(), CAPITALS, "the index has no concepts, but the given extractor is capitals; omit the extractor"),
    ],
)
def test_another_extractor_than_that_of_the_store_is_refused(
    settings: Settings, extractor: Extractor | None, message: str
) -> None:
    search = SimilaritySearch(open_store(":memory:", settings))
    with pytest.raises(FormatMismatchError, match=message):
        search.index([Document("a", TEXT)], extractor=extractor)

    assert 0 == search.store.info().document_count
