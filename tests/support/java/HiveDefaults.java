import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * The results of get_config_value of a metastore with default settings: one line for each of its keys, the key,
 * a tab and the value. Given "metastore" the keys of MetastoreConf are printed under both of their names, given
 * "hive" those of HiveConf, which is all that Hive 2.3 has. A key that Hive and Hadoop have is printed twice, first
 * with Hive's value.
 */
public class HiveDefaults {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("metastore")) {
            metastore();
            hadoop((Configuration) Class.forName("org.apache.hadoop.mapred.JobConf").newInstance());
        } else {
            hadoop(hive());
        }
    }

    /** Hadoop's settings of jobs, which a metastore returns too, under their present and their earlier names. */
    private static void hadoop(Configuration jobs) throws Exception {
        for (Iterator each = jobs.iterator(); each.hasNext();) {
            job(jobs, (String) ((Map.Entry) each.next()).getKey());
        }
        PrintStream out = System.out;
        ByteArrayOutputStream renamed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(renamed));
        Configuration.dumpDeprecatedKeys();
        System.setOut(out);
        String[] lines = renamed.toString("UTF-8").split("\n");
        for (int i = 0; i < lines.length; i++) {
            job(jobs, lines[i].split("\t")[0].trim());
        }
    }

    /** Values that name a user or a directory depend on the machine. */
    private static void job(Configuration jobs, String name) {
        String raw = jobs.getRaw(name);
        if (name.startsWith("mapred") && raw != null && raw.indexOf("${") < 0) {
            print(name, jobs.get(name));
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

    private static Configuration hive() throws Exception {
        Class conf = Class.forName("org.apache.hadoop.hive.conf.HiveConf");
        Class vars = Class.forName("org.apache.hadoop.hive.conf.HiveConf$ConfVars");
        Field varname = vars.getField("varname");
        Configuration defaults = (Configuration) conf.getConstructor(new Class[0]).newInstance(new Object[0]);
        Object[] all = vars.getEnumConstants();
        for (int i = 0; i < all.length; i++) {
            String name = (String) varname.get(all[i]);
            print(name, defaults.getRaw(name));
        }
        return defaults;
    }

    private static void print(String name, String value) {
        if (value != null) {
            System.out.println(name + "\t" + value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"));
        }
    }
}
