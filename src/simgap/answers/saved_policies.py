"""The policies of a plan as files: one that is certified, and beside it the one to run.

Whether a file can be written is found out before the planning, not after it.
"""

from __future__ import annotations

import os
from pathlib import Path

from simgap.errors import InvalidFile
from simgap.interop import save_policy
from simgap.mdp import GridOrigin
from simgap.oracle import OracleResult
from simgap.user_files import why_not_written


def saved_policies(
    result: OracleResult, path: Path | None, grid: GridOrigin | None = None
) -> tuple[str | None, str | None]:
    """Write both policies of a result; return where they are.

    With the `grid` of the class they can be played in its simulator.
    """
    if path is None:
        return None, None
    beside = belief_path(path)
    save_policy(result.policy, path, grid=grid)
    save_policy(result.belief_policy, beside, grid=grid)
    return str(path), str(beside)


def belief_path(path: Path) -> Path:
    """Return where the belief policy goes beside a saved policy."""
    return path.with_name(f"{path.stem}.belief.simgap")


def writable_file(
    text: str | os.PathLike[str],
    *,
    what: str = "policies",
    option: str = "--save",
    example: str = "policy",
) -> Path:
    """Return where a policy goes, refusing now what would fail after planning."""
    path = Path(text)
    if path.suffix != ".simgap":
        raise InvalidFile(
            f"{what} are written as .simgap, not to {str(path)[:200]!r}",
            hint=f"write for instance {option} {example}.simgap",
        )
    try:
        for each in (path, belief_path(path)):
            if each.is_dir():
                raise InvalidFile(f"{each} is a folder", hint="name a file")
        if not path.parent.is_dir():
            raise InvalidFile(
                f"there is no folder {path.parent}", hint="make the folder first"
            )
        draft = path.with_name(f".simgap-{os.urandom(6).hex()}.tmp")
        draft.touch()
        draft.unlink()
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"cannot write {str(path)[:200]!r}: {getattr(error, 'strerror', error)}",
            hint=f"choose another place with {option}",
            code=why_not_written(error),
        ) from error
    return path
