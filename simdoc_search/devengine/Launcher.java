import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;

import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.opensearch.common.settings.Settings;

/**
 * Runs one OpenSearch node as its opensearch.yml says, and says why it ends if it does not start.
 *
 * <p>The runner's own entry point does neither: it gives a node its own roles and no other, so that no ingest pipeline
 * runs there, and from 3.5 on it makes each process a cluster of its own. What is in its builder it leaves as it is.
 *
 * <p>Janino compiles this in the process that runs it: no lambdas, no static methods of interfaces.
 */
public final class Launcher extends OpenSearchRunner implements OpenSearchRunner.Builder {
    /** OpenSearch makes messages of its own of what is written to System.err later. */
    private static final PrintStream ERRORS = System.err;

    public static void main(String[] arguments) {
        final Launcher node = new Launcher();
        Runtime.getRuntime().addShutdownHook(new Thread() {
            @Override
            public void run() {
                try {
                    node.close();
                } catch (IOException problem) {
                    problem.printStackTrace();
                }
            }
        });
        try {
            node.onBuild(node);
            node.build(arguments);
            new CountDownLatch(1).await(); // until it is told to end
        } catch (Throwable problem) {
            tell(problem);
            Runtime.getRuntime().halt(1);
        }
    }

    /** Where it happened, and at the end, where it is seen, what: the cause last. */
    private static void tell(Throwable problem) {
        problem.printStackTrace(ERRORS);
        for (Throwable each = problem; each != null; each = each.getCause()) {
            ERRORS.println(each);
        }
    }

    /** What the configuration says is what the runner finds in its builder. */
    @Override
    public void build(int number, Settings.Builder settings) {
        try {
            settings.loadFromPath(Paths.get(confPath, "opensearch.yml"));
        } catch (IOException problem) {
            throw new IllegalStateException(problem);
        }
    }
}
