"""What a request may cost, and all of them together. docs/serve.md and SECURITY.md list these figures."""

from __future__ import annotations

from simdoc_search.workers import ItemLimits

CONNECTIONS, REFUSED = 100, 400
"""Connections that are answered, and connections that get a 503. Further ones are closed at once."""

HEAD_BYTES = 16_000
"""Of the address and the headers of a request."""

FIRST_SECONDS = 10.0
"""For the head of a request, and for the beginning of its body."""

TEXT_BYTES = 20_000_000
"""Of an upload, and of the text in it."""

BODY_BYTES = TEXT_BYTES + 100_000
"""Of a whole body: what stands around a file counts too."""

BODY_SECONDS, BODY_RATE = 60.0, 20_000
"""For a whole body, and bytes per second that must come after the first seconds."""

PIECES, PIECE_BYTES = 1_000, 100
"""Pieces of a body that may be of any size; with further ones each must have so many bytes on average."""

BODIES_BYTES = 200_000_000
"""Of all bodies that are read or answered at a time."""

VALUES, VALUE_LETTERS = 20_000, 10_000
"""How many values a request may give, and characters of one that is not a text. A page of duplicates sends 10,000."""

PART_HEAD_BYTES = 8_000
"""Of the headers of a part of a form."""

FILTERS = 100
"""Values of `filter` and `exclude`."""

HITS, FURTHEST, FURTHEST_VERSION = 200, 10_000, 100
"""Hits of an answer, and hits that may be left out before them: all versions are put in order, each with each."""

TEXT_LETTERS = 2_000_000
"""Normalised characters of a text that is looked through passage by passage: some 1,000 pages."""

COMPARED_LETTERS = 4_000_000
"""Normalised characters of two texts that are compared."""

FILE = ItemLimits(seconds=30.0, memory=1_500_000_000)
"""What reading an uploaded document may cost, in a process of its own."""

COMPARING, OTHERS = 2, 4
"""Requests at work at a time: those that compare texts, and the others."""

ANSWER_SECONDS = 90.0
"""From when a request is read until its answer is made, the wait for others included."""

ANSWERS_BYTES = 200_000_000
"""Of all answers that clients have not taken yet."""

READING_SECONDS = 30.0
"""In which a client must take the next part of its answer."""
