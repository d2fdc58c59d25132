"""Which file was meant by a name that is not there."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path


def similar_files(path: Path, endings: tuple[str, ...]) -> str:
    """Return the hint for a file that is not there: its neighbours with such a name.

    Without any, files in that folder which end as they should.
    """
    try:
        beside = [each.name for each in path.parent.iterdir() if each.is_file()]
    except OSError:
        return f"there is no folder {path.parent} either"
    near = get_close_matches(path.name, beside, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(str(path.with_name(n)) for n in near)}?"
    fitting = sorted(name for name in beside if Path(name).suffix in endings)[:3]
    if fitting:
        return f"files in that folder: {', '.join(fitting)}"
    return "check the name and the folder you are in"
