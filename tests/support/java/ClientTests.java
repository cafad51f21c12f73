import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.client.MetaStoreClientTest;
import org.apache.hadoop.hive.metastore.minihms.ClusterMetaStoreForTests;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Runner;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs test classes of Hive's client API on servers that are there already.
 *
 * Reads lines of three fields: the class, a configuration file with the server's URI and warehouse, and the server's
 * home directory, where tests look for its trash. Prints a line for each test: its name, pass, fail or ignored, and the
 * message. A line with "end" alone ends a class. Fields are separated by tabs. Whatever the tests print goes to the
 * error output.
 */
public class ClientTests {
    /** Hive's tests run against a server of their own unless this names a configuration. */
    private static final String CONFIGURATION = "test.hms.client.configs";

    public static void main(String[] args) throws Exception {
        PrintStream results = System.out;
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] request = line.split("\t");
            System.setProperty(CONFIGURATION, request[1]);
            System.setProperty("user.home", request[2]);
            Runner runner = Request.aClass(Class.forName(request[0])).filterWith(new OfTheServer()).getRunner();
            forgetOtherServers();
            forgetCapabilities();
            JUnitCore core = new JUnitCore();
            core.addListener(new Printer(results));
            core.run(runner);
            results.println("end");
            results.flush();
        }
    }

    /** Making a runner lists three servers, of which Hive's tests would start the other two before the first test. */
    private static void forgetOtherServers() throws Exception {
        Field servers = MetaStoreClientTest.class.getDeclaredField("metaStoreServices");
        servers.setAccessible(true);
        // A set in Hive 3.1, a list in Hive 4.
        for (Iterator each = ((Collection) servers.get(null)).iterator(); each.hasNext();) {
            if (!(each.next() instanceof ClusterMetaStoreForTests)) {
                each.remove();
            }
        }
    }

    /** A class of Hive 4's tests declares capabilities for all clients of the JVM. */
    private static void forgetCapabilities() throws Exception {
        Method[] methods = HiveMetaStoreClient.class.getMethods();
        for (int i = 0; i < methods.length; i++) {
            if (methods[i].getName().equals("setProcessorCapabilities")) {
                methods[i].invoke(null, new Object[] {null});
            }
        }
    }

    /** Each test is there three times, under names that end with the kind of server: testDrop[Cluster]. */
    private static class OfTheServer extends Filter {
        public boolean shouldRun(Description test) {
            if (test.isTest()) {
                return test.getMethodName().endsWith("[Cluster]");
            }
            for (Iterator each = test.getChildren().iterator(); each.hasNext();) {
                if (shouldRun((Description) each.next())) {
                    return true;
                }
            }
            return false;
        }

        public String describe() {
            return "tests on the server that the configuration names";
        }
    }

    private static class Printer extends RunListener {
        private final PrintStream results;
        private final Set failed = new HashSet();

        Printer(PrintStream results) {
            this.results = results;
        }

        public void testFailure(Failure failure) {
            failed.add(failure.getDescription().getDisplayName());
            Throwable cause = failure.getException();
            StringBuilder text = new StringBuilder(String.valueOf(cause));
            StackTraceElement[] stack = cause.getStackTrace();
            for (int i = 0; i < stack.length; i++) {
                if (stack[i].getClassName().startsWith("org.apache.hadoop.hive.metastore.client.")) {
                    text.append(" at ").append(stack[i].getFileName()).append(":").append(stack[i].getLineNumber());
                    break;
                }
            }
            print(failure.getDescription(), "fail", text.toString());
        }

        public void testAssumptionFailure(Failure failure) {
            failed.add(failure.getDescription().getDisplayName());
            print(failure.getDescription(), "ignored", String.valueOf(failure.getMessage()));
        }

        public void testIgnored(Description test) {
            print(test, "ignored", "");
        }

        public void testFinished(Description test) {
            if (!failed.contains(test.getDisplayName())) {
                print(test, "pass", "");
            }
        }

        private void print(Description test, String outcome, String message) {
            String method = test.getMethodName();
            String name = method == null ? "(class)" : method.split("\\[")[0];
            results.println(name + "\t" + outcome + "\t" + message.replaceAll("\\s+", " "));
        }
    }
}
