import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** Hive 2.3's metastore, with the transaction and lock tables that DataNucleus does not create. */
public class Hive2 {
    public static void main(String[] args) throws Throwable {
        TxnDbUtil.prepDb(new HiveConf());
        HiveMetaStore.main(args);
    }
}
