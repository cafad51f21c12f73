import org.apache.hadoop.hive.common.ndv.NumDistinctValueEstimator;
import org.apache.hadoop.hive.common.ndv.fm.FMSketch;
import org.apache.hadoop.hive.common.ndv.hll.HyperLogLog;

/** Bit vectors as Hive's own classes make, merge and estimate them: one line each, bytes in hexadecimal. */
public class BitVectors {
    private static final int[][] RANGES = {
        {0, 1}, {0, 50}, {25, 75}, {0, 153}, {0, 154}, {0, 160}, {0, 1000}, {500, 1500}, {0, 2500}, {2000, 6000},
        {0, 100000}
    };

    public static void main(String[] args) {
        String[] kinds = {"hll", "fm", "hll14"};
        for (int k = 0; k < kinds.length; k++) {
            for (int i = 0; i < RANGES.length; i++) {
                NumDistinctValueEstimator one = filled(kinds[k], RANGES[i]);
                print(kinds[k] + " " + i + " -", one);
            }
        }
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < RANGES.length; i++) {
                for (int j = 0; j < RANGES.length; j++) {
                    NumDistinctValueEstimator both = empty(kinds[k]);
                    both.mergeEstimators(filled(kinds[k], RANGES[i]));
                    both.mergeEstimators(filled(kinds[k], RANGES[j]));
                    print(kinds[k] + " " + i + " " + j, both);
                }
            }
        }
        for (int i = 0; i < RANGES.length; i++) {
            NumDistinctValueEstimator squashed = empty("hll");
            squashed.mergeEstimators(filled("hll14", RANGES[i]));
            print("hll14 " + i + " " + i, squashed);
        }
    }

    private static NumDistinctValueEstimator empty(String kind) {
        if (kind.equals("fm")) {
            return new FMSketch(16);
        }
        if (kind.equals("hll")) {
            return HyperLogLog.builder().setSizeOptimized().build();
        }
        return HyperLogLog.builder().setNumRegisterIndexBits(14).build();
    }

    private static NumDistinctValueEstimator filled(String kind, int[] range) {
        NumDistinctValueEstimator one = empty(kind);
        for (long value = range[0]; value < range[1]; value++) {
            one.addToEstimator(value);
        }
        return one;
    }

    private static void print(String label, NumDistinctValueEstimator one) {
        StringBuilder hex = new StringBuilder();
        byte[] bytes = one.serialize();
        for (int i = 0; i < bytes.length; i++) {
            hex.append(String.format("%02x", new Object[] {Byte.valueOf(bytes[i])}));
        }
        System.out.println(label + " " + one.estimateNumDistinctValues() + " " + hex);
    }
}
