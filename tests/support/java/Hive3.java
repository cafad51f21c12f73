import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** Hive 3's standalone metastore, with the transaction and lock tables that DataNucleus does not create. */
public class Hive3 {
    public static void main(String[] args) throws Throwable {
        TxnDbUtil.prepDb(MetastoreConf.newMetastoreConf());
        HiveMetaStore.main(args);
    }
}
