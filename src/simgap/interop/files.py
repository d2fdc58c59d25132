"""Load and save models; the ending of the name says the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop.native import read_native, write_native
from simgap.interop.npz import read_npy, read_npz
from simgap.interop.npz_writer import write_npz
from simgap.interop.similar import similar_files
from simgap.interop.sizes import SizeLimit
from simgap.mdp import LatentMDP, SimulatorClass, TabularMDP
from simgap.records import replacing

READABLE = (".simgap", ".npz", ".npy")
WRITABLE = (".simgap", ".npz")


def load_model(
    source: str | Path,
    *,
    max_bytes: int | None = None,
    instance: Callable[[str], SimulatorClass] | None = None,
) -> LatentMDP:
    """Return the latent MDP of a file, or of an instance string if told how.

    `max_bytes` limits what the arrays of a file may take together; the default is a
    quarter of the memory at hand. `instance` builds a class from a text that is not
    the name of a file (`simgap.instances.catalogue.build`); its prior is uniform.
    """
    limit = SizeLimit.of(max_bytes)
    path = Path(source)
    if instance is not None and isinstance(source, str) and not looks_like_file(source):
        return LatentMDP.uniform(instance(source))
    _check_readable(path)
    try:
        if path.suffix == ".simgap":
            return read_native(path, limit)
        if path.suffix == ".npz":
            return read_npz(path, limit)
        return read_npy(path, limit)
    except OSError as error:
        raise InvalidFile(
            f"cannot read {path}: {error.strerror or error}",
            hint="check the permissions of the file and its folder",
        ) from error
    except MemoryError as error:
        raise InvalidFile(
            f"{path} needs more memory than there is",
            hint="use a machine with more, or a smaller class",
        ) from error


def save_model(
    model: LatentMDP | SimulatorClass | TabularMDP, path: str | Path
) -> None:
    """Write a model as .simgap or .npz; an old file is replaced whole.

    A class or a single model is written with the uniform prior.
    """
    if isinstance(model, TabularMDP):
        model = model.as_class()
    latent = LatentMDP.uniform(model) if isinstance(model, SimulatorClass) else model
    if not isinstance(latent, LatentMDP):
        raise InvalidArgument(
            f"cannot save a {type(model).__name__} as a model",
            hint="give a LatentMDP, a SimulatorClass or a TabularMDP",
        )
    target = Path(path)
    if target.suffix not in WRITABLE:
        raise InvalidFile(
            f"cannot write a model as {target.name[:100]!r}",
            hint=f"the ending says the format: {' or '.join(WRITABLE)}",
        )
    with replacing(target) as draft:
        if target.suffix == ".simgap":
            write_native(latent, draft)
        else:
            with draft.open("wb") as stream:
                write_npz(latent, stream)


def looks_like_file(text: str) -> bool:
    """Return whether a text names a file: it exists, or it ends as model files do."""
    try:
        if Path(text).exists():
            return True
    except (OSError, ValueError):  # too long, or with a NUL: not a file
        return False
    return "?" not in text and Path(text).suffix in READABLE


def _check_readable(path: Path) -> None:
    try:
        if path.is_dir():
            raise InvalidFile(f"{path} is a folder", hint="name a model file in it")
        exists = path.exists()
        if exists and not path.is_file():
            raise InvalidFile(f"{path} is not a regular file", hint="name a model file")
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"cannot read {str(path)[:200]!r}: {error}",
            hint="check the name and the permissions of its folder",
        ) from error
    if not exists:
        raise InvalidFile(
            f"there is no file {path}", hint=similar_files(path, READABLE)
        )
    if path.suffix not in READABLE:
        raise InvalidFile(
            f"{path} has the ending {path.suffix!r}, which is no model format",
            hint=f"model files end in {', '.join(READABLE)}",
        )
