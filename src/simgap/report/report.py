"""The page of a folder, drawn and kept: what `simgap report` does.

The page is a file that can be sent to a colleague: it loads nothing and asks nobody. It
draws what other verbs have written and computes nothing itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from simgap.errors import InvalidFile
from simgap.records.report import Report
from simgap.report.explorer import write_folder
from simgap.report.folder import read_folder
from simgap.text import suggestion

PAGE = "report.html"
MAKE_ONE = "make some: simgap study MODEL -H N --out DIR"


def draw_report(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> Report:
    """Draw all records in a folder as one page, `report.html` there unless `out`."""
    where = Path(folder)
    if not where.exists():
        raise InvalidFile(
            f"cannot read the folder {str(where)[:200]}: there is none",
            hint=_near(where) or MAKE_ONE,
        )
    page = where / PAGE if out is None else Path(out)
    found = read_folder(where)
    if not found.parts and not found.troubles:
        raise InvalidFile(f"there is no record in {str(where)[:200]!r}", hint=MAKE_ONE)
    return Report(
        path=str(page),
        bytes=write_folder(found, page),
        drawn=len(found.parts),
        troubles=tuple(f"{each.name}: {each.problem}" for each in found.troubles),
        unknown=found.unknown,
        changed=found.changed,
        unsealed=found.unsealed,
    )


def _near(folder: Path) -> str:
    """Return the hint that names a folder which is called nearly so."""
    try:
        beside = [str(each) for each in folder.parent.iterdir() if each.is_dir()]
    except (OSError, ValueError):
        return ""
    return suggestion(str(folder), beside, cutoff=0.6)
