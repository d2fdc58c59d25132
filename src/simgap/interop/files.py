"""Load and save models; the ending of the name says the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop.native import read_native, write_native
from simgap.interop.npz import read_npy, read_npz, write_npz
from simgap.interop.sizes import SizeLimit
from simgap.mdp import LatentMDP, SimulatorClass, TabularMDP
from simgap.user_files import opened, replacing

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
    the name of a file (`simgap.instances.build_instance`); its prior is uniform.
    """
    limit = SizeLimit.of(max_bytes)
    path = Path(source)
    if instance is not None and isinstance(source, str) and not looks_like_file(source):
        return LatentMDP.uniform(instance(source))
    with opened(path, "model file", endings=READABLE) as stream:
        if path.suffix == ".simgap":
            return read_native(stream, path, limit)
        if path.suffix == ".npz":
            return read_npz(stream, path, limit)
        if path.suffix == ".npy":
            return read_npy(stream, path, limit)
    raise InvalidFile(
        f"{path} has the ending {path.suffix!r}, which is no model format",
        hint=f"model files end in {', '.join(READABLE)}",
    )


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
