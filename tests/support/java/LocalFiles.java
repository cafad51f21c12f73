import java.io.IOException;
import java.lang.reflect.Field;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Hadoop's file system of this machine, which sets permissions itself: Hadoop's own starts chmod for each file. */
public class LocalFiles extends LocalFileSystem {
    public LocalFiles() {
        super(new Raw());
    }

    /** Makes it the file system of file: URIs in this JVM. */
    public static void install() throws Exception {
        URI root = URI.create("file:///");
        Configuration conf = new Configuration();
        FileSystem used = FileSystem.get(root, conf);
        if (used instanceof LocalFiles) {
            return;
        }
        Field services = FileSystem.class.getDeclaredField("SERVICE_FILE_SYSTEMS");
        services.setAccessible(true);
        ((Map) services.get(null)).put("file", LocalFiles.class);
        used.close();
    }

    public static class Raw extends RawLocalFileSystem {
        @Override
        public void setPermission(Path path, FsPermission permission) throws IOException {
            if (permission.getStickyBit()) {
                super.setPermission(path, permission);
            } else {
                Files.setPosixFilePermissions(
                    pathToFile(path).toPath(), PosixFilePermissions.fromString(permission.toString()));
            }
        }
    }
}
