"""Concepts by a pipeline of spaCy's; none is downloaded."""

from __future__ import annotations

import pickle

import pytest

from simdoc_search.concepts import ConceptsError, Extractor, SpacyConcepts, codes_of_names, extractor_named
from simdoc_search.sketch.concepts import Concepts
from tests.versions.paper import DOCUMENTS

pytestmark = pytest.mark.slow  # it takes seconds to load


def test_a_pipeline_of_spacy_finds_entities() -> None:
    """Not numbers and dates; paragraph by paragraph, also in another process."""
    import spacy

    nlp = spacy.blank("en")
    patterns = [{"label": "PERSON", "pattern": "Jason Dufner"}, {"label": "DATE", "pattern": "Sunday"}]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    made = Extractor(SpacyConcepts(nlp))
    (found,) = pickle.loads(pickle.dumps(made)).codes([DOCUMENTS[2]])

    assert Concepts("sp/en_pipeline") == made.settings
    assert [{"Jason Dufner": 1}] == made.concepts(DOCUMENTS[2])
    assert [*codes_of_names(["jason", "dufner"]).tolist(), 0] == found.tolist()


def test_a_pipeline_that_parses_gives_noun_phrases() -> None:
    """But for those that an entity is in."""
    import spacy
    from spacy.language import Language
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    words = ["the", "old", "course", "is", "Oak", "Hill"]
    document = Doc(
        nlp.vocab, words, pos=["DET", "ADJ", "NOUN", "AUX", "PROPN", "PROPN"], heads=[2, 2, 3, 3, 5, 3],
        deps=["det", "amod", "nsubj", "ROOT", "compound", "attr"], ents=["O", "O", "O", "O", "B-GPE", "I-GPE"],
    )  # fmt: skip

    @Language.component("as_it_is")
    def as_it_is(_: Doc) -> Doc:
        return document

    nlp.add_pipe("as_it_is")

    assert [{"the old course": 1, "Oak Hill": 1}] == SpacyConcepts(nlp).find(document.text)


def test_a_model_with_a_long_name_is_refused() -> None:
    """An index has room for 15 letters."""
    import spacy

    with pytest.raises(ConceptsError, match=r"nlp\.meta"):
        SpacyConcepts(spacy.blank("en", meta={"name": "a name that is long"}))


def test_a_model_that_is_not_installed_is_named() -> None:
    """With the line that installs it."""
    with pytest.raises(ConceptsError, match="'en_no_such' is not installed; python -m spacy download en_no_such"):
        extractor_named("spacy:en_no_such")
