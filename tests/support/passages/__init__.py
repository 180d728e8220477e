"""Texts with planted passages, and the measure of how well these are found."""
