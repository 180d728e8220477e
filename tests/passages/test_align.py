"""The passages that two texts share."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search import Analysis
from simdoc_search.analysis.words import locate_words
from simdoc_search.passages.align import AlignmentSettings, Preset, align, align_words
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.word_spans import matched_mask
from tests.support import strategies, texts

repetitive = st.lists(st.sampled_from(["a", "b", "c", "d.", "E!", "f,"]), max_size=30).map(" ".join)
settings = st.builds(AlignmentSettings, min_run=st.integers(1, 8), edited=st.booleans(), max_gap=st.integers(0, 10))
PRESETS: list[Preset] = ["edited", "verbatim"]


def prose(seed: object, words: int) -> str:
    """A random text."""
    return texts.text(random.Random(str(seed)), words)


def words_of(text: str, span: Span, analysis: Analysis | None = None) -> list[str]:
    """The normalised words in a span. The span must begin and end with a word."""
    placed = locate_words(text, analysis)
    first, end = placed.starts.tolist().index(span[0]), placed.ends.tolist().index(span[1])
    return placed.words[first : end + 1]


@given(repetitive | strategies.texts(), repetitive | strategies.texts(), settings)
def test_the_runs_of_a_passage_are_equal(a: str, b: str, preset: AlignmentSettings) -> None:
    """The runs are inside the passage and do not overlap."""
    for passage in align(a, b, preset):
        assert (
            passage.word_count == sum(len(words_of(a, one)) for one, _ in passage.runs) <= len(words_of(a, passage.a))
        )
        assert words_of(b, passage.b)
        assert all(words_of(a, one) == words_of(b, other) for one, other in passage.runs)
        for side, whole in enumerate((passage.a, passage.b)):
            spans = sorted(run[side] for run in passage.runs)
            assert whole[0] <= spans[0][0]
            assert spans[-1][1] <= whole[1]
            assert all(one[1] <= other[0] for one, other in pairwise(spans))
        assert [*passage.runs] == sorted(passage.runs)


@example("a b", "b a", AlignmentSettings(min_run=1))
@example("a c a c a", "a c c a", AlignmentSettings(min_run=2, max_gap=0))
@given(repetitive, repetitive, settings)
def test_every_long_common_run_is_in_passages(a: str, b: str, preset: AlignmentSettings) -> None:
    """The run is covered in both texts. In a short text, a run of five sixths of its words is long enough."""
    passages = align(a, b, preset)
    first, second = locate_words(a), locate_words(b)
    shorter = min(len(first.words), len(second.words))
    size = min(preset.min_run_for(len(first.words)), shorter - shorter // 6)
    for i in range(len(first.words) - size + 1 if size else 0):
        for j in range(len(second.words) - size + 1):
            if first.words[i : i + size] == second.words[j : j + size]:
                assert is_covered([passage.a for passage in passages], first.starts[i], first.ends[i + size - 1])
                assert is_covered([passage.b for passage in passages], second.starts[j], second.ends[j + size - 1])


def is_covered(spans: list[Span], start: int, end: int) -> bool:
    """Whether spans contain or touch all characters from `start` to `end`."""
    inside = {index for span in spans for index in range(span[0], span[1] + 1)}
    return inside.issuperset(range(start, end))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "text", ["one", "One two.", prose("same", 300), "spam " * 300, "漢字かな " * 9, "שלום 平和 👩🏽‍🚀 𐐀𐐁 word " * 9]
)
def test_equal_texts_are_one_passage(preset: Preset, text: str) -> None:
    """The passage has all words."""
    words = locate_words(text)
    whole = (int(words.starts[0]), int(words.ends[-1]))

    assert [Passage(whole, whole, len(words.words), ((whole, whole),))] == align(text, text, preset)


@pytest.mark.parametrize("preset", PRESETS)
def test_unrelated_texts_share_nothing(preset: Preset) -> None:
    """Some of the texts have no words. Others have words in common by chance."""
    text = prose("own", 100)
    for other in ("", " \n", "...", "nothing", "nichts davon " * 40, "\ud800"):
        assert [] == align(text, other, preset) == align(other, text, preset)
        assert [] == align(other, "", preset) == align("", other, preset)
    for seed in range(3):
        assert [] == align(prose(seed, 900), prose(-seed - 1, 1_200), preset)


@pytest.mark.parametrize("case", [2, 3, 15, 25, 26])
def test_texts_with_a_small_vocabulary_share_nothing(case: int) -> None:
    """Most pairs of words of the first text are somewhere in the second one."""
    rng = random.Random(case)

    def build_text() -> str:
        words = [
            ["a", "an", "the", "this", "each"],
            *([f"{kind}{k}" for k in range(60)] for kind in "jnv"),
            ["of", "in", "by"],
        ]
        return ". ".join(" ".join(rng.choice(words[kind]) for kind in (0, 1, 2, 4, 0, 2, 3, 0, 2)) for _ in range(150))

    assert [] == align(build_text(), build_text())


def test_a_passage_has_the_characters_of_both_texts() -> None:
    """Case, punctuation, line breaks and markup inside the passage are unchanged."""
    quote = " ".join(f"word{number}" for number in range(40))
    with_markup, in_capitals = quote.replace(" word7 ", ",<br>\n  WORD7; "), quote.upper().replace(" ", "\t")
    a = f"{prose('a', 200)}  “{with_markup}”  {prose('b', 200)}"
    b = f"{prose('c', 300)} 𝒜 ({in_capitals}) \ud800 {prose('d', 100)}"
    (passage,) = align(a, b)

    assert with_markup == a[slice(*passage.a)]
    assert in_capitals == b[slice(*passage.b)]
    assert 40 == passage.word_count  # the word br is not matched


def test_small_changes_do_not_end_an_edited_passage() -> None:
    """The runs leave out the changes. With the preset `verbatim`, each run is a passage."""
    words = prose("own", 120).split()
    changed = [*words[:30], "another", *words[31:60], *words[62:90], "some", "more", *words[90:]]
    a, b = " ".join(words), " ".join(changed)
    (passage,) = align(a, b)

    assert (0, len(a) - 1) == passage.a
    assert [30, 29, 28, 30] == [len(words_of(a, one)) for one, _ in passage.runs]
    assert [30, 29, 28, 30] == [part.word_count for part in align(a, b, "verbatim")]


def test_shuffled_and_reworded_passages_are_found() -> None:
    """The preset `verbatim` finds little of such passages."""
    rng = random.Random("shuffled")
    words = prose("copied", 150).split()
    pieces = [words[index : index + 3] for index in range(0, len(words), 3)]
    moved = sorted(range(len(pieces)), key=lambda index: index + rng.uniform(0, 5))
    shuffled = " ".join(word for index in moved for word in pieces[index])
    reworded = " ".join("other" if index % 5 == 4 else word for index, word in enumerate(words))
    source = f"{prose('before', 300)} {' '.join(words)} {prose('after', 300)}"
    for copy in (shuffled, reworded):
        text = f"{prose('mine', 200)} {copy} {prose('my own', 200)}"
        (passage,) = align(text, source)

        assert 0.9 < len(text[slice(*passage.a)]) / len(copy) < 1.1
        assert 0.9 < len(source[slice(*passage.b)]) / len(" ".join(words)) < 1.1
        assert 50 > sum(part.word_count for part in align(text, source, "verbatim"))


def test_a_replaced_word_that_the_source_has_elsewhere_is_not_matched() -> None:
    """Two words that were moved together are matched."""
    words = texts.distinct_words(60, seed=1)

    def count_matched(size: int) -> int:
        end = 10 + size
        copy = [*words[:10], *["new", "words"][:size], *words[end:40], *words[10:end], *words[40 + size :]]
        (passage,) = align(" ".join(copy), " ".join(words))
        return passage.word_count

    assert 60 - 2 == count_matched(1)
    assert 60 - 4 + 2 == count_matched(2)


@pytest.mark.parametrize("preset", PRESETS)
def test_passages_may_be_in_another_order(preset: Preset) -> None:
    """Unmatched words between two passages separate them."""
    one, other = prose("one", 60).strip(), prose("other", 80).strip()
    a = f"{prose(1, 100)} {one} {prose(2, 100)} {other} {prose(3, 100)}"
    b = f"{other} {prose(4, 200)} {one}"
    first, second = align(a, b, preset)

    assert (one[:-1], one[:-1]) == (a[slice(*first.a)], b[slice(*first.b)])
    assert (other[:-1], other[:-1]) == (a[slice(*second.a)], b[slice(*second.b)])


@pytest.mark.parametrize("preset", PRESETS)
def test_a_repeated_passage_is_found_at_both_places(preset: Preset) -> None:
    """Either text may repeat it."""
    copied = prose("twice", 50).strip()[:-1]
    a = f"{prose(1, 400)} {copied} {prose(2, 400)}"
    b = f"{prose(3, 100)} {copied} {prose(4, 500)} {copied} {prose(5, 100)}"

    for first, second in ((a, b), (b, a)):
        shared = [(first[slice(*passage.a)], second[slice(*passage.b)]) for passage in align(first, second, preset)]
        assert [(copied, copied)] * 2 == shared


@pytest.mark.parametrize("preset", PRESETS)
def test_boilerplate_gives_few_passages(preset: Preset) -> None:
    """A phrase that occurs 100 times in both texts does not become 10,000 passages."""
    phrase = "All rights reserved by the owner of the very words that you are reading here now, and of all others too. "
    a = "".join(f"{prose(('a', number), 60)} {phrase}" for number in range(100))
    b = "".join(f"{prose(('b', number), 60)} {phrase}" for number in range(100))

    assert 100 <= len(align(a, b, preset)) <= 200


def test_a_sentence_is_found_in_a_document() -> None:
    """The sentence has fewer words than a passage usually needs. One of its words may be changed."""
    sentence = "Colourless green ideas sleep furiously under the old bridge"
    document = f"{prose(1, 500)} {sentence}. {prose(2, 500)}"
    for preset in PRESETS:
        (passage,) = align(sentence, document, preset)
        assert sentence == document[slice(*passage.b)]
    (passage,) = align(sentence.replace("old", "new"), document)

    assert document[slice(*passage.b)].startswith("Colourless green ideas")


def test_the_minimum_length_is_a_setting() -> None:
    """A run that is shorter than the minimum is not found."""
    shared = "these seven words stand in both texts"
    a, b = f"{prose(1, 100)} {shared} {prose(2, 100)}", f"{prose(3, 100)} {shared} {prose(4, 100)}"

    assert [shared] == [a[slice(*passage.a)] for passage in align(a, b, AlignmentSettings(min_run=7, edited=False))]
    assert [] == align(a, b, AlignmentSettings(min_run=8, edited=False))


def test_the_analysis_decides_which_words_are_equal() -> None:
    """With the profile `lowercase`, a ligature differs from its letters."""
    a, b = "The ﬁrst oﬃce of ﬂowers " * 5, "the first office of flowers " * 5

    assert [((0, 119), (0, 139))] == [(passage.a, passage.b) for passage in align(a, b)]
    assert [] == align(a, b, analysis=Analysis(profile="lowercase"))


def test_wrong_settings_are_refused() -> None:
    for name in ("min_run", "max_gap"):
        for value in (-1, 1.5, True, "3"):
            with pytest.raises(ValueError, match=f"{name} must be a whole number of at least [01], not "):
                AlignmentSettings(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="preset must be 'edited' or 'verbatim', not 'loose'"):
        align("a", "b", "loose")  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("apart", [0, 300])
def test_own_words_between_copied_paragraphs_are_not_matched(preset: Preset, apart: int) -> None:
    """In the source, `apart` words are between the paragraphs. The error is at most 2 % plus 2 words."""
    for own in (0, 5, 10, 20, 40, 60, 100, 200):
        for case in range(2):
            rng = random.Random(f"{own} {case}")
            source = texts.text(rng, 1_500).split()
            first, second = rng.randint(60, 150), rng.randint(60, 150)
            begin = rng.randint(50, 300)
            paragraphs = source[begin : begin + first], source[begin + first + apart : begin + first + apart + second]
            copied = locate_words(" ".join([*paragraphs[0], *texts.text(rng, own + 1).split()[:own], *paragraphs[1]]))
            passages = align_words(copied, locate_words(" ".join(source)), preset)

            assert abs(matched_mask(copied, passages).sum() - first - second) <= 0.02 * (first + second) + 2


@pytest.mark.parametrize("own", [5, 8, 20])
@pytest.mark.parametrize("is_in_source", [False, True])
def test_words_such_as_a_footnote_do_not_cut_off_the_end_of_a_passage(own: int, is_in_source: bool) -> None:
    """The end has at least eight words, and at most 20 other words come before it."""
    passage, note, host = prose("source", 108).split(), prose("note", own).split(), prose("host", 1_500)
    with_note = " ".join([*passage[:100], *note, *passage[100:]])
    copied, source = (" ".join(passage), with_note) if is_in_source else (with_note, " ".join(passage))

    assert [108] == [found.word_count for found in align(f"{host}\n{copied}\n{host}", source)]


@pytest.mark.parametrize("words", [40, 80, 150])
def test_replaced_words_are_not_matched(words: int) -> None:
    """Every eighth word is replaced. At most 3 % of the words are matched wrongly."""
    for case in range(10):
        rng = random.Random(f"{words} {case}")
        source = texts.text(rng, 1_000).split()
        others = iter(texts.text(rng, words).split())
        copied = [next(others) if index % 8 == 7 else word for index, word in enumerate(source[200 : 200 + words])]
        same = sum(index % 8 != 7 or word == copied[index] for index, word in enumerate(source[200 : 200 + words]))
        passages = align(" ".join(copied), " ".join(source))

        assert abs(sum(passage.word_count for passage in passages) - same) <= 0.03 * words


def test_words_that_are_equal_by_chance_beside_a_passage_are_not_matched() -> None:
    """The texts have few distinct words in common. On average, at most half a word per passage is matched wrongly."""
    vocabulary = [f"common{rank}" for rank in range(100)]
    weights = [1 / (rank + 5) for rank in range(100)]
    wrong = 0
    for case in range(60):
        rng = random.Random(case)
        before, after, source_before, source_after = (rng.choices(vocabulary, weights, k=60) for _ in range(4))
        words = texts.distinct_words(54, seed=case)
        copied = ["replaced" if index in (10, 28, 46) else word for index, word in enumerate(words)]
        text = " ".join([*before, "so", *copied, "but", *after])
        passages = align(text, " ".join([*source_before, *words, *source_after]))
        wrong += sum(passage.word_count for passage in passages) - 51

    assert 0 <= wrong <= 30


def test_an_inserted_sentence_ends_a_passage() -> None:
    """A reworded stretch of the same length does not end it."""
    source, own = prose("source", 200).split(), prose("own", 30).split()
    inserted = " ".join([*source[20:80], *own, *source[80:160]])
    reworded = " ".join([*source[20:80], *own, *source[110:160]])

    assert [60, 80] == [passage.word_count for passage in align(inserted, " ".join(source))]
    assert [110] == [passage.word_count for passage in align(reworded, " ".join(source))]
