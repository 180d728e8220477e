"""French texts with narrow spaces and apostrophes, and the same texts as a web page writes them."""

from __future__ import annotations

import random

from tests.support.texts import distinct_words

APOSTROPHE, NARROW_SPACE = "\u2019", "\u202f"


def french_text(words: int, seed: int) -> str:
    """Return a text with an apostrophe in each sixth word, and narrow spaces beside its symbols and in its numbers."""
    rng, text = random.Random(seed), distinct_words(words, seed)
    for number in range(0, words, 6):
        text[number] = f"l{APOSTROPHE}{text[number]}"
    for number in range(4, words, 15):
        text[number] += f"{NARROW_SPACE}{rng.choice(';:!?')}"
    for number in range(8, words, 30):
        text[number] = f"«{NARROW_SPACE}{text[number]}{NARROW_SPACE}»"
    for number in range(19, words, 30):
        text[number] = f"12{NARROW_SPACE}{rng.randint(100, 999)}"
    return " ".join(text)


def as_on_a_web_page(text: str) -> str:
    """Return a text with the apostrophe `'` and ordinary spaces."""
    return text.replace(APOSTROPHE, "'").replace(NARROW_SPACE, " ")
