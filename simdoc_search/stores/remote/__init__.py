"""Stores records in an index of OpenSearch or Elasticsearch."""

from __future__ import annotations

__all__: list[str] = []
