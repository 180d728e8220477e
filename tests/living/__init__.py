"""Simulates a month of an application, and checks the answers of all commands meanwhile.

    texts.py        writes texts: articles, copies, edited copies, parts and quotations
    application.py  writes documents to an alias or data stream in all ways
    truth.py        finds the right answers by comparing all texts
    commands.py     compares the answers of all commands with the right ones
    month.py        the steps of the month

`scripts/living.py` plays it at any size and with any engine.
"""

import pytest

pytest.register_assert_rewrite(f"{__name__}.commands", f"{__name__}.month")
