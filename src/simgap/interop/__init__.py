"""Model files: simgap's own format and numpy's."""

from simgap.interop.files import (
    READABLE,
    WRITABLE,
    load_model,
    looks_like_file,
    save_model,
)

__all__ = ["READABLE", "WRITABLE", "load_model", "looks_like_file", "save_model"]
