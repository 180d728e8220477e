"""Passages of which it is known where they lie, and how well they are found.

planting.py   copies passages of one text into another, changed or not
rewording.py  changes a passage as people and programs do
plagdet.py    the official measure of what was found
corpora.py    reads what was planted, and corpora of the PAN form
"""
