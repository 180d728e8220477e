"""A Haystack component that folds near-duplicate documents. Connect it behind a retriever, a joiner or a ranker."""

from haystack import Document, component

from simdoc_search import fold_near_duplicates


@component
class NearDuplicateFolder:
    """Keeps the first document of each group of near-duplicates, and notes in its metadata which ones it replaces."""

    def __init__(self, overlap: float = 0.8, size: int = 10) -> None:
        self.overlap = overlap
        self.size = size

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Fold a list of documents."""
        shown = fold_near_duplicates(documents, self.overlap, key=lambda document: document.content or "")
        for hit, folded in shown[: self.size]:
            hit.meta["folded_ids"] = [other.id for other, _ in folded]
        return {"documents": [hit for hit, _ in shown[: self.size]]}
