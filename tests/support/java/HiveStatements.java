import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.Driver;
import org.apache.hadoop.hive.ql.processors.CommandProcessorResponse;
import org.apache.hadoop.hive.ql.session.SessionState;

/**
 * Statements that define objects, executed by the driver of the command line of Hive 3.1.3 at any metastore.
 *
 * The first line of the input is an object with Hive's settings in JSON, and each other line is a statement, as a text in
 * JSON. Each line of the output is the result of one: the lines that it printed, or an object with the error. It never
 * starts a job: a statement that reads or writes rows fails. The argument is the file of this program.
 */
public class HiveStatements {
    /** Hive 3 was written for Java 8, whose loader of classes is a URLClassLoader: the program starts again in one. */
    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            execute();
            return;
        }
        String[] jars = System.getProperty("java.class.path").split(File.pathSeparator);
        URL[] addresses = new URL[jars.length];
        for (int i = 0; i < jars.length; i++) {
            addresses[i] = new File(jars[i]).toURI().toURL();
        }
        ClassLoader loader = new URLClassLoader(addresses, ClassLoader.getSystemClassLoader().getParent());
        Thread.currentThread().setContextClassLoader(loader);
        Class compiler = loader.loadClass("org.codehaus.janino.SimpleCompiler");
        Method main = compiler.getMethod("main", new Class[] {String[].class});
        main.invoke(null, new Object[] {new String[] {args[0], "HiveStatements"}});
    }

    private static void execute() throws Exception {
        PrintStream results = System.out;
        System.setOut(System.err);
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        HiveConf settings = new HiveConf(SessionState.class);
        Map found = (Map) json.readValue(lines.readLine(), Map.class);
        for (Object key : found.keySet()) {
            settings.set((String) key, (String) found.get(key));
        }
        SessionState.start(settings);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            results.println(json.writeValueAsString(run(settings, (String) json.readValue(line, String.class))));
        }
        results.flush();
        Runtime.getRuntime().halt(0);
    }

    private static Object run(HiveConf settings, String statement) {
        Driver driver = new Driver(settings);
        try {
            CommandProcessorResponse response = driver.run(statement);
            if (response.getResponseCode() != 0) {
                return Collections.singletonMap("error", response.getErrorMessage());
            }
            List rows = new ArrayList();
            driver.setMaxRows(10000);
            driver.getResults(rows);
            return rows;
        } catch (Throwable error) {
            return Collections.singletonMap("error", error.toString());
        } finally {
            driver.close();
        }
    }
}
