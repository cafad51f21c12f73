import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hive.metastore.messaging.AddPartitionMessage;
import org.apache.hadoop.hive.metastore.messaging.AlterDatabaseMessage;
import org.apache.hadoop.hive.metastore.messaging.AlterPartitionMessage;
import org.apache.hadoop.hive.metastore.messaging.AlterTableMessage;
import org.apache.hadoop.hive.metastore.messaging.CreateFunctionMessage;
import org.apache.hadoop.hive.metastore.messaging.CreateTableMessage;
import org.apache.hadoop.hive.metastore.messaging.DropPartitionMessage;
import org.apache.hadoop.hive.metastore.messaging.InsertMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONAddPartitionMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONAlterDatabaseMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONAlterPartitionMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONAlterTableMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONCreateDatabaseMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONCreateFunctionMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONCreateTableMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONDropPartitionMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONInsertMessage;
import org.apache.hadoop.hive.metastore.messaging.json.JSONMessageDeserializer;

/** Reads lines of "TYPE message", and writes each message as Hive itself makes it of the objects that it found inside. */
public class EventMessages {
    private static final JSONMessageDeserializer READER = new JSONMessageDeserializer();

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int blank = line.indexOf(' ');
            System.out.println(made(line.substring(0, blank), line.substring(blank + 1)));
        }
    }

    private static Object made(String type, String text) throws Exception {
        switch (type) {
            case "CREATE_DATABASE": {
                JSONCreateDatabaseMessage read = (JSONCreateDatabaseMessage) READER.getCreateDatabaseMessage(text);
                return new JSONCreateDatabaseMessage("", "", read.getDatabaseObject(), read.getTimestamp());
            }
            case "ALTER_DATABASE": {
                AlterDatabaseMessage read = READER.getAlterDatabaseMessage(text);
                return new JSONAlterDatabaseMessage(
                    "", "", read.getDbObjBefore(), read.getDbObjAfter(), read.getTimestamp());
            }
            case "CREATE_TABLE": {
                CreateTableMessage read = READER.getCreateTableMessage(text);
                return new JSONCreateTableMessage(
                    "", "", read.getTableObj(), read.getFiles().iterator(), read.getTimestamp());
            }
            case "ALTER_TABLE": {
                AlterTableMessage read = READER.getAlterTableMessage(text);
                return new JSONAlterTableMessage(
                    "", "", read.getTableObjBefore(), read.getTableObjAfter(), read.getIsTruncateOp(),
                    read.getTimestamp());
            }
            case "ADD_PARTITION": {
                AddPartitionMessage read = READER.getAddPartitionMessage(text);
                return new JSONAddPartitionMessage(
                    "", "", read.getTableObj(), read.getPartitionObjs().iterator(),
                    read.getPartitionFilesIter().iterator(), read.getTimestamp());
            }
            case "ALTER_PARTITION": {
                AlterPartitionMessage read = READER.getAlterPartitionMessage(text);
                return new JSONAlterPartitionMessage(
                    "", "", read.getTableObj(), read.getPtnObjBefore(), read.getPtnObjAfter(), read.getIsTruncateOp(),
                    read.getTimestamp());
            }
            case "DROP_PARTITION": {
                DropPartitionMessage read = READER.getDropPartitionMessage(text);
                return new JSONDropPartitionMessage(
                    "", "", read.getTableObj(), read.getPartitions(), read.getTimestamp());
            }
            case "INSERT": {
                InsertMessage read = READER.getInsertMessage(text);
                return new JSONInsertMessage(
                    "", "", read.getTableObj(), read.getPtnObj(), read.isReplace(), read.getFiles().iterator(),
                    read.getTimestamp());
            }
            case "CREATE_FUNCTION": {
                CreateFunctionMessage read = READER.getCreateFunctionMessage(text);
                return new JSONCreateFunctionMessage("", "", read.getFunctionObj(), read.getTimestamp());
            }
            case "DROP_FUNCTION":
                return READER.getDropFunctionMessage(text);
            case "DROP_TABLE":
                return READER.getDropTableMessage(text);
            case "DROP_DATABASE":
                return READER.getDropDatabaseMessage(text);
            case "OPEN_TXN":
                return READER.getOpenTxnMessage(text);
            case "COMMIT_TXN":
                return READER.getCommitTxnMessage(text);
            case "ABORT_TXN":
                return READER.getAbortTxnMessage(text);
            case "ALLOC_WRITE_ID_EVENT":
                return READER.getAllocWriteIdMessage(text);
            case "ADD_PRIMARYKEY":
                return READER.getAddPrimaryKeyMessage(text);
            case "DROP_CONSTRAINT":
                return READER.getDropConstraintMessage(text);
            default:
                throw new IllegalArgumentException(type);
        }
    }
}
