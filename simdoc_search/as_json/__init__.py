"""Converts results to JSON-serialisable values, for `--json` and `serve`."""

__all__: list[str] = []
