"""A LlamaIndex postprocessor that shows only the newest version of near-duplicate nodes."""

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from simdoc_search import fold_older_versions
from simdoc_search.versions import DateSources


class NewestVersions(BaseNodePostprocessor):
    """Use it as `index.as_query_engine(similarity_top_k=20, node_postprocessors=[NewestVersions()])`."""

    overlap: float = 0.8

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002 - LlamaIndex defines the parameters
    ) -> list[NodeWithScore]:
        shown = fold_older_versions(nodes, _evidence, self.overlap, key=lambda found: found.node.get_content())
        for version in shown:  # `undecided` means that the evidence conflicts or is missing, so each version is kept
            version.hit.node.metadata["version"] = f"{version.status}: {version.reason}" if version.reason else "only"
        return [version.hit for version in shown]


def _evidence(found: NodeWithScore) -> DateSources:
    """Return the name of the file and the dates in the metadata, which readers of LlamaIndex set."""
    return DateSources(found.node.metadata.get("file_name", found.node.node_id), found.node.metadata)
