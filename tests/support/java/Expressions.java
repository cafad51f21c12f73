import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedList;
import java.util.List;
import org.apache.hadoop.hive.common.FileUtils;
import org.apache.hadoop.hive.common.type.HiveChar;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.common.type.HiveVarchar;
import org.apache.hadoop.hive.metastore.api.FieldSchema;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFBridge;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFToDecimal;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;

/**
 * Expressions on partition keys as Hive's own classes serialize them: a line each, with a name, Hive's text, and
 * the bytes in hexadecimal. Needs no more of Hive than pyspark has.
 *
 * With the argument "all" it needs the whole hive-exec of a version, and adds two things: expressions named
 * "used …", which went through Hive's initialisation of functions first, which leaves traces in what is serialized;
 * and what Hive's own pruning says of each of the partitions below.
 */
public class Expressions {
    private static final String[][] FUNCTIONS = {
        {"=", "OPEqual"}, {"!=", "OPNotEqual"}, {"<", "OPLessThan"}, {"<=", "OPEqualOrLessThan"},
        {">", "OPGreaterThan"}, {">=", "OPEqualOrGreaterThan"}, {"<=>", "OPEqualNS"}, {"in", "In"},
        {"between", "Between"}, {"isnull", "OPNull"}, {"isnotnull", "OPNotNull"}, {"and", "OPAnd"}, {"or", "OPOr"},
        {"not", "OPNot"}, {"date", "ToDate"}, {"upper", "Upper"}, {"struct", "Struct"}
    };
    private static final String[][] BRIDGES = {
        {"double", "UDFToDouble"}, {"int", "UDFToInteger"}, {"bigint", "UDFToLong"}, {"string", "UDFToString"},
        {"like", "UDFLike"}
    };
    private static final String NONE = "__HIVE_DEFAULT_PARTITION__";
    private static final String[][] KEYS = {
        {"ds", "string"}, {"h", "int"}, {"d", "date"}, {"de", "decimal(10,2)"}, {"bg", "bigint"}, {"si", "smallint"},
        {"ti", "tinyint"}, {"db", "double"}, {"f", "float"}, {"bo", "boolean"}, {"vc", "varchar(10)"},
        {"c", "char(4)"}, {"ts", "timestamp"}
    };
    private static final String[][] PARTITIONS = {
        {"a", "1", "2024-01-01", "1.50", "2", "-3", "7", "0.5", "2.5", "true", "v1", "ab", "2024-01-01 10:00:01"},
        {"b", "2", "2024-02-01", "1.5", "-9000000001", "3", "8", "0.25", "2.25", "false", "v2", "abc", "2024-01-01 09:00:00"},
        {"c", "3", "2024-03-01", "2", "10", "0", "0", "1e3", "9", "TRUE", "v1", "ab", "2024-02-01 00:00:00"},
        {"7", "10", "2024-01-15", "-3.25", "2", "1", "1", "7", "1", "off", "x", "ab  ", "2024-01-01 00:00:00"},
        {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
        {"b", NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
        {NONE, "2", "2024-02-01", "1.5", "2", "1", "1", "1", "1", "true", "v1", "ab", "2024-01-01 10:00:00.5"},
        {"2024-01-01", "5", "2023-12-31", "0", "2", "1", "1", "1", "1", "no", "B", "ab", "2025-01-01 00:00:00"},
        {"x", "-1", "0001-01-01", "0", "2", "1", "1", "1", "1", "0", "B", "ab", "2025-01-01 00:00:00"},
        {"07", "007", "2024-01-01", "0", "02", "1", "1", "1", "1", "yes", "B", "ab", "2025-01-01 00:00:00"},
        {" 7", "+2", "2024-1-1", "1.499", "+2", "1", "1", "NaN", "2.50", "False", "v1 ", "a", "2024-01-01"},
        {"7.0", "bad", "bad", "bad", "bad", "bad", "bad", "bad", "bad", "bad", "bad", "bad", "bad"},
        {"7d", "2.9", "2024-02-31", "1e1", "2.0", "65533", "263", "Infinity", "1d", "t", "12345678901", "abcdef", "2024-01-01 10:00:00.6"}
    };
    private static boolean used;
    private static boolean pruned;

    public static void main(String[] args) throws Throwable {
        used = false;
        pruned = args.length > 0 && args[0].equals("all");
        for (int i = 0; i < KEYS.length; i++) {
            System.out.println("key\t" + KEYS[i][0] + "\t" + KEYS[i][1]);
        }
        for (int i = 0; i < PARTITIONS.length; i++) {
            StringBuilder line = new StringBuilder("partition");
            for (int k = 0; k < KEYS.length; k++) {
                line.append("\t").append(PARTITIONS[i][k]);
            }
            System.out.println(line);
        }
        all("");
        if (pruned) {
            used = true;
            all("used ");
        }
    }

    private static void all(String kind) throws Throwable {
        String[] operators = {"=", "!=", "<", "<=", ">", ">=", "<=>"};
        for (int i = 0; i < operators.length; i++) {
            print(kind + "string " + operators[i], call(operators[i], column("ds", "string"), string("b")));
            print(kind + "int " + operators[i], call(operators[i], column("h", "int"), number("int", "2")));
            print(kind + "date " + operators[i], call(operators[i], column("d", "date"), date("2024-02-01")));
            print(kind + "decimal " + operators[i], call(operators[i], column("de", "decimal(10,2)"), decimal("1.5")));
        }
        print(kind + "long varchar", call(">=", column("vc", "varchar(10)"), string("1234567890")));
        print(kind + "long varchar =", call("=", column("vc", "varchar(10)"), string("1234567890")));
        print(kind + "long char =", call("=", column("c", "char(4)"), string("abcd")));
        print(kind + "decimal = 10", call("=", column("de", "decimal(10,2)"), decimal("10")));
        print(kind + "float with double", call("=", column("f", "float"), number("double", "2.5")));
        print(kind + "double with decimal", call("<", column("db", "double"), decimal("0.5")));
        print(kind + "text with decimal", call("=", column("ds", "string"), decimal("7")));
        print(kind + "reversed", call("<", number("int", "2"), column("h", "int")));
        print(kind + "reversed text", call(">=", string("b"), column("ds", "string")));
        print(kind + "bigint", call(">", column("bg", "bigint"), number("bigint", "-9000000000")));
        print(kind + "smallint", call("=", column("si", "smallint"), number("smallint", "-3")));
        print(kind + "tinyint", call("=", column("ti", "tinyint"), number("tinyint", "7")));
        print(kind + "double", call(">=", column("db", "double"), number("double", "0.5")));
        print(kind + "float", call("<", column("f", "float"), number("float", "2.5")));
        print(kind + "boolean", call("=", column("bo", "boolean"), constant("boolean", Boolean.TRUE)));
        print(kind + "varchar", call("=", column("vc", "varchar(10)"), constant("varchar(10)", new HiveVarchar("v1", 10))));
        print(kind + "char", call("=", column("c", "char(4)"), constant("char(4)", new HiveChar("ab", 4))));
        print(kind + "timestamp", call(">", column("ts", "timestamp"), timestamp("2024-01-01 10:00:00.5")));
        print(kind + "negative decimal", call("<", column("de", "decimal(10,2)"), decimal("-12345678901234567890.25")));
        print(kind + "null", call("=", column("h", "int"), constant("int", null)));
        print(kind + "empty text", call("=", column("ds", "string"), string("")));
        print(kind + "text of one", call("=", column("ds", "string"), string("x")));
        print(kind + "long text", call("=", column("ds", "string"), string(repeated("0123456789", 20))));
        print(kind + "other letters", call("=", column("ds", "string"), string("gr\u00fc\u00df \u65e5 \ud83d\udc1d")));
        print(kind + "quotes", call("=", column("ds", "string"), string("o'q\"\\")));
        print(kind + "int with text", call("=", column("h", "int"), string("2")));
        print(kind + "string with int", call("=", column("ds", "string"), number("int", "2")));
        print(kind + "bigint with int", call("=", column("bg", "bigint"), number("int", "2")));
        print(kind + "int with double", call("<", column("h", "int"), number("double", "2.5")));
        print(kind + "date with text", call(">", column("d", "date"), string("2024-01-15")));
        print(kind + "not a key", call("=", column("other", "string"), string("b")));
        print(kind + "in ints", call("in", new ExprNodeDesc[] {column("h", "int"), number("int", "1"), number("int", "3")}));
        print(kind + "in texts", call("in", new ExprNodeDesc[] {column("ds", "string"), string("a"), string("c")}));
        print(kind + "in dates", call("in", new ExprNodeDesc[] {column("d", "date"), date("2024-01-01"), date("2024-03-01")}));
        print(kind + "in with null", call("in", new ExprNodeDesc[] {column("h", "int"), number("int", "1"), constant("int", null)}));
        print(kind + "not in", call("not", call("in", new ExprNodeDesc[] {column("h", "int"), number("int", "1")})));
        print(kind + "between", between(false, column("h", "int"), number("int", "1"), number("int", "3")));
        print(kind + "not between", between(true, column("h", "int"), number("int", "1"), number("int", "3")));
        print(kind + "between texts", between(false, column("ds", "string"), string("a"), string("b")));
        print(kind + "between dates", between(false, column("d", "date"), date("2024-01-01"), date("2024-01-31")));
        print(kind + "is null", call("isnull", column("h", "int")));
        print(kind + "is null text", call("isnull", column("ds", "string")));
        print(kind + "is not null", call("isnotnull", column("ds", "string")));
        ExprNodeDesc isB = call("=", column("ds", "string"), string("b"));
        ExprNodeDesc atMost5 = call("<=", column("h", "int"), number("int", "5"));
        ExprNodeDesc notKey = call("=", column("other", "string"), string("b"));
        print(kind + "and", call("and", isB, atMost5));
        print(kind + "or", call("or", isB, atMost5));
        print(kind + "and of three", call("and", new ExprNodeDesc[] {isB, atMost5, call("isnotnull", column("d", "date"))}));
        print(kind + "not", call("not", isB));
        print(kind + "not and", call("not", call("and", isB, atMost5)));
        print(kind + "nested", call("or", call("and", isB, call(">", column("h", "int"), number("int", "5"))), call("and", call("!=", column("ds", "string"), string("a")), call("or", atMost5, call("=", column("d", "date"), date("2024-01-01"))))));
        print(kind + "and not a key", call("and", atMost5, notKey));
        print(kind + "or not a key", call("or", atMost5, notKey));
        print(kind + "to double", call("=", cast("double", column("ds", "string")), number("double", "7")));
        print(kind + "to int", call("=", cast("int", column("ds", "string")), number("int", "7")));
        print(kind + "to bigint", call(">", cast("bigint", column("h", "int")), number("bigint", "2")));
        print(kind + "to string", call("=", cast("string", column("h", "int")), string("2")));
        print(kind + "to date", call("=", cast("date", column("ds", "string")), date("2024-01-01")));
        GenericUDFToDecimal toDecimal = new GenericUDFToDecimal();
        toDecimal.setTypeInfo(TypeInfoFactory.getDecimalTypeInfo(12, 2));
        print(kind + "to decimal", call("=", apply("decimal", toDecimal, "decimal(12,2)", new ExprNodeDesc[] {column("h", "int")}), decimal("2")));
        print(kind + "boolean constant", call("and", atMost5, constant("boolean", Boolean.TRUE)));
        print(kind + "boolean column", call("and", atMost5, column("bo", "boolean")));
        print(kind + "like", call("=", call("like", column("ds", "string"), string("a%")), constant("boolean", Boolean.TRUE)));
        print(kind + "upper", call("=", apply("upper", function("upper"), "string", new ExprNodeDesc[] {column("ds", "string")}), string("B")));
        print(kind + "boolean false", call("=", column("bo", "boolean"), constant("boolean", Boolean.FALSE)));
        print(kind + "decimal with int", call(">", column("de", "decimal(10,2)"), number("int", "1")));
        print(kind + "string with double", call("=", column("ds", "string"), number("double", "7")));
        if (!used) { // a query may not say this
            print(kind + "string with bigint", call(">=", column("ds", "string"), number("bigint", "7")));
        }
        print(kind + "varchar with text", call("=", column("vc", "varchar(10)"), string("v1")));
        print(kind + "char with text", call("=", column("c", "char(4)"), string("ab")));
        print(kind + "timestamp with text", call(">=", column("ts", "timestamp"), string("2024-01-01 10:00:00.5")));
        print(kind + "date with timestamp", call("<", column("d", "date"), timestamp("2024-01-15 00:00:00")));
        print(kind + "keys with each other", call("=", column("si", "smallint"), column("ti", "tinyint")));
        print(kind + "structs in", structsIn());
    }

    private static ExprNodeDesc structsIn() throws Throwable {
        List values = new ArrayList();
        values.add("b");
        values.add(Integer.valueOf(2));
        ExprNodeDesc keys = apply("struct", function("struct"), "struct<col1:string,col2:int>", new ExprNodeDesc[] {column("ds", "string"), column("h", "int")});
        return call("in", new ExprNodeDesc[] {keys, constant("struct<col1:string,col2:int>", values)});
    }

    private static ExprNodeDesc column(String name, String type) {
        return new ExprNodeColumnDesc(typeOf(type), name, "t", true);
    }

    private static ExprNodeDesc constant(String type, Object value) {
        return new ExprNodeConstantDesc(typeOf(type), value);
    }

    private static ExprNodeDesc string(String value) {
        return constant("string", value);
    }

    private static ExprNodeDesc decimal(String value) {
        return constant("decimal(22,2)", HiveDecimal.create(value));
    }

    private static ExprNodeDesc number(String type, String value) {
        if (type.equals("tinyint")) {
            return constant(type, Byte.valueOf(value));
        }
        if (type.equals("smallint")) {
            return constant(type, Short.valueOf(value));
        }
        if (type.equals("int")) {
            return constant(type, Integer.valueOf(value));
        }
        if (type.equals("bigint")) {
            return constant(type, Long.valueOf(value));
        }
        return constant(type, type.equals("float") ? (Object) Float.valueOf(value) : (Object) Double.valueOf(value));
    }

    /** Hive 2 has Java's own dates, Hive 3 its own. */
    private static ExprNodeDesc date(String value) throws Throwable {
        return constant("date", moment("Date", value));
    }

    private static ExprNodeDesc timestamp(String value) throws Throwable {
        return constant("timestamp", moment("Timestamp", value));
    }

    private static Object moment(String name, String value) throws Throwable {
        Class found;
        try {
            found = Class.forName("org.apache.hadoop.hive.common.type." + name);
        } catch (ClassNotFoundException older) {
            found = Class.forName("java.sql." + name);
        }
        return found.getMethod("valueOf", new Class[] {String.class}).invoke(null, new Object[] {value});
    }

    private static ExprNodeDesc between(boolean inverted, ExprNodeDesc what, ExprNodeDesc low, ExprNodeDesc high) throws Throwable {
        return call("between", new ExprNodeDesc[] {constant("boolean", Boolean.valueOf(inverted)), what, low, high});
    }

    private static ExprNodeDesc cast(String type, ExprNodeDesc what) throws Throwable {
        return apply(type, function(type), type, new ExprNodeDesc[] {what});
    }

    private static ExprNodeDesc call(String name, ExprNodeDesc one) throws Throwable {
        return call(name, new ExprNodeDesc[] {one});
    }

    private static ExprNodeDesc call(String name, ExprNodeDesc one, ExprNodeDesc other) throws Throwable {
        return call(name, new ExprNodeDesc[] {one, other});
    }

    private static ExprNodeDesc call(String name, ExprNodeDesc[] of) throws Throwable {
        return apply(name, function(name), "boolean", of);
    }

    /** By class: the registry of functions needs jars that pyspark leaves out. */
    private static GenericUDF function(String name) throws Throwable {
        for (int i = 0; i < FUNCTIONS.length; i++) {
            if (FUNCTIONS[i][0].equals(name)) {
                String found = "org.apache.hadoop.hive.ql.udf.generic.GenericUDF" + FUNCTIONS[i][1];
                return (GenericUDF) Class.forName(found).newInstance();
            }
        }
        for (int i = 0; i < BRIDGES.length; i++) {
            if (BRIDGES[i][0].equals(name)) {
                String found = "org.apache.hadoop.hive.ql.udf." + BRIDGES[i][1];
                return bridged(name, found);
            }
        }
        throw new IllegalArgumentException(name);
    }

    /** Hive 4 has its cast to a string as a function of the newer kind. */
    private static GenericUDF bridged(String name, String found) throws Throwable {
        try {
            Class.forName(found);
        } catch (ClassNotFoundException gone) {
            if (name.equals("string")) {
                return (GenericUDF) Class.forName("org.apache.hadoop.hive.ql.udf.generic.GenericUDFToString").newInstance();
            }
        }
        return new GenericUDFBridge(name, name.equals("like"), found);
    }

    private static ExprNodeDesc apply(String name, GenericUDF function, String type, ExprNodeDesc[] of) throws Throwable {
        List children = new ArrayList();
        for (int i = 0; i < of.length; i++) {
            children.add(of[i]);
        }
        if (used) {
            return ExprNodeGenericFuncDesc.newInstance(function, name, children);
        }
        return new ExprNodeGenericFuncDesc(typeOf(type), function, name, children);
    }

    private static TypeInfo typeOf(String type) {
        return TypeInfoUtils.getTypeInfoFromTypeString(type);
    }

    private static String repeated(String text, int times) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < times; i++) {
            all.append(text);
        }
        return all.toString();
    }

    private static void print(String name, ExprNodeDesc expression) throws Throwable {
        byte[] bytes = serialized((ExprNodeGenericFuncDesc) expression);
        StringBuilder hex = new StringBuilder();
        for (int i = 0; i < bytes.length; i++) {
            hex.append(Character.forDigit((bytes[i] >> 4) & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
        }
        String text = expression.getExprString().replace("\t", " ").replace("\n", " ");
        System.out.println("expression\t" + name + "\t" + text + "\t" + hex + (pruned ? "\t" + left(bytes) : ""));
    }

    /** As the clients of each version do it: those of Hive 4 write the name of the class first. */
    private static byte[] serialized(ExprNodeGenericFuncDesc expression) throws Throwable {
        Method[] methods = SerializationUtilities.class.getMethods();
        String wanted = "serializeExpressionToKryo";
        for (int i = 0; i < methods.length; i++) {
            if (methods[i].getName().equals("serializeObjectWithTypeInformation")) {
                wanted = methods[i].getName();
            }
        }
        for (int i = 0; i < methods.length; i++) {
            if (methods[i].getName().equals(wanted)) {
                return (byte[]) methods[i].invoke(null, new Object[] {expression});
            }
        }
        throw new IllegalStateException(wanted + " is gone");
    }

    /** A letter for each partition: y(es), n(o), u(nknown), or ! where Hive fails. */
    private static String left(byte[] expression) {
        List columns = new ArrayList();
        List types = new ArrayList();
        for (int i = 0; i < KEYS.length; i++) {
            columns.add(KEYS[i][0]);
            types.add(typeOf(KEYS[i][1]));
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < PARTITIONS.length; i++) {
            List names = new LinkedList();
            names.add(FileUtils.makePartName(columns, Arrays.asList(PARTITIONS[i])));
            try {
                boolean unknown = filter(columns, types, expression, names);
                out.append(names.isEmpty() ? 'n' : unknown ? 'u' : 'y');
            } catch (Throwable error) {
                out.append('!');
            }
        }
        return out.toString();
    }

    /** Hive 2 wants the types of the keys, Hive 3 the keys. */
    private static boolean filter(List columns, List types, byte[] expression, List names) throws Throwable {
        Object proxy = new PartitionExpressionForMetastore();
        Method[] methods = PartitionExpressionForMetastore.class.getMethods();
        for (int i = 0; i < methods.length; i++) {
            if (methods[i].getName().equals("filterPartitionsByExpr")) {
                Object[] given;
                if (methods[i].getParameterTypes().length == 5) {
                    given = new Object[] {columns, types, expression, NONE, names};
                } else {
                    List fields = new ArrayList();
                    for (int k = 0; k < KEYS.length; k++) {
                        fields.add(new FieldSchema(KEYS[k][0], KEYS[k][1], null));
                    }
                    given = new Object[] {fields, expression, NONE, names};
                }
                try {
                    return ((Boolean) methods[i].invoke(proxy, given)).booleanValue();
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            }
        }
        throw new IllegalStateException("filterPartitionsByExpr is gone");
    }
}
