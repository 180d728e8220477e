import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;

/**
 * Runs one Elasticsearch node in this process for as long as somebody holds the other end of standard input.
 *
 * <p>Arguments are the node's settings, key=value; path.home is one of them. Elastic's own entry point is left out, and
 * with it the checks and the sandbox of a production node.
 */
public final class Launcher {
    public static void main(String[] arguments) {
        // An Error in a worker thread would else leave the request that it served without an answer for ever.
        Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> {
            problem.printStackTrace();
            if (problem instanceof Error) {
                Runtime.getRuntime().halt(127);
            }
        });
        try {
            start(settings(arguments));
            while (System.in.read() >= 0) {
                // whatever is said, only the end counts
            }
            Runtime.getRuntime().halt(0); // the data are temporary: nothing is to be saved
        } catch (Throwable problem) {
            problem.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static Settings settings(String[] arguments) {
        Settings.Builder built = Settings.builder();
        for (String each : arguments) {
            int at = each.indexOf('=');
            built.put(each.substring(0, at), each.substring(at + 1));
        }
        return built.build();
    }

    private static void start(Settings settings) throws Exception {
        LogConfigurator.configureWithoutConfig(Settings.builder().put("logger.level", "INFO").build());
        Path home = Path.of(settings.get("path.home"));
        node(new Environment(settings, home.resolve("config")), home).start();
    }

    /** From 8.18 on, who makes a node also loads its modules and plugins. */
    private static Node node(Environment environment, Path home) throws Exception {
        Class<?> loaders;
        try {
            loaders = Class.forName("org.elasticsearch.plugins.PluginsLoader", true, Node.class.getClassLoader());
        } catch (ClassNotFoundException before) {
            return Node.class.getConstructor(Environment.class).newInstance(environment);
        }
        Object modules = bundles(loaders, "loadModulesBundles", home.resolve("modules"));
        Object plugins = bundles(loaders, "loadPluginsBundles", home.resolve("plugins"));
        Object loader = loaders.getMethod("createPluginsLoader", Set.class, Set.class, Map.class)
            .invoke(null, modules, plugins, Map.of());
        return Node.class.getConstructor(Environment.class, loaders).newInstance(environment, loader);
    }

    /** From 9.5 on, there is one more argument. */
    private static Object bundles(Class<?> loaders, String name, Path folder) throws Exception {
        try {
            return loaders.getMethod(name, Path.class).invoke(null, folder);
        } catch (NoSuchMethodException since) {
            return loaders.getMethod(name, Path.class, boolean.class).invoke(null, folder, false);
        }
    }
}
