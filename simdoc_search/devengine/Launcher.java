import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;

import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.opensearch.common.settings.Settings;

/**
 * Runs one OpenSearch node with the settings in its opensearch.yml. If the node does not start, it prints the cause.
 *
 * <p>The main method of OpenSearchRunner cannot be used, because it overrides the roles of the node, so that ingest
 * pipelines do not run. From version 3.5 on, it also makes each process a separate cluster. OpenSearchRunner does not
 * override the settings of a builder, so this class passes itself as the builder.
 *
 * <p>Janino compiles this class at each start. Janino supports neither lambdas nor static methods of interfaces.
 */
public final class Launcher extends OpenSearchRunner implements OpenSearchRunner.Builder {
    /** The original stderr. OpenSearch later replaces System.err with a logger. */
    private static final PrintStream STDERR = System.err;

    public static void main(String[] arguments) {
        final Launcher launcher = new Launcher();
        Runtime.getRuntime().addShutdownHook(new Thread() {
            @Override
            public void run() {
                try {
                    launcher.close();
                } catch (IOException error) {
                    error.printStackTrace();
                }
            }
        });
        try {
            launcher.onBuild(launcher);
            launcher.build(arguments);
            new CountDownLatch(1).await(); // until a signal ends the process
        } catch (Throwable error) {
            printCauses(error);
            Runtime.getRuntime().halt(1);
        }
    }

    /** Prints the stack trace, then one line per cause. The root cause is last, so the end of the log shows it. */
    private static void printCauses(Throwable error) {
        error.printStackTrace(STDERR);
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            STDERR.println(cause);
        }
    }

    /** Loads opensearch.yml into the settings of a node. OpenSearchRunner calls this for its builder. */
    @Override
    public void build(int number, Settings.Builder settings) {
        try {
            settings.loadFromPath(Paths.get(confPath, "opensearch.yml"));
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
