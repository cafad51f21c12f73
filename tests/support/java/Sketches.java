import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import org.apache.hadoop.hive.common.ndv.NumDistinctValueEstimator;
import org.apache.hadoop.hive.common.ndv.hll.HyperLogLog;
import org.apache.hadoop.hive.common.type.HiveDecimal;

/**
 * Bit vectors of values from the standard input, or from a file, by Hive's own class: a line "kind TAB value" adds a value, a line
 * "end" prints the sketch in hexadecimal, and "merge N" prints the last N sketches merged.
 */
public class Sketches {
    private static final NumDistinctValueEstimator[] DONE = new NumDistinctValueEstimator[1000];

    public static void main(String[] args) throws Exception {
        InputStream input = args.length == 0 ? System.in : new FileInputStream(args[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(input, "UTF-8"));
        NumDistinctValueEstimator current = empty();
        int done = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("end")) {
                print(current);
                DONE[done] = current;
                done++;
                current = empty();
            } else if (line.startsWith("merge ")) {
                NumDistinctValueEstimator all = empty();
                for (int i = done - Integer.parseInt(line.substring(6)); i < done; i++) {
                    all.mergeEstimators(DONE[i]);
                }
                print(all);
            } else {
                int tab = line.indexOf('\t');
                add(current, line.substring(0, tab), line.substring(tab + 1));
            }
        }
    }

    private static NumDistinctValueEstimator empty() {
        return HyperLogLog.builder().setSizeOptimized().build();
    }

    private static void add(NumDistinctValueEstimator sketch, String kind, String value) {
        if (kind.equals("long")) {
            sketch.addToEstimator(Long.parseLong(value));
        } else if (kind.equals("double")) {
            sketch.addToEstimator(Double.parseDouble(value));
        } else if (kind.equals("decimal")) {
            sketch.addToEstimator(HiveDecimal.create(value));
        } else {
            sketch.addToEstimator(value);
        }
    }

    private static void print(NumDistinctValueEstimator sketch) {
        StringBuilder hex = new StringBuilder();
        byte[] bytes = sketch.serialize();
        for (int i = 0; i < bytes.length; i++) {
            hex.append(String.format("%02x", new Object[] {Byte.valueOf(bytes[i])}));
        }
        System.out.println(hex.toString());
    }
}
