"""A month of an application in minutes: what its index goes through, and what every command answers meanwhile.

    texts.py        what its users write: articles, copies, edited ones, parts, quotations
    application.py  its index template, alias or data stream, and all the ways in which it writes
    truth.py        what is to be found, by comparing each text with each other one
    commands.py     every command, whose answer must be that
    month.py        one step after the other

`scripts/living.py` plays it at any size, on engines of its own or on one that runs.
"""

import pytest

pytest.register_assert_rewrite(f"{__name__}.commands", f"{__name__}.month")
