"""Which passages two texts share, and where."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis
from simdoc_search.analysis.words import placed_words
from simdoc_search.passages.align import EDITED, VERBATIM, Alignment, Preset, align, align_words
from simdoc_search.passages.matched_words import matched_words
from simdoc_search.passages.passage import Passage, Span
from tests.support import strategies, texts

repetitive = st.lists(st.sampled_from(["a", "b", "c", "d.", "E!", "f,"]), max_size=30).map(" ".join)
settings = st.builds(
    Alignment,
    least=st.integers(1, 8),
    edited=st.booleans(),
    gap=st.integers(0, 10),
)
PRESETS: list[Preset] = ["edited", "verbatim"]


def quoted(text: str, span: Span) -> str:
    """The characters of a span."""
    return text[span[0] : span[1]]


def prose(seed: object, words: int) -> str:
    """A text of its own."""
    return texts.text(random.Random(str(seed)), words)


def normal(text: str, span: Span, analysis: Analysis | None = None) -> list[str]:
    """The words in a span, which must begin and end with words."""
    placed = placed_words(text, analysis)
    first, end = placed.starts.tolist().index(span[0]), placed.ends.tolist().index(span[1])
    return placed.words[first : end + 1]


@given(repetitive | strategies.texts(), repetitive | strategies.texts(), settings)
def test_runs_are_equal_word_for_word(a: str, b: str, preset: Alignment) -> None:
    """Spans begin and end with words; the runs of a passage lie in it, have no word in common, and have equal words."""
    for passage in align(a, b, preset):
        assert passage.words == sum(len(normal(a, one)) for one, _ in passage.runs) <= len(normal(a, passage.a))
        assert len(normal(b, passage.b)) > 0
        assert all(normal(a, one) == normal(b, other) for one, other in passage.runs)
        for side, whole in enumerate((passage.a, passage.b)):
            spans = sorted(run[side] for run in passage.runs)
            assert whole[0] <= spans[0][0]
            assert spans[-1][1] <= whole[1]
            assert all(one[1] <= other[0] for one, other in pairwise(spans))
        assert [*passage.runs] == sorted(passage.runs)


@given(repetitive, repetitive, settings)
def test_every_long_common_run_lies_in_passages(a: str, b: str, preset: Alignment) -> None:
    """In both texts, whatever the settings; no text of fewer words than that needs more than five sixths of them."""
    passages = align(a, b, preset)
    first, second = placed_words(a), placed_words(b)
    shorter = min(len(first.words), len(second.words))
    size = min(preset.least_of(len(first.words)), shorter - shorter // 6)
    for i in range(len(first.words) - size + 1 if size else 0):
        for j in range(len(second.words) - size + 1):
            if first.words[i : i + size] == second.words[j : j + size]:
                assert covers([each.a for each in passages], first.starts[i], first.ends[i + size - 1])
                assert covers([each.b for each in passages], second.starts[j], second.ends[j + size - 1])


def covers(spans: list[Span], start: int, end: int) -> bool:
    """Whether there are spans over all words between two places; a character between two words need not be in one."""
    inside = {at for span in spans for at in range(span[0], span[1] + 1)}
    return inside.issuperset(range(start, end))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "text", ["one", "One two.", prose("same", 300), "spam " * 300, "漢字かな " * 9, "שלום עולם " * 9]
)
def test_equal_texts_are_one_passage(preset: Preset, text: str) -> None:
    """Over all words, of few words and many, of one repeated word, and in any script."""
    words = placed_words(text)
    whole = (int(words.starts[0]), int(words.ends[-1]))

    assert [Passage(whole, whole, len(words.words), ((whole, whole),))] == align(text, text, preset)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("other", ["", " \n", "...", "nothing", "nichts davon " * 40, "\ud800"])
def test_texts_without_common_words_share_nothing(preset: Preset, other: str) -> None:
    """Texts without words too, on either side."""
    text = prose("own", 100)

    assert [] == align(text, other, preset) == align(other, text, preset)
    assert [] == align(other, "", preset) == align("", other, preset)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(3))
def test_unrelated_texts_share_nothing(preset: Preset, seed: int) -> None:
    """Words of one vocabulary are equal here and there; that is no passage."""
    assert [] == align(prose(seed, 900), prose(-seed - 1, 1_200), preset)


def test_a_passage_is_given_as_it_stands() -> None:
    """Case, signs, line breaks and markup inside are those of each text; what lies around is outside."""
    quote = " ".join(f"word{number}" for number in range(40))
    with_markup, in_capitals = quote.replace(" word7 ", ",<br>\n  WORD7; "), quote.upper().replace(" ", "\t")
    a = f"{prose('a', 200)}  “{with_markup}”  {prose('b', 200)}"
    b = f"{prose('c', 300)} 𝒜 ({in_capitals}) \ud800 {prose('d', 100)}"
    (found,) = align(a, b)

    assert with_markup == quoted(a, found.a)
    assert in_capitals == quoted(b, found.b)
    assert 40 == found.words  # br is the author's own


def test_small_changes_leave_one_passage() -> None:
    """Words replaced, dropped and inserted here and there: one passage, whose runs leave them out; verbatim four."""
    words = prose("own", 120).split()
    changed = [*words[:30], "another", *words[31:60], *words[62:90], "some", "more", *words[90:]]
    (found,) = align(" ".join(words), " ".join(changed))
    parts = align(" ".join(words), " ".join(changed), "verbatim")

    assert (0, len(" ".join(words)) - 1) == (found.a[0], found.a[1])
    assert [30, 29, 28, 30] == [len(normal(" ".join(words), one)) for one, _ in found.runs]
    assert [30, 29, 28, 30] == [each.words for each in parts]


def test_shuffled_and_reworded_passages_are_found_by_the_default_preset() -> None:
    """In pieces of 3 words that changed places, and with every fifth word replaced; `verbatim` finds little of them."""
    rng = random.Random("shuffled")
    words = prose("copied", 150).split()
    pieces = [words[at : at + 3] for at in range(0, len(words), 3)]
    moved = sorted(range(len(pieces)), key=lambda at: at + rng.uniform(0, 5))
    shuffled = " ".join(word for at in moved for word in pieces[at])
    reworded = " ".join("other" if at % 5 == 4 else word for at, word in enumerate(words))
    source = f"{prose('before', 300)} {' '.join(words)} {prose('after', 300)}"
    for copy in (shuffled, reworded):
        text = f"{prose('mine', 200)} {copy} {prose('my own', 200)}"
        (found,) = align(text, source)

        assert 0.9 < len(quoted(text, found.a)) / len(copy) < 1.1
        assert 0.9 < len(quoted(source, found.b)) / len(" ".join(words)) < 1.1
        assert 50 > sum(each.words for each in align(text, source, "verbatim"))


@pytest.mark.parametrize("preset", PRESETS)
def test_passages_apart_are_told_apart(preset: Preset) -> None:
    """Two passages with words between them that only one text has, in another order in the other."""
    one, other = prose("one", 60).strip(), prose("other", 80).strip()
    a = f"{prose(1, 100)} {one} {prose(2, 100)} {other} {prose(3, 100)}"
    b = f"{other} {prose(4, 200)} {one}"
    first, second = align(a, b, preset)

    assert (one[:-1], one[:-1]) == (quoted(a, first.a), quoted(b, first.b))
    assert (other[:-1], other[:-1]) == (quoted(a, second.a), quoted(b, second.b))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_passage_that_is_there_twice_is_found_in_both_places(preset: Preset) -> None:
    """In either text."""
    copied = prose("twice", 50).strip()[:-1]
    a = f"{prose(1, 400)} {copied} {prose(2, 400)}"
    b = f"{prose(3, 100)} {copied} {prose(4, 500)} {copied} {prose(5, 100)}"

    assert [(copied, copied)] * 2 == [(quoted(a, each.a), quoted(b, each.b)) for each in align(a, b, preset)]
    assert [(copied, copied)] * 2 == [(quoted(b, each.a), quoted(a, each.b)) for each in align(b, a, preset)]


@pytest.mark.parametrize("preset", PRESETS)
def test_boilerplate_does_not_multiply(preset: Preset) -> None:
    """A phrase that both texts have 100 times is not 10,000 passages: each place of it lies in one or two."""
    phrase = "All rights reserved by the owner of the very words that you are reading here now, and of all others too. "
    a = "".join(f"{prose(('a', number), 60)} {phrase}" for number in range(100))
    b = "".join(f"{prose(('b', number), 60)} {phrase}" for number in range(100))

    assert 100 <= len(align(a, b, preset)) <= 200


@pytest.mark.parametrize("preset", PRESETS)
def test_the_repeated_word_of_a_long_text_is_found_in_a_short_one(preset: Preset) -> None:
    """And the other way round: every word of both is matched."""
    many, few = placed_words("spam " * 2_000), placed_words("Spam! " * 10)
    found, back = align_words(many, few, preset), align_words(few, many, preset)

    assert matched_words(many, found).all()
    assert matched_words(few, found, second=True).all()
    assert matched_words(few, back).all()
    assert matched_words(many, back, second=True).all()


def test_a_sentence_is_found_in_a_document() -> None:
    """A text of fewer words than a passage needs is found whole, and with a word changed."""
    sentence = "Colourless green ideas sleep furiously under the old bridge"
    document = f"{prose(1, 500)} {sentence}. {prose(2, 500)}"
    for preset in PRESETS:
        (found,) = align(sentence, document, preset)
        assert sentence == quoted(document, found.b)
    (found,) = align(sentence.replace("old", "new"), document)

    assert quoted(document, found.b).startswith("Colourless green ideas")


def test_the_least_length_is_a_setting() -> None:
    """What is shorter is left out."""
    shared = "these seven words stand in both texts"
    a, b = f"{prose(1, 100)} {shared} {prose(2, 100)}", f"{prose(3, 100)} {shared} {prose(4, 100)}"

    assert [shared] == [quoted(a, each.a) for each in align(a, b, Alignment(least=7, edited=False))]
    assert [] == align(a, b, Alignment(least=8, edited=False))


def test_the_analysis_decides_what_a_word_is() -> None:
    """With `lowercase` a ligature is another letter than those it stands for."""
    a, b = "The ﬁrst oﬃce of ﬂowers " * 5, "the first office of flowers " * 5

    assert [((0, 119), (0, 139))] == [(each.a, each.b) for each in align(a, b)]
    assert [] == align(a, b, analysis=Analysis(profile="lowercase"))


def test_mixed_scripts_lie_side_by_side() -> None:
    """Right-to-left and left-to-right words, ideographs and emoji in one passage, each as it stands."""
    shared = "the word שלום means peace, as سلام does; 平和 and שָׁלוֹם 👩🏽‍🚀 in one line of 𐐀𐐁 words and more of them"
    a, b = f"{prose(1, 60)}\u202e{shared} \u202c{prose(2, 60)}", f"— {shared} —"
    for preset in PRESETS:
        (found,) = align(a, b, preset)
        assert (shared, shared) == (quoted(a, found.a), quoted(b, found.b))


@pytest.mark.parametrize("name", ["least", "gap"])
@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_settings_that_make_no_sense_are_refused(name: str, value: object) -> None:
    """The message names the setting and says what it may be."""
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least [01], not "):
        Alignment(**{name: value})  # type: ignore[arg-type]


def test_an_unknown_preset_is_refused() -> None:
    """The message has those that there are."""
    with pytest.raises(ValueError, match="preset must be 'edited' or 'verbatim', not 'loose'"):
        align("a", "b", "loose")  # type: ignore[arg-type]


def test_presets_are_settings() -> None:
    """A preset by name is the same as its settings."""
    a, b = prose(1, 300), prose(1, 250)

    assert align(a, b, EDITED) == align(a, b, "edited") == align(a, b)
    assert align(a, b, VERBATIM) == align(a, b, "verbatim")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("apart", [0, 300])
@pytest.mark.parametrize("own", [0, 5, 10, 20, 40, 60, 100, 200])
def test_own_words_between_two_copied_paragraphs_are_not_counted(preset: Preset, apart: int, own: int) -> None:
    """However many they are, and whether the paragraphs follow each other in the source: 2 % and 2 words at most."""
    for case in range(5):
        rng = random.Random(f"{own} {case}")
        source = texts.text(rng, 1_500).split()
        first, second = rng.randint(60, 150), rng.randint(60, 150)
        begin = rng.randint(50, 300)
        paragraphs = source[begin : begin + first], source[begin + first + apart : begin + first + apart + second]
        copied = placed_words(" ".join([*paragraphs[0], *texts.text(rng, own + 1).split()[:own], *paragraphs[1]]))
        passages = align_words(copied, placed_words(" ".join(source)), preset)

        assert abs(matched_words(copied, passages).sum() - first - second) <= 0.02 * (first + second) + 2


@pytest.mark.parametrize("words", [40, 80, 150])
def test_replaced_words_are_not_counted(words: int) -> None:
    """With every eighth word replaced the others are matched, within 3 %."""
    for case in range(10):
        rng = random.Random(f"{words} {case}")
        source = texts.text(rng, 1_000).split()
        others = iter(texts.text(rng, words).split())
        copied = [next(others) if at % 8 == 7 else word for at, word in enumerate(source[200 : 200 + words])]
        same = sum(at % 8 != 7 or word == copied[at] for at, word in enumerate(source[200 : 200 + words]))
        found = align(" ".join(copied), " ".join(source))

        assert abs(sum(each.words for each in found) - same) <= 0.03 * words


def test_an_inserted_sentence_ends_a_passage() -> None:
    """Thirty words of the author's own split it; a reworded stretch as long does not."""
    source, own = prose("source", 200).split(), prose("own", 30).split()
    inserted = " ".join([*source[20:80], *own, *source[80:160]])
    reworded = " ".join([*source[20:80], *own, *source[110:160]])

    assert [60, 80] == [each.words for each in align(inserted, " ".join(source))]
    assert [110] == [each.words for each in align(reworded, " ".join(source))]
