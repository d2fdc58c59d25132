"""Wrong commands and malformed models: exit 2, two lines, never a traceback."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main

Maker = Callable[[Path], list[str]]


@dataclass(frozen=True)
class Case:
    """A command made in a folder, and a part of what it must say."""

    label: str
    make: Maker
    says: str
    status: int = 2


def words(line: str, says: str, *, status: int = 2) -> Case:
    """A command that needs no file; words are separated by spaces."""
    return Case(line or "(empty)", lambda folder: line.split(" "), says, status)


def good(**changes: Any) -> dict[str, Any]:
    """The arrays of a sound class of two models, some of them changed or dropped."""
    kernel = np.full((2, 3, 2, 3), 1.0 / 3.0)
    arrays = {"transitions": kernel, "rewards": np.zeros((3, 2))} | changes
    return {key: value for key, value in arrays.items() if value is not None}


def npz(label: str, says: str, **changes: Any) -> Case:
    """`simgap info` on an .npz with these arrays."""

    def make(folder: Path) -> list[str]:
        path = folder / "model.npz"
        np.savez(path, **good(**changes))
        return ["info", str(path)]

    return Case(f"npz: {label}", make, says)


def raw(label: str, name: str, content: bytes, says: str) -> Case:
    """`simgap info` on a file with this content."""

    def make(folder: Path) -> list[str]:
        (folder / name).write_bytes(content)
        return ["info", str(folder / name)]

    return Case(f"file: {label}", make, says)


def changed(place: tuple[int, ...], value: float) -> Any:
    kernel = good()["transitions"].copy()
    kernel[place] = value
    return kernel


def edges(label: str, says: str, **changes: Any) -> Case:
    """`simgap info` on an .npz in the sparse form: two states that lead to 0."""
    table = {
        "transitions": None,
        "edges": np.array([[0, 0, 0, 0], [0, 1, 0, 0]]),
        "probabilities": np.ones(2),
        "shape": np.array([1, 2, 1]),
        "rewards": np.zeros((2, 1)),
    }
    return npz(f"edges: {label}", says, **(table | changes))


COMMANDS = [
    words("sovle riverswim", "did you mean simgap solve?"),
    words("INFO riverswim", "did you mean simgap info?"),
    words("diamter riverswim", "did you mean simgap diameter?"),
    words("exprot riverswim x.npz", "did you mean simgap export?"),
    words("frobnicate", "the verbs are"),
    words("../../etc/passwd", "the verbs are"),
    words("--frobnicate", "no such option"),
    words("-x", "no such option"),
    words("info", "missing argument 'MODEL'"),
    words("solve", "missing argument 'MODEL'"),
    words("diameter", "missing argument 'MODEL'"),
    words("export riverswim", "missing argument 'FILE'"),
    words("info riverswim chain", "unexpected extra argument"),
    words("list riverswim", "no simulator"),
    words("info riverswim --jsn", "--json"),
    words("info riverswim --json=yes", "does not take a value"),
    words("solve riverswim -H", "requires an argument"),
    words("solve riverswim -H ten", "'ten', not a number of steps"),
    words("solve riverswim -H -5", "it is 0 or more"),
    words("solve riverswim -H 1.5", "not a whole number"),
    words("solve riverswim -H 1e10", "at most 1000000000"),
    words("solve riverswim -H 1e999999", "at most 1000000000"),
    words("solve riverswim -H 1e-3", "not a whole number"),
    words("solve riverswim -H nan", "not a number of steps"),
    words("solve riverswim -H inf", "not a number of steps"),
    words("solve riverswim -H 0x10", "not a number of steps"),
    words("solve riverswim -H " + "9" * 60, "not a number of steps"),
    words("solve riverswim -H 10 -H 20,30", "not a number of steps"),
    words("solve riverswim --horizon=", "not a number of steps"),
    words("solve riverswim --discount 0.9", "no such option"),
    words("info riverswim --max-bytes 0", "it is 1 or more"),
    words("info riverswim --max-bytes lots", "not a number of bytes"),
    words("demo --out", "requires an argument"),
    words("demo somewhere", "unexpected extra argument"),
    words("oracle", "missing argument 'MODEL'"),
    words("orcale riverswim -H 5", "did you mean simgap oracle?"),
    words("oracle riverswim", "no horizon is given"),
    words("oracle riverswim -H 5 --discount 0.9", "both a horizon and a discount"),
    words("oracle riverswim -H 0", "it is 1 or more"),
    words("oracle riverswim -H ten", "not a number of steps"),
    words("oracle riverswim --discount 1", "above 0 and below 1"),
    words("oracle riverswim --discount 0", "above 0 and below 1"),
    words("oracle riverswim --discount nan", "not a number"),
    words("oracle riverswim -H 5 --tolerance 0", "--tolerance is 0"),
    words("oracle riverswim -H 5 --tolerance 1", "--tolerance is 1"),
    words("oracle riverswim -H 5 --gap-tolerance -0.1", "--gap-tolerance is -0.1"),
    words("oracle riverswim -H 5 --gap-tolerance 5%", "not a number"),
    words("oracle riverswim -H 5 --time-limit -1", "--time-limit is -1"),
    words("oracle riverswim -H 5 --time-limit soon", "not a number"),
    words("oracle riverswim -H 5 --max-memory 0", "--max-memory is 0"),
    words("oracle riverswim -H 5 --max-memory inf", "not a number"),
    words("oracle riverswim -H 5 --solver exakt", "did you mean exact?"),
    words("oracle riverswim -H 5 --solver sarsop", "it is one of"),
    words("oracle riverswim -H 5 --seed x", "not a seed"),
    words("oracle riverswim -H 5 --seed -1", "it is 0 or more"),
    words("oracle riverswim -H 5 --save policy.json", "written as .simgap"),
    words("oracle riverswim -H 5 --save /no/where/p.simgap", "there is no folder"),
    words("oracle riverswim -H 5 --save /proc/p.simgap", "cannot write"),
    words("oracle riversim -H 5", "riverswim"),
    words("info -", "not read from standard input"),
    words("info ", "MODEL is empty"),
]

INSTANCES = [
    words("info rivrswim", "did you mean 'riverswim'?"),
    words("info FrozenLake-v1", "gym:FrozenLake-v1"),
    words("info riverswim?", "nothing follows the question mark"),
    words("info riverswim?states", "has no '='"),
    words("info riverswim?states=", "has no value"),
    words("info riverswim?=6", "has no key"),
    words("info riverswim?staets=6", "did you mean 'states'?"),
    words("info riverswim?states=6&states=7", "given twice"),
    words("info riverswim?states=six", "states=six cannot be read"),
    words("info riverswim?states=1.5", "cannot be read"),
    words("info riverswim?states=-3", "states"),
    words("info riverswim?states=0", "states"),
    words("info riverswim?states=1e30", "cannot be read"),
    words("info riverswim?states=99999999999", "states"),
    words("info riverswim?success=1.5", "success"),
    words("info riverswim?success=nan", "cannot be read"),
    words("info riverswim?success=0.2:0.5", "not a range"),
    words("info riverswim?success=0.2:0.5:0", "at least one"),
    words("info riverswim?success=0.2:0.5:1e9", "cannot be read"),
    words("info riverswim?success=0.1,,0.2", "success"),
    words("info gym:FrozenLake-v0", "FrozenLake-v1"),
    words("info gym:Blackjack-v1", "no transition table"),
    words("info gym:FrozenLake-v1?success_rate=1.5&terminal=restart", "success_rate"),
    words("info gym:FrozenLake-v1?terminal=sometimes", "terminal is 'sometimes'"),
    words("info gym:", "there is no environment"),
]

MODELS = [
    npz("row sums to 0.9", "sums to", transitions=changed((1, 2, 1, 0), 1 / 3 - 0.1)),
    npz("names the row", "(s=2, a=1)", transitions=changed((1, 2, 1, 0), 0.5)),
    npz("names the model", "'model 1'", transitions=changed((1, 2, 1, 0), 0.5)),
    npz("NaN", "has NaN", transitions=changed((0, 0, 0, 0), np.nan)),
    npz("infinite", "infinite", transitions=changed((0, 0, 0, 0), np.inf)),
    npz("negative", "negative", transitions=changed((0, 0, 0, 0), -0.25)),
    npz("zero rows", "no successor", transitions=np.zeros((2, 3, 2, 3))),
    npz("one zero row", "all zero", transitions=changed((0, 0, 0), 0.0)),
    npz("float32", "float64", transitions=np.full((3, 2, 3), 1 / 3, np.float32)),
    npz("action first", "transitions_action_first", transitions=np.ones((2, 3, 3))),
    npz("two axes", "four axes", transitions=np.eye(3)),
    npz("five axes", "four axes", transitions=np.ones((1, 1, 1, 1, 1))),
    npz("text", "not numbers", transitions=np.array(["a", "b"])),
    npz("complex", "type complex128", transitions=np.ones((1, 1, 1), complex)),
    npz("no states", "at least one", transitions=np.ones((1, 0, 2, 0))),
    npz("no actions", "at least one", transitions=np.ones((1, 2, 0, 2))),
    npz("no models", "at least one", transitions=np.ones((0, 2, 2, 2))),
    npz("no kernel", "no transitions", transitions=None),
    npz("no rewards", "no array 'rewards'", rewards=None),
    npz("two kernels", "transitions and edges", edges=np.zeros((1, 4), int)),
    npz("misspelt key", "did you mean 'prior'?", priors=np.ones(2) / 2),
    npz("unknown key", "a model file has the keys", zebra=np.ones(2)),
    npz("rewards shape", "rewards have shape", rewards=np.zeros((2, 3))),
    npz("rewards NaN", "is nan", rewards=np.full((3, 2), np.nan)),
    npz("rewards inf", "is inf", rewards=np.full((3, 2), np.inf)),
    npz("rewards text", "not numbers", rewards=np.full((3, 2), "x")),
    npz("prior length", "prior has shape", prior=np.ones(3) / 3),
    npz("prior sum", "prior sums to", prior=np.array([0.5, 0.6])),
    npz("prior negative", "prior of model", prior=np.array([1.5, -0.5])),
    npz("prior NaN", "prior of model", prior=np.array([np.nan, 1.0])),
    npz("start outside", "start state 3 does not exist", start=3),
    npz("start negative", "start state -1", start=-1),
    npz("start sum", "sums to", start=np.array([0.5, 0.1, 0.1])),
    npz("start shape", "start distribution has shape", start=np.ones(2) / 2),
    npz("start text", "not numbers", start="home"),
    npz("start a half", "start distribution has shape", start=0.5),
    npz("start states float", "whole number per model", start_states=np.ones(2) / 2),
    npz("start twice", "keep one", start=0, start_states=np.array([0, 1])),
    npz("names too few", "1 model names for 2", model_names=np.array(["a"])),
    npz("names equal", "same name", model_names=np.array(["a", "a"])),
    npz("name empty", "0 characters", model_names=np.array(["a", ""])),
    npz("name long", "201 characters", model_names=np.array(["a", "b" * 201])),
    npz("names numbers", "array of strings", model_names=np.array([1, 2])),
    npz("names pickled", "never loaded", model_names=np.array(["a", 1], object)),
    npz("names not UTF-8", "is not text", model_names=np.array([b"\xff", b"a"])),
    npz("state names", "1 state names for 3", state_names=np.array(["a"])),
    npz("action names", "1 action names for 2", action_names=np.array(["a"])),
    npz("parameters alone", "no array 'parameter_names'", parameters=np.ones((2, 1))),
    npz("parameter names alone", "'parameters'", parameter_names=np.array(["a"])),
    npz(
        "parameters shape",
        "parameters have shape",
        parameters=np.ones((2, 2)),
        parameter_names=np.array(["a"]),
    ),
    npz(
        "parameter rows",
        "3 rows of parameters",
        parameters=np.ones((3, 1)),
        parameter_names=np.array(["a"]),
    ),
    npz("offset", "not one finite number", reward_offset=np.array([1.0, 2.0])),
    npz("factor zero", "is zero", reward_factor=0.0),
    npz("factor NaN", "not one finite number", reward_factor=np.nan),
    edges("no probabilities", "no array 'probabilities'", probabilities=None),
    edges("no shape", "no array 'shape'", shape=None),
    edges("three columns", "edges have shape", edges=np.zeros((2, 3), int)),
    edges("floats", "type float64", edges=np.zeros((2, 4))),
    edges("state outside", "names state 5", edges=np.array([[0, 5, 0, 0]] * 2)),
    edges("model negative", "names model -1", edges=np.array([[-1, 0, 0, 0]] * 2)),
    edges("lengths", "2 edges and probabilities", probabilities=np.ones(3)),
    edges("negative", "has probability -1", probabilities=np.array([1.0, -1.0])),
    edges("missing row", "no successor", edges=np.array([[0, 0, 0, 0]] * 2)),
    edges("shape of two", "three whole numbers", shape=np.array([1, 2])),
    edges("shape zero", "at least 1", shape=np.array([0, 2, 1])),
    edges("huge", "only 2 edges", shape=np.array([1, 2**40, 2**10])),
]


def _saved(ending: str, damage: Callable[[bytes], bytes], says: str) -> Case:
    def make(folder: Path) -> list[str]:
        source = folder / "source.npz"
        np.savez(source, **good())
        path = folder / f"model{ending}"
        assert main(["export", str(source), str(path)]) == 0
        path.write_bytes(damage(path.read_bytes()))
        return ["info", str(path)]

    return Case(f"damaged {ending}: {says}", make, says)


def _beside(name: str, command: str, says: str) -> Case:
    """A command about a file in a folder that has lake.npz."""

    def make(folder: Path) -> list[str]:
        np.savez(folder / "lake.npz", **good())
        os.mkdir(folder / "folder.npz")  # noqa: PTH102
        return [command, str(folder / name)]

    return Case(f"{command} {name}", make, says)


def _export(target: str, says: str) -> Case:
    def make(folder: Path) -> list[str]:
        np.savez(folder / "lake.npz", **good())
        (folder / "folder.npz").mkdir()
        return ["export", str(folder / "lake.npz"), str(folder / target)]

    return Case(f"export to {target[:40]!r}", make, says)


def _array(name: str, array: Any, says: str, rewards: Any = None) -> Case:
    def make(folder: Path) -> list[str]:
        np.save(folder / name, array)
        if rewards is not None:
            np.save(folder / f"{Path(name).stem}.rewards.npy", rewards)
        return ["info", str(folder / name)]

    return Case(f"npy {name}: {says}", make, says)


def _zip(label: str, names: list[str], says: str) -> Case:
    def make(folder: Path) -> list[str]:
        with zipfile.ZipFile(folder / "model.npz", "w") as archive:
            for name in names:
                archive.writestr(name, b"hello")
        return ["info", str(folder / "model.npz")]

    return Case(f"zip: {label}", make, says)


def _blocked(folder: Path) -> list[str]:
    (folder / "taken").write_text("a file")
    return ["demo", "--out", str(folder / "taken")]


def _limited(folder: Path) -> list[str]:
    np.savez(folder / "lake.npz", **good())
    return ["info", str(folder / "lake.npz"), "--max-bytes", "100"]


def _flip_last(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


FILES = [
    _beside("lak.npz", "info", "lake.npz"),
    _beside("lake.simgap", "solve", "lake.npz"),
    _beside("nothing.txt", "info", "there is no file"),
    _beside("folder.npz", "diameter", "is a folder"),
    _beside("nowhere/lake.npz", "info", "there is no folder"),
    _beside("a\0b.npz", "info", "there is no file"),
    _beside("x" * 300 + ".npz", "info", "cannot read"),
    raw("csv", "table.csv", b"0,1\n", "which is no model format"),
    raw("no ending", "model.", b"0", "no model format"),
    raw("empty npz", "model.npz", b"", "not a readable .npz"),
    raw("empty simgap", "model.simgap", b"", "not a .simgap file: 0 bytes"),
    raw("empty npy", "model.npy", b"", "kernel without rewards"),
    raw("text npz", "model.npz", b"hello world\n" * 9, "not a readable .npz"),
    raw("pickle as npz", "model.npz", b"\x80\x04K\x01.", "not a readable .npz"),
    raw("npz as simgap", "model.simgap", b"PK\x03\x04" + bytes(60), "not a .simgap"),
    raw(
        "bad header",
        "model.simgap",
        struct.pack("<Q", 4) + b"{]} ",
        "damaged or not a .simgap",
    ),
    raw("no arrays", "model.simgap", struct.pack("<Q", 2) + b"{}", "without a simgap"),
    _saved(".simgap", _flip_last, "does not match its sha256"),
    _saved(".simgap", lambda content: content[:-9], "damaged or not"),
    _saved(".simgap", lambda content: content + b"more", "damaged or not a .simgap"),
    _saved(".npz", lambda content: content[:-9], "not a readable .npz"),
    _zip("not arrays", ["transitions.npy", "rewards.npy"], "not a readable .npz"),
    _zip("a way out", ["../../transitions.npy"], "unknown array"),
    _zip("an absolute name", ["/etc/passwd.npy"], "unknown array"),
    _zip("other files", ["readme.txt"], "unknown array 'readme.txt'"),
    _zip("nothing", [], "no transitions"),
    _array("lake.npy", np.full((3, 2, 3), 1 / 3), "lake.rewards.npy"),
    _array("lake.rewards.npy", np.zeros((3, 2)), "name the kernel: lake.npy"),
    _array("cube.npy", np.full((3, 3, 3), 1 / 3), "cannot say which", np.zeros((3, 3))),
    _array("flat.npy", np.ones(3), "four axes", np.zeros((3, 3))),
    _array("lake.npy", np.full((3, 2, 3), 1 / 3), "rewards have shape", np.zeros(3)),
    _export("lake.txt", "the ending says the format"),
    _export("lake", "the ending says the format"),
    _export("lake.npy", "the ending says the format"),
    _export("folder.npz", "it is a folder"),
    _export("nowhere/lake.npz", "there is no folder"),
    _export("x" * 300 + ".npz", "cannot write"),
    _export("a\0b.npz", "cannot write"),
    Case("demo into a file", _blocked, "cannot make the folder"),
    Case("more than --max-bytes", _limited, "100 bytes are allowed"),
]

CASES = [*COMMANDS, *INSTANCES, *MODELS, *FILES]


def test_the_table_is_long() -> None:
    assert len(CASES) >= 150
    labels = [case.label for case in CASES]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label[:60])
def test_bad_input_is_explained(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = case.make(tmp_path)
    capsys.readouterr()
    status = main(arguments)
    out, err = capsys.readouterr()
    assert case.says in err
    assert status == case.status
    assert err.startswith("error: ")
    assert "\nhint: " in err
    assert out == ""
    assert "Traceback" not in err
    assert "unexpected " not in err.splitlines()[0] or "argument" in err
    assert "defect of simgap" not in err
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("verb", ["info", "solve", "diameter"])
def test_json_does_not_change_how_errors_look(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "no-such-file.npz", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: there is no file")
