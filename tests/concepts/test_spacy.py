"""Concepts found by spaCy pipelines. The tests do not download models."""

from __future__ import annotations

import pickle

import pytest

from simdoc_search.concepts import ConceptsError, Extractor, SpacyFinder, extractor_from_option, hash_words
from simdoc_search.sketch.concepts import ConceptSettings
from tests.versions.paper import DOCUMENTS

pytestmark = pytest.mark.slow  # spaCy takes seconds to load


def test_a_pipeline_finds_entities() -> None:
    """Entities are found by paragraph. Numbers and dates are left out. A pickled extractor finds the same."""
    import spacy

    nlp = spacy.blank("en")
    patterns = [{"label": "PERSON", "pattern": "Jason Dufner"}, {"label": "DATE", "pattern": "Sunday"}]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    extractor = Extractor(SpacyFinder(nlp))
    (result,) = pickle.loads(pickle.dumps(extractor)).token_ids([DOCUMENTS[2]])

    assert ConceptSettings("sp/en_pipeline") == extractor.settings
    assert [{"Jason Dufner": 1}] == extractor.concepts(DOCUMENTS[2])
    assert [*hash_words(["jason", "dufner"]).tolist(), 0] == result.tolist()


def test_a_pipeline_that_parses_also_finds_noun_phrases() -> None:
    """Noun phrases that contain an entity are left out."""
    import spacy
    from spacy.language import Language
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    words = ["the", "old", "course", "is", "Oak", "Hill"]
    document = Doc(
        nlp.vocab, words, pos=["DET", "ADJ", "NOUN", "AUX", "PROPN", "PROPN"], heads=[2, 2, 3, 3, 5, 3],
        deps=["det", "amod", "nsubj", "ROOT", "compound", "attr"], ents=["O", "O", "O", "O", "B-GPE", "I-GPE"],
    )  # fmt: skip

    @Language.component("parsed")
    def parsed(_: Doc) -> Doc:
        return document

    nlp.add_pipe("parsed")

    assert [{"the old course": 1, "Oak Hill": 1}] == SpacyFinder(nlp).find(document.text)


def test_a_long_model_name_and_a_missing_model_are_refused() -> None:
    import spacy

    with pytest.raises(ConceptsError, match=r"Set nlp\.meta\['name'\] to another name"):
        SpacyFinder(spacy.blank("en", meta={"name": "a name that is long"}))
    with pytest.raises(
        ConceptsError,
        match="spaCy model 'en_no_such' is not installed; install the model with: python -m spacy download",
    ):
        extractor_from_option("spacy:en_no_such")
