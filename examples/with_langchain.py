"""A LangChain retriever without near-duplicates. It wraps your retriever, and returns the first of each group."""

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from simdoc_search import fold_near_duplicates


class FoldingRetriever(BaseRetriever):
    """Let `retriever` return three to five times as many chunks as you need, because some are folded."""

    retriever: BaseRetriever
    overlap: float = 0.8
    size: int = 4

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.retriever.invoke(query, {"callbacks": run_manager.get_child()})
        shown = fold_near_duplicates(found, self.overlap, key=lambda chunk: chunk.page_content)
        return [hit for hit, _ in shown[: self.size]]
