"""Whether a folder is on a network file system, from the lines of /proc/mounts.

Pure: it never reads them itself.

SQLite's write-ahead log needs shared memory and working locks between all processes that use the database, and a
network file system offers neither between two machines.
"""

import re
from collections.abc import Iterable
from pathlib import PurePath, PurePosixPath

NETWORK_FILE_SYSTEMS = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "panfs",
        "smb2",
        "smb3",
        "smbfs",
        "fuse.ceph",
        "fuse.cephfs",
        "fuse.curlftpfs",
        "fuse.davfs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.goofys",
        "fuse.juicefs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.smbnetfs",
        "fuse.sshfs",
    }
)

_ESCAPE = re.compile(r"\\([0-7]{3})")


def network_file_system(folder: PurePath, mounts: Iterable[str]) -> str | None:
    """The type of the network file system that holds a (resolved) folder, None if it is on a local one."""
    best, type = -1, ""
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = PurePosixPath(_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[1]))
        # Of two mounts on one point the later one hides the earlier.
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, type = len(point.parts), fields[2]
    return type if type in NETWORK_FILE_SYSTEMS else None
