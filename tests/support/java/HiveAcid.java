import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.common.ValidReaderWriteIdList;
import org.apache.hadoop.hive.ql.exec.vector.VectorExtractRow;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatchCtx;
import org.apache.hadoop.hive.ql.io.AcidInputFormat;
import org.apache.hadoop.hive.ql.io.AcidOutputFormat;
import org.apache.hadoop.hive.ql.io.AcidUtils;
import org.apache.hadoop.hive.ql.io.RecordIdentifier;
import org.apache.hadoop.hive.ql.io.RecordUpdater;
import org.apache.hadoop.hive.ql.io.orc.OrcFile;
import org.apache.hadoop.hive.ql.io.orc.OrcInputFormat;
import org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat;
import org.apache.hadoop.hive.ql.io.orc.OrcSplit;
import org.apache.hadoop.hive.ql.io.orc.OrcStruct;
import org.apache.hadoop.hive.ql.io.orc.Writer;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorConverters;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.typeinfo.ListTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.MapTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.StructTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.util.StringUtils;
import org.apache.hive.common.util.Ref;

/**
 * Files of transactional tables, written and read by Hive's own classes: those of 3.1.3 and of 4.0.1.
 *
 * Each line of the input is a command in JSON, and each line of the output is the result of one: null, a value, or an
 * object with the error. It never connects to a metastore: the ids that a reader sees are a part of the command.
 *
 *   write        events of one OrcRecordUpdater
 *   original     a file of a table that is not transactional yet
 *   read         the rows and the splits of a directory by OrcInputFormat, row by row or in batches
 *   directories  the directories that AcidUtils.getAcidState selects
 *   buckets      the bucket of each row, by both versions of Hive's hash
 */
public class HiveAcid {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        PrintStream results = System.out;
        System.setOut(System.err); // Hive logs to the standard output.
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            Object result;
            try {
                result = run((Map) JSON.readValue(line, Map.class));
            } catch (Throwable error) {
                result = Collections.singletonMap("error", StringUtils.stringifyException(error));
            }
            results.println(JSON.writeValueAsString(result));
        }
        results.flush();
    }

    private static Object run(Map command) throws Exception {
        String name = (String) command.get("command");
        if (name.equals("write")) {
            write(command);
            return null;
        }
        if (name.equals("original")) {
            writeOriginal(command);
            return null;
        }
        if (name.equals("read")) {
            return read(command);
        }
        if (name.equals("directories")) {
            return directories(command);
        }
        if (name.equals("buckets")) {
            return buckets(command);
        }
        throw new IllegalArgumentException(name);
    }

    // Writing

    private static void write(Map command) throws Exception {
        StructTypeInfo row = rowType(command);
        int columns = row.getAllStructFieldNames().size();
        StructTypeInfo withId = withRowId(row);
        long low = number(command, "low");
        AcidOutputFormat.Options options = new AcidOutputFormat.Options(conf(command));
        options.inspector(TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo(withId));
        options.tableProperties(tableProperties(row)).reporter(Reporter.NULL).recordIdColumn(columns);
        options.minimumWriteId(low).maximumWriteId(number(command, "high")).bucket((int) number(command, "bucket"));
        options.writingBase(Boolean.TRUE.equals(command.get("base"))).statementId((int) number(command, "statement"));
        Path root = location(command, options.getConfiguration());
        options.finalDestination(root);
        if (command.get("attempt") != null) {
            call(options, "attemptId", Integer.class, command.get("attempt"));
        }
        if (command.get("visibility") != null) {
            call(options, "visibilityTxnId", long.class, Long.valueOf(number(command, "visibility")));
        }
        RecordUpdater updater = new OrcOutputFormat().getRecordUpdater(root, options);
        for (Iterator events = ((List) command.get("events")).iterator(); events.hasNext();) {
            Map event = (Map) events.next();
            long writeId = event.get("write_id") == null ? low : number(event, "write_id");
            List values = new ArrayList();
            for (int i = 0; i < columns; i++) {
                values.add(event.get("row") == null ? null : ((List) event.get("row")).get(i));
            }
            values.add(event.get("id"));
            Object given = javaValue(values, withId);
            String kind = (String) event.get("kind");
            if (kind.equals("insert")) {
                updater.insert(writeId, given);
            } else if (kind.equals("update")) {
                updater.update(writeId, given);
            } else {
                updater.delete(writeId, given);
            }
        }
        updater.close(false);
    }

    private static void writeOriginal(Map command) throws Exception {
        StructTypeInfo row = rowType(command);
        OrcFile.WriterOptions options = OrcFile.writerOptions(conf(command));
        options.inspector(TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo(row));
        Writer writer = OrcFile.createWriter(new Path((String) command.get("location")), options);
        for (Iterator rows = ((List) command.get("rows")).iterator(); rows.hasNext();) {
            writer.addRow(javaValue(rows.next(), row));
        }
        writer.close();
    }

    private static void call(Object options, String name, Class type, Object value) throws Exception {
        options.getClass().getMethod(name, new Class[] {type}).invoke(options, new Object[] {value});
    }

    private static StructTypeInfo withRowId(StructTypeInfo row) {
        List names = new ArrayList(row.getAllStructFieldNames());
        List types = new ArrayList(row.getAllStructFieldTypeInfos());
        names.add("ROW__ID");
        types.add(TypeInfoUtils.getTypeInfoFromTypeString("struct<writeid:bigint,bucketid:int,rowid:bigint>"));
        return (StructTypeInfo) TypeInfoFactory.getStructTypeInfo(names, types);
    }

    private static Properties tableProperties(StructTypeInfo row) {
        Properties properties = new Properties();
        properties.setProperty("columns", joined(row.getAllStructFieldNames(), ","));
        properties.setProperty("columns.types", joined(row.getAllStructFieldTypeInfos(), ":"));
        properties.setProperty("transactional", "true");
        properties.setProperty("transactional_properties", "default");
        return properties;
    }

    // Reading

    private static Object read(Map command) throws Exception {
        StructTypeInfo row = rowType(command);
        JobConf conf = conf(command);
        conf.set("mapred.input.dir", StringUtils.escapeString(location(command, conf).toString()));
        conf.set("schema.evolution.columns", joined(row.getAllStructFieldNames(), ","));
        conf.set("schema.evolution.columns.types", joined(row.getAllStructFieldTypeInfos(), ":"));
        conf.set("columns", joined(row.getAllStructFieldNames(), ","));
        conf.set("columns.types", joined(row.getAllStructFieldTypeInfos(), ":"));
        boolean batches = "batch".equals(command.get("reader"));
        conf.set("VECTOR_MODE", String.valueOf(batches)); // The splits of the two readers are different.
        InputSplit[] splits = new OrcInputFormat().getSplits(conf, 1);
        List places = new ArrayList();
        List rows = new ArrayList();
        for (int i = 0; i < splits.length; i++) {
            OrcSplit split = (OrcSplit) splits[i];
            String path = split.getPath().toUri().getPath();
            places.add(Arrays.asList(new Object[] {path, Long.valueOf(split.getStart()), Long.valueOf(split.getLength())}));
            if (batches) {
                readBatches(split, conf, row, rows);
            } else {
                readRows(split, conf, row, rows);
            }
        }
        Map result = new LinkedHashMap();
        result.put("splits", places);
        result.put("rows", rows);
        return result;
    }

    /** Hive's reader of single rows, with the ids of the rows as the last values. */
    private static void readRows(OrcSplit split, JobConf conf, StructTypeInfo type, List rows) throws Exception {
        ObjectInspector inspector = OrcStruct.createObjectInspector(type);
        RecordReader reader = new OrcInputFormat().getRecordReader(split, conf, Reporter.NULL);
        Object key = reader.createKey();
        Object value = reader.createValue();
        while (reader.next(key, value)) {
            List found = (List) plain(ObjectInspectorUtils.copyToStandardJavaObject(value, inspector));
            RecordIdentifier id = ((AcidInputFormat.AcidRecordReader) reader).getRecordIdentifier();
            Object[] parts = {Long.valueOf(id.getWriteId()), Integer.valueOf(id.getBucketProperty()), Long.valueOf(id.getRowId())};
            found.add(Arrays.asList(parts));
            rows.add(found);
        }
        reader.close();
    }

    /** Hive's vectorized reader. It is made as Hive's own tests make it: without the plan of a query. */
    private static void readBatches(OrcSplit split, JobConf conf, StructTypeInfo type, List rows) throws Exception {
        Class kind = Class.forName("org.apache.hadoop.hive.ql.io.orc.VectorizedOrcAcidRowBatchReader");
        Class[] arguments = {OrcSplit.class, JobConf.class, Reporter.class, VectorizedRowBatchCtx.class};
        Constructor constructor = kind.getDeclaredConstructor(arguments);
        constructor.setAccessible(true);
        Object[] given = {split, conf, Reporter.NULL, new VectorizedRowBatchCtx()};
        RecordReader reader = (RecordReader) constructor.newInstance(given);
        List types = type.getAllStructFieldTypeInfos();
        TypeInfo[] columns = (TypeInfo[]) types.toArray(new TypeInfo[types.size()]);
        VectorizedRowBatch batch = OrcInputFormat.getDesiredRowTypeDescr(conf, true, Integer.MAX_VALUE).createRowBatch();
        batch.setPartitionInfo(columns.length, 0);
        VectorExtractRow extract = new VectorExtractRow();
        extract.init(columns);
        Object[] values = new Object[columns.length];
        while (reader.next(null, batch)) {
            for (int i = 0; i < batch.size; i++) {
                extract.extractRow(batch, batch.selectedInUse ? batch.selected[i] : i, values);
                List found = new ArrayList();
                for (int column = 0; column < columns.length; column++) {
                    ObjectInspector inspector = TypeInfoUtils.getStandardWritableObjectInspectorFromTypeInfo(columns[column]);
                    found.add(plain(ObjectInspectorUtils.copyToStandardJavaObject(values[column], inspector)));
                }
                rows.add(found);
            }
        }
        reader.close();
    }

    /** The method has other parameters in each version; so has its result another class. */
    private static Object directories(Map command) throws Exception {
        JobConf conf = conf(command);
        Path root = location(command, conf);
        ValidReaderWriteIdList ids = new ValidReaderWriteIdList((String) command.get("write_ids"));
        Object state = null;
        Method[] methods = AcidUtils.class.getMethods();
        for (int i = 0; i < methods.length && state == null; i++) {
            if (methods[i].getName().equals("getAcidState")) {
                Class[] types = methods[i].getParameterTypes();
                if (types.length == 3) {
                    state = methods[i].invoke(null, new Object[] {root, conf, ids});
                } else if (types.length == 6 && types[0] == FileSystem.class) {
                    Object[] given = {root.getFileSystem(conf), root, conf, ids, Ref.from(Boolean.FALSE), Boolean.FALSE};
                    state = methods[i].invoke(null, given);
                }
            }
        }
        List names = new ArrayList();
        Path base = (Path) property(state, "getBaseDirectory");
        if (base != null) {
            names.add(base.getName());
        }
        for (Iterator deltas = ((List) property(state, "getCurrentDirectories")).iterator(); deltas.hasNext();) {
            names.add(((Path) property(deltas.next(), "getPath")).getName());
        }
        return names;
    }

    private static Object property(Object of, String name) throws Exception {
        Method method = of.getClass().getMethod(name, new Class[0]);
        method.setAccessible(true);
        return method.invoke(of, new Object[0]);
    }

    private static Object buckets(Map command) throws Exception {
        StructTypeInfo row = rowType(command);
        List types = row.getAllStructFieldTypeInfos();
        ObjectInspector[] inspectors = new ObjectInspector[types.size()];
        for (int i = 0; i < inspectors.length; i++) {
            inspectors[i] = TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo((TypeInfo) types.get(i));
        }
        int count = (int) number(command, "count");
        List result = new ArrayList();
        for (Iterator rows = ((List) command.get("rows")).iterator(); rows.hasNext();) {
            Object[] values = ((List) javaValue(rows.next(), row)).toArray();
            int first = ObjectInspectorUtils.getBucketNumberOld(values, inspectors, count);
            int second = ObjectInspectorUtils.getBucketNumber(values, inspectors, count);
            result.add(Arrays.asList(new Object[] {Integer.valueOf(first), Integer.valueOf(second)}));
        }
        return result;
    }

    // Settings and values

    private static JobConf conf(Map command) {
        JobConf conf = new JobConf();
        conf.set("transactional", "true");
        conf.set("transactional_properties", "default");
        AcidUtils.setAcidOperationalProperties(conf, true, AcidUtils.AcidOperationalProperties.getDefault());
        if (command.get("write_ids") != null) {
            conf.set("hive.txn.valid.writeids", (String) command.get("write_ids"));
        }
        if (command.get("transactions") != null) {
            conf.set("hive.txn.valid.txns", (String) command.get("transactions"));
        }
        Map settings = (Map) command.get("settings");
        if (settings != null) {
            for (Iterator names = settings.keySet().iterator(); names.hasNext();) {
                String name = (String) names.next();
                conf.set(name, (String) settings.get(name));
            }
        }
        return conf;
    }

    /** Hive compares the locations of files and tables: both have a scheme. */
    private static Path location(Map command, Configuration conf) throws IOException {
        Path path = new Path((String) command.get("location"));
        return path.getFileSystem(conf).makeQualified(path);
    }

    private static StructTypeInfo rowType(Map command) {
        List types = new ArrayList();
        for (Iterator texts = ((List) command.get("types")).iterator(); texts.hasNext();) {
            types.add(TypeInfoUtils.getTypeInfoFromTypeString((String) texts.next()));
        }
        return (StructTypeInfo) TypeInfoFactory.getStructTypeInfo((List) command.get("names"), types);
    }

    /** A value from JSON. Hive's own conversion from text makes all primitive values but binary ones (hexadecimal). */
    private static Object javaValue(Object json, TypeInfo type) {
        if (json == null || json instanceof Boolean) {
            return json;
        }
        if (type instanceof ListTypeInfo) {
            List result = new ArrayList();
            for (Iterator each = ((List) json).iterator(); each.hasNext();) {
                result.add(javaValue(each.next(), ((ListTypeInfo) type).getListElementTypeInfo()));
            }
            return result;
        }
        if (type instanceof MapTypeInfo) {
            Map result = new LinkedHashMap();
            for (Iterator each = ((List) json).iterator(); each.hasNext();) {
                List pair = (List) each.next();
                Object key = javaValue(pair.get(0), ((MapTypeInfo) type).getMapKeyTypeInfo());
                result.put(key, javaValue(pair.get(1), ((MapTypeInfo) type).getMapValueTypeInfo()));
            }
            return result;
        }
        if (type instanceof StructTypeInfo) {
            List types = ((StructTypeInfo) type).getAllStructFieldTypeInfos();
            List result = new ArrayList();
            for (int i = 0; i < types.size(); i++) {
                result.add(javaValue(((List) json).get(i), (TypeInfo) types.get(i)));
            }
            return result;
        }
        if (type.getTypeName().equals("binary")) {
            return StringUtils.hexStringToByte((String) json);
        }
        ObjectInspector target = TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo(type);
        ObjectInspector source = PrimitiveObjectInspectorFactory.javaStringObjectInspector;
        return ObjectInspectorConverters.getConverter(source, target).convert(json.toString());
    }

    /** A value for JSON: structs and lists as lists, maps as lists of pairs, all but whole numbers as texts. */
    private static Object plain(Object value) {
        if (value instanceof List) {
            List result = new ArrayList();
            for (Iterator each = ((List) value).iterator(); each.hasNext();) {
                result.add(plain(each.next()));
            }
            return result;
        }
        if (value instanceof Map) {
            List result = new ArrayList();
            for (Iterator each = ((Map) value).entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                result.add(Arrays.asList(new Object[] {plain(entry.getKey()), plain(entry.getValue())}));
            }
            return result;
        }
        if (value instanceof byte[]) {
            return StringUtils.byteToHexString((byte[]) value);
        }
        boolean whole = value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long;
        if (value == null || whole || value instanceof Boolean) {
            return value;
        }
        return value.toString();
    }

    private static long number(Map command, String name) {
        return ((Number) command.get(name)).longValue();
    }

    private static String joined(List parts, String separator) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            text.append(i == 0 ? "" : separator).append(parts.get(i));
        }
        return text.toString();
    }
}
