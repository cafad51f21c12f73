import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.hadoop.conf.Configuration;

/**
 * The results of get_config_value of a metastore with default settings: one line for each of its keys, the key,
 * a tab and the value. Given "metastore" the keys of MetastoreConf are printed under both of their names, given
 * "hive" those of HiveConf, which is all that Hive 2.3 has.
 */
public class HiveDefaults {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("metastore")) {
            metastore();
        } else {
            hive();
        }
    }

    private static void metastore() throws Exception {
        Class conf = Class.forName("org.apache.hadoop.hive.metastore.conf.MetastoreConf");
        Class vars = Class.forName("org.apache.hadoop.hive.metastore.conf.MetastoreConf$ConfVars");
        Method get = conf.getMethod("get", new Class[] {Configuration.class, String.class});
        Method varname = vars.getMethod("getVarname", new Class[0]);
        Method hiveName = vars.getMethod("getHiveName", new Class[0]);
        Object[] all = vars.getEnumConstants();
        Configuration empty = new Configuration(false);
        for (int i = 0; i < all.length; i++) {
            String[] names = {(String) varname.invoke(all[i], new Object[0]), (String) hiveName.invoke(all[i], new Object[0])};
            for (int j = 0; j < names.length; j++) {
                print(names[j], (String) get.invoke(null, new Object[] {empty, names[j]}));
            }
        }
    }

    private static void hive() throws Exception {
        Class conf = Class.forName("org.apache.hadoop.hive.conf.HiveConf");
        Class vars = Class.forName("org.apache.hadoop.hive.conf.HiveConf$ConfVars");
        Field varname = vars.getField("varname");
        Configuration defaults = (Configuration) conf.getConstructor(new Class[0]).newInstance(new Object[0]);
        Object[] all = vars.getEnumConstants();
        for (int i = 0; i < all.length; i++) {
            String name = (String) varname.get(all[i]);
            print(name, defaults.getRaw(name));
        }
    }

    private static void print(String name, String value) {
        if (value != null) {
            System.out.println(name + "\t" + value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"));
        }
    }
}
