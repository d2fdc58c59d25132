"""MuJoCo models of users: an XML file that is read safely, or refused with the reason.

MuJoCo prints its warnings and writes them to a file in the folder one happens to be in.
While simgap calls it, neither happens: what it has to say about a file stands in our
error, what it has to say about a step makes that episode a broken one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from simgap.continuous.extras import needed
from simgap.errors import InvalidArgument, InvalidFile
from simgap.user_files import opened, size_of

LARGEST_FILE = 20_000_000  # bytes of one XML file; meshes are files of their own
MOST_FREEDOM = 2_000  # degrees of freedom
LARGEST_ARENA = 1 << 30  # bytes that a world needs for its contacts
NAMABLE = re.compile(r"[^\s=#{}(),;\"'\\*\[\]]+")  # what --randomize can spell
OWNERS = ("mujoco", "mujoco-core", "mujoco-studio")  # of the folder mujoco
ENDINGS = (".xml", ".mjcf", ".urdf")


def mujoco_library() -> Any:
    """Return the module `mujoco`, or say how it is installed, or repaired.

    Two distributions own its folder. pip installs the files of one over those of the
    other without a word, and which library is loaded then is an accident.
    """
    if find_spec("mujoco") is None:
        return needed("mujoco", what="a MuJoCo simulator")
    owners = dict(_owners())
    try:
        library = import_module("mujoco")
        release = library.__version__.split(".")[:3]
        problem = f"what is imported is {library.__version__}"
    except (ImportError, OSError, AttributeError) as error:
        release, problem = None, f"importing it fails: {error}"
    if release and all(v.split(".")[:3] == release for v in owners.values()):
        return library
    installed = " and ".join(f"{name} {v}" for name, v in owners.items())
    wanted = owners.get("mujoco", "4.0.0")
    raise InvalidArgument(
        f"MuJoCo's files are of {installed or 'no distribution'}, and {problem}",
        hint=f"pip uninstall -y {' '.join(OWNERS)} && pip install "
        + ("'mujoco!=4.0.0'" if wanted == "4.0.0" else f"mujoco=={wanted}"),
        code="mujoco-mixed",
    )


def _owners() -> Iterator[tuple[str, str]]:
    for name in OWNERS:
        with suppress(PackageNotFoundError):
            yield name, version(name)


def label(model: Any, kind: str, index: int) -> str:
    """Return how a thing of a model is called: its name, or its number."""
    name: str = getattr(model, kind)(index).name
    return name if NAMABLE.fullmatch(name) else str(index)


def load_model(path: Path) -> Any:
    """Return the `MjModel` that a file describes."""
    mujoco = mujoco_library()
    with opened(path, "MuJoCo model", endings=ENDINGS) as stream:
        size = size_of(stream)
    if size > LARGEST_FILE:
        raise InvalidFile(
            f"{path} has {size} bytes, a MuJoCo model at most {LARGEST_FILE}",
            hint="meshes belong into files of their own",
            code="model-too-large",
        )
    try:
        with quiet(mujoco) as warnings:
            model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, MemoryError, mujoco.FatalError) as error:
        raise _not_compiled(path, " ".join(str(error).split())) from error
    if any("NaN" in each for each in warnings):
        raise InvalidFile(
            f"{path} has nan where it needs a number",
            hint='MuJoCo takes nan, as in mass="nan", for none: write a number',
            code="model-not-finite",
        )
    _check_size(path, model)
    return model


@contextmanager
def quiet(mujoco: Any) -> Iterator[list[str]]:
    """Keep MuJoCo from printing, and from writing a file into the current folder.

    What is yielded holds its warnings.
    """
    before, warnings = mujoco.get_mju_user_warning(), list[str]()
    mujoco.set_mju_user_warning(warnings.append)
    try:
        yield warnings
    finally:
        mujoco.set_mju_user_warning(before)


def _not_compiled(path: Path, told: str) -> InvalidFile:
    if "opening file" in told:
        return InvalidFile(
            f"{path} names a file that cannot be read: {told}",
            hint="meshes and textures are looked for beside the XML file, or where its "
            "<compiler meshdir=... texturedir=...> says",
            code="model-file-missing",
        )
    if told.startswith(("XML", "ParseXML")):
        return InvalidFile(
            f"{path} is not XML: {told}",
            hint="mujoco:FILE takes MuJoCo's XML (MJCF) or URDF",
            code="model-not-xml",
        )
    return InvalidFile(
        f"MuJoCo refuses {path}: {told}",
        hint="MuJoCo's viewer shows the same message: python -m mujoco.viewer "
        f"--mjcf={path}",
        code="model-refused",
    )


def _check_size(path: Path, model: Any) -> None:
    if model.nv > MOST_FREEDOM or model.narena > LARGEST_ARENA:
        raise InvalidFile(
            f"{path} has {model.nv} degrees of freedom and asks for {model.narena} "
            f"bytes a world, at most {MOST_FREEDOM} and {LARGEST_ARENA} are allowed",
            hint='use a smaller model, or a smaller <size memory="..."/>',
            code="model-too-large",
        )
    if not 0.0 < model.opt.timestep < np.inf:
        raise InvalidFile(
            f"{path} has a timestep of {model.opt.timestep:g} seconds",
            hint='write <option timestep="0.002"/>: it is above 0',
            code="model-timestep",
        )
    if model.nv == 0 or model.nu == 0:
        lacks = "joint" if model.nv == 0 else "actuator"
        raise InvalidFile(
            f"there is no {lacks} in {path}: nothing can be steered",
            hint=f"add a <{lacks}> to it",
            code="model-not-steered",
        )
