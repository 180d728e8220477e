"""Every store finds phrases verbatim."""

from __future__ import annotations

import random

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.analysis.words import locate_words
from simdoc_search.errors import FormatMismatchError
from simdoc_search.stores.base import Store
from simdoc_search.stores.local import phrases as local
from simdoc_search.stores.record import Phrase
from simdoc_search.stores.remote import phrases as remote
from tests.support.slow_cases import slow_after
from tests.support.stores import NewStore

TEXTS = {
    "a": "The quick brown fox jumps over the lazy dog. It's the END of the tale!",
    "b": "Over the lazy dog jumps the quick brown fox; nobody knows why.",
    "c": "An Umbrella in Łódź: das Mädchen öffnet früh, и вода течёт.",
    "d": "fox brown quick the dog lazy the over jumps",
}


def phrase(text: str) -> Phrase:
    """Return the phrase of a text."""
    return Phrase(tuple(locate_words(text).words), text)


def matches_by_id(store: Store, *texts: str, **options: object) -> dict[str, tuple[int, ...]]:
    """Return the ids of the documents that contain phrases, with the indices of the phrases."""
    found = store.documents_with_phrases([phrase(text) for text in texts], **options)  # type: ignore[arg-type]
    assert () == found.incomplete_phrase_indices
    return {key.id: numbers for key, numbers in found.documents.items()}


def fill(store: Store, texts: dict[str, str] | None = None) -> None:
    """Index some documents."""
    SimilaritySearch(store).index(Document(id, text, {"kind": id}) for id, text in (texts or TEXTS).items())


@pytest.fixture
def filled_store(store: Store) -> Store:
    """A store with the documents."""
    fill(store)
    return store


def test_phrases_are_found_verbatim(filled_store: Store) -> None:
    assert filled_store.can_find_phrases
    assert {"a": (0,), "b": (0,)} == matches_by_id(filled_store, "quick brown FOX")
    assert {"a": (0, 1), "b": (2,)} == matches_by_id(
        filled_store, "the lazy dog, it's the", "brown fox jumps", "dog jumps"
    )
    assert {"c": (0,)} == matches_by_id(filled_store, "öffnet früh и вода")
    assert {"d": (0,)} == matches_by_id(filled_store, "lazy the over")
    assert {} == matches_by_id(filled_store, "quick fox", "nothing of it", "ox jumps", "t's the end")
    assert {"a": (0,), "b": (0,), "d": (0,)} == matches_by_id(filled_store, "fox")
    assert {} == matches_by_id(filled_store)


def test_filters_and_exclude_omit_documents(filled_store: Store) -> None:
    assert {"b": (0,)} == matches_by_id(filled_store, "the lazy dog", filters={"kind": ["b", "c"]})
    key = next(record.key for record in filled_store.records(["a"]))
    assert {"b": (0,)} == matches_by_id(filled_store, "the lazy dog", exclude=key)
    assert {} == matches_by_id(filled_store, "the lazy dog", exclude=key, filters={"kind": "a"})


def test_replaced_and_deleted_texts_are_not_found(filled_store: Store) -> None:
    fill(filled_store, {"a": "a new text about a quick brown cat"})
    with filled_store.writer() as writer:
        writer.delete(["b"])

    assert {"a": (1,)} == matches_by_id(filled_store, "quick brown fox", "quick brown cat")


def test_many_phrases_are_found_at_once(store: Store) -> None:
    """There are more phrases than a request may have."""
    words = [f"w{number}" for number in random.Random(1).sample(range(100_000), 400)]
    fill(store, {"x": " ".join(words), "y": " ".join(reversed(words))})
    runs = [" ".join(words[at : at + 6]) for at in range(395)]

    assert {"x": tuple(range(395))} == matches_by_id(store, *runs)


def test_phrases_of_too_common_words_are_incomplete(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other phrases of the same query are still found."""
    monkeypatch.setattr(local, "MIN_LIMIT_PER_PHRASE", 5)
    monkeypatch.setattr(local, "BASE_DOCUMENTS_READ", 5)
    monkeypatch.setattr(local, "DOCUMENTS_READ_PER_PHRASE", 0)
    monkeypatch.setattr(remote, "MIN_LIMIT_PER_PHRASE", 5)
    monkeypatch.setattr(remote, "MAX_LIMIT_PER_PHRASE", 5)
    fill(store, {f"{n}": f"as it is now w{n}" for n in range(9)})
    phrases = [phrase(text) for text in ("is now", "it is now w7", "now w8")]
    found = store.documents_with_phrases(phrases)

    assert (0,) == found.incomplete_phrase_indices
    assert {1, 2} <= {number for numbers in found.documents.values() for number in numbers}
    assert {"7", "8"} <= {key.id for key in found.documents}


def test_without_texts_no_phrase_is_found(new_store: NewStore) -> None:
    with new_store(store_texts=False) as store:
        fill(store)
        assert not store.can_find_phrases
        with pytest.raises(FormatMismatchError, match=r"phrase queries|cannot find phrases"):
            store.documents_with_phrases([phrase("quick brown fox")])


@pytest.mark.parametrize("length", slow_after(1, [6, 3, 20]))
def test_sentences_of_a_text_are_found(new_store: NewStore, length: int) -> None:
    """All texts have the same few words."""
    chosen = random.Random(length)
    texts = {f"{n}": " ".join(chosen.choices([f"w{m}" for m in range(50)], k=120)) for n in range(40)}
    with new_store() as store:
        fill(store, texts)
        for id, text in list(texts.items())[::8]:
            words = text.split()
            first = chosen.randrange(len(words) - length + 1)
            sentence = " ".join(words[first : first + length])
            result = SimilaritySearch(store).passages(text=sentence, min_words=6, size=40)

            assert (min(length, 6), 0) == (result.guaranteed_run_length, result.too_common_run_count)
            assert {id for id, other in texts.items() if f" {sentence} " in f" {other} "} <= {
                hit.id for hit in result.hits
            }
            assert id in {hit.id for hit in result.hits}


# --- local stores ---


def test_a_store_without_words_finds_passages_by_their_tokens(new_folder_store: NewStore) -> None:
    words = " ".join(f"w{number}" for number in range(60))
    with new_folder_store(Settings(indexes_word_pairs=False)) as old:
        fill(old, {"a": words, "b": f"something else, and {words}"})
        result = SimilaritySearch(old).passages(text=words)

        assert not old.can_find_phrases
        assert (36, ["a", "b"]) == (result.guaranteed_run_length, sorted(hit.id for hit in result.hits))
        with pytest.raises(FormatMismatchError, match="because it has no index of words; index the documents again"):
            old.documents_with_phrases([phrase("w1 w2")])


def test_a_single_word_is_found_in_more_documents_than_a_phrase(
    new_folder_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in no pair of words, so the texts are searched."""
    monkeypatch.setattr(local, "MIN_LIMIT_PER_PHRASE", 5)
    monkeypatch.setattr(local, "BASE_DOCUMENTS_READ", 5)
    with new_folder_store() as store:
        fill(store, {f"{n}": f"some words and w{n}" for n in range(30)})
        assert {"29": (0,)} == matches_by_id(store, "w29")
        monkeypatch.setattr(local, "MAX_DOCUMENTS_READ", 20)
        assert (0,) == store.documents_with_phrases([phrase("w29")]).incomplete_phrase_indices


def test_words_are_indexed_only_with_texts_and_passages(new_folder_store: NewStore) -> None:
    assert new_folder_store().settings.indexes_word_pairs
    assert not new_folder_store(store_texts=False).settings.indexes_word_pairs
    assert not new_folder_store(Settings(passages=None)).settings.indexes_word_pairs


@pytest.mark.parametrize(
    "text",
    [
        f"before {'a' * 600} after",
        "It can't_do 3.14, a.b.c or x:y; e-mail_me!",
        "the eﬀect of na\u00adtive ﬁshes, in Ｆｕｌｌ width",
        "İstanbul'da ΣΊΣΥΦΟΣ und Straße, 漢字かな, ไทย",
        "a\0b stray\x01bytes are no words",
    ],
)
def test_each_run_of_words_of_any_text_is_found(local_store: Store, text: str) -> None:
    fill(local_store, {"x": text, "y": "something else"})
    words = locate_words(text).words
    runs = [tuple(words[a:b]) for a in range(len(words)) for b in range(a + 1, len(words) + 1)]
    found = local_store.documents_with_phrases([Phrase(run, "") for run in runs])

    assert {"x": tuple(range(len(runs)))} == {key.id: numbers for key, numbers in found.documents.items()}


def test_many_phrases_and_few_phrases_have_the_same_matches(filled_store: Store) -> None:
    text = TEXTS["a"] + " " + TEXTS["c"] + " ½ fox 🦊 ﷺ"
    words = locate_words(text)
    runs = [
        text[words.starts[at] : words.ends[at + size]] for size in range(4) for at in range(len(words.words) - size)
    ]
    alone = [matches_by_id(filled_store, text) for text in runs]
    together = matches_by_id(filled_store, *runs)

    assert 50 < len(runs)
    assert together == {
        id: tuple(number for number, found in enumerate(alone) if id in found) for id in sorted(together)
    }
