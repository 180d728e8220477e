"""Indexes documents into a store."""

__all__: list[str] = []
