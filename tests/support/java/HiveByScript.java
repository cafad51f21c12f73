import java.nio.file.Files;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import org.apache.hadoop.hive.metastore.HiveMetaStore;

/**
 * A standalone metastore on a database made by Hive's own schema script, as its schematool would make it.
 *
 * Arguments: the script, the JDBC address, then those of the metastore itself.
 */
public class HiveByScript {
    public static void main(String[] args) throws Throwable {
        String script = new String(Files.readAllBytes(Paths.get(args[0])), "UTF-8");
        // Derby cannot compare a CLOB, so on the script's own column the conditional alter of a table never succeeds.
        script = script.replaceAll("(\"TABLE_PARAMS\" .*\"PARAM_VALUE\") CLOB", "$1 VARCHAR(32672)");
        script = script.replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("(?m)^\\s*--.*$", "");
        Connection connection = DriverManager.getConnection(args[1]);
        Statement statement = connection.createStatement();
        String[] statements = script.split(";\\s*(\\n|$)");
        for (int i = 0; i < statements.length; i++) {
            if (!statements[i].trim().isEmpty()) {
                statement.execute(statements[i]);
            }
        }
        connection.close();
        HiveMetaStore.main((String[]) Arrays.copyOfRange(args, 2, args.length));
    }
}
