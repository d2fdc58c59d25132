"""Where a folder lies: SQLite's faster journal needs a disk of this machine."""

from __future__ import annotations

from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "9p")
NETWORK_PREFIXES = (*NETWORK, "fuse.sshfs", "fuse.gluster", "fuse.ceph", "afs", "pvfs")


def on_network(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Return whether a folder lies on a file system that several machines share."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:  # not Linux: nobody knows
        return False
    here = str(folder.resolve())
    best, kind = -1, ""
    for line in lines:
        parts = line.split()
        if len(parts) < 3:
            continue
        place = parts[1].encode().decode("unicode_escape").rstrip("/")
        inside = here == place or here.startswith(place + "/")
        if inside and len(place) >= best:
            best, kind = len(place), parts[2]
    return kind.startswith(NETWORK_PREFIXES)
