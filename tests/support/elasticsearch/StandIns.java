package standins;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.minhash.MinHashFilter;
import org.apache.lucene.util.Version;
import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

/** What the tests need of two modules that are in no package: the answer to GET /, and Lucene's min_hash filter. */
public final class StandIns extends Plugin implements Handlers, AnalysisPlugin {
    private ClusterService cluster;

    @Override
    public Collection<?> createComponents(PluginServices services) {
        cluster = services.clusterService();
        return List.of();
    }

    @Override
    public List<RestHandler> handlers() {
        return List.of(new Root());
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of("min_hash", (index, environment, name, settings) -> new MinHash(name, settings));
    }

    private final class Root implements RestHandler {
        @Override
        public List<Route> routes() {
            return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
        }

        @Override
        public void handleRequest(RestRequest request, RestChannel channel, NodeClient client) throws IOException {
            Build build = Build.current();
            XContentBuilder answer = channel.newBuilder();
            answer.startObject();
            answer.field("name", cluster.getNodeName());
            answer.field("cluster_name", cluster.getClusterName().value());
            answer.field("cluster_uuid", cluster.state().metadata().clusterUUID());
            answer.startObject("version");
            answer.field("number", build.qualifiedVersion());
            answer.field("build_flavor", build.flavor());
            answer.field("build_type", build.type().displayName());
            answer.field("build_hash", build.hash());
            answer.field("build_date", build.date());
            answer.field("build_snapshot", build.isSnapshot());
            answer.field("lucene_version", Version.LATEST.toString());
            answer.field("minimum_wire_compatibility_version", build.minWireCompatVersion());
            answer.field("minimum_index_compatibility_version", build.minIndexCompatVersion());
            answer.endObject();
            answer.field("tagline", "You Know, for Search");
            answer.endObject();
            channel.sendResponse(new RestResponse(RestStatus.OK, answer));
        }
    }

    /** With the names and defaults of Elasticsearch's own. */
    private record MinHash(String name, Settings settings) implements TokenFilterFactory {
        @Override
        public TokenStream create(TokenStream tokens) {
            int buckets = settings.getAsInt("bucket_count", MinHashFilter.DEFAULT_BUCKET_COUNT);
            return new MinHashFilter(
                tokens,
                settings.getAsInt("hash_count", MinHashFilter.DEFAULT_HASH_COUNT),
                buckets,
                settings.getAsInt("hash_set_size", MinHashFilter.DEFAULT_HASH_SET_SIZE),
                settings.getAsBoolean("with_rotation", buckets > 1)
            );
        }
    }
}
