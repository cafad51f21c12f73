import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.internal.TableEnvironmentImpl;

/**
 * Statements executed by Flink, with the tables of a metastore in a catalog of its own.
 *
 * Each line of the input is a statement, as a text in JSON. Each line of the output is the result of one: its rows as
 * texts, or an object with the error.
 */
public class FlinkStatements {
    public static void main(String[] args) throws Exception {
        PrintStream results = System.out;
        System.setOut(System.err);
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        TableEnvironment tables = TableEnvironmentImpl.create(EnvironmentSettings.newInstance().inBatchMode().build());
        tables.getConfig().set("parallelism.default", "1");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            results.println(json.writeValueAsString(run(tables, (String) json.readValue(line, String.class))));
        }
        results.flush();
        Runtime.getRuntime().halt(0);
    }

    private static Object run(TableEnvironment tables, String statement) {
        try {
            TableResult result = tables.executeSql(statement);
            List rows = new ArrayList();
            Iterator found = result.collect();
            while (found.hasNext()) {
                rows.add(found.next().toString());
            }
            return rows;
        } catch (Throwable error) {
            StringBuilder text = new StringBuilder();
            for (Throwable each = error; each != null; each = each.getCause()) {
                text.append(each).append('\n');
            }
            return Collections.singletonMap("error", text.toString());
        }
    }
}
