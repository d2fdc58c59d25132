"""Help: a summary, an example that runs, every option explained; no heavy import."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from simgap.cli.app.main import main
from simgap.cli.app.program import VERBS, _application

SLOW = {"demo", "study", "reproduce", "train"}  # no option makes their examples quick
QUICK = {  # options that make an example a matter of a moment; the last -H counts
    "audit": ("-H", "6"),
    "oracle": ("-H", "6"),
    "blame": ("-H", "4"),
    "width": ("-H", "6"),
    "identify": ("-H", "6"),
    "adapt": ("-H", "6"),
    "run": ("-H", "1000", "--seeds", "2"),
    "gap": ("-H", "6", "--seeds", "2"),
}
RECORDS = "reproduce lemma-6 --out simgap-reproduce"
PLAN = """question = "gap"
[axes]
model = "riverswim?states=3&success=0.2,0.6"
horizon = [3, 4]
policy = "random"
"""
SWEEPS = {"status", "resume", "retry"}  # verbs about a folder that is there
LOG = "episode,step,state,action,next_state\n0,0,0,1,1\n0,1,1,0,0\n"


def command_of(verb: str) -> Any:
    """The verb as typer has it."""
    return get_command(_application(verb)).commands[verb]  # type: ignore[attr-defined]


def examples(verb: str) -> list[str]:
    """The commands of the `Example:` lines of a help text, each on one line."""
    _, *found = str(command_of(verb).help).split("Example:")
    return [" ".join(each.split("\n\n")[0].split()) for each in found]


@pytest.mark.parametrize("verb", list(VERBS))
def test_help_has_a_summary_an_example_and_every_option_explained(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    command = command_of(verb)
    summary, *_ = command.help.split("\n\n")
    assert summary.rstrip().endswith(".")
    assert len(" ".join(summary.split())) <= 100
    assert VERBS[verb].endswith((".", "?"))
    assert len(VERBS[verb]) <= 80
    assert len(examples(verb)) == 1
    assert examples(verb)[0].startswith(f"simgap {verb}")
    for each in command.params:
        about = str(each.help or "").strip()
        assert about, f"{verb}: {each.name} is not explained"
        assert about.endswith("."), f"{verb}: {each.name}"
        if each.param_type_name == "option" and not each.is_flag:
            assert each.metavar, f"{verb}: {each.name} does not say what it takes"
        for name in (*each.opts, *each.secondary_opts):
            if each.param_type_name == "option":
                assert name in out


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in SLOW])
def test_the_example_of_the_help_runs_on_a_quick_setting(
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _run_example(verb, QUICK.get(verb, ()), capsys)


def _run_example(
    verb: str, quick: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    if verb == "report":
        assert main(shlex.split(RECORDS)) == 0
    if verb in {"sweep", *SWEEPS}:
        Path("plan.toml").write_text(PLAN)
    if verb in SWEEPS:
        assert main(["sweep", "plan.toml", "--out", "rivers"]) == 0
    if verb == "adapt":
        Path("real.csv").write_text(LOG)
    (example,) = examples(verb)
    _, *arguments = shlex.split(example)
    capsys.readouterr()
    status = main([*arguments, *quick])
    out, err = capsys.readouterr()
    assert "error" not in err, example
    assert status in ((0, 1) if verb == "audit" and quick else (0,))  # 1: "no" in 6
    assert out.strip()


HEAVY = {
    *("numpy", "scipy", "numba", "msgspec", "rich", "jinja2", "gymnasium"),
    *("jax", "optax", "mujoco", "onnx", "onnxruntime", "ray"),
}
SIMGAP = "from simgap.cli.app.main import main; main({!r})"


def heavy_imports(script: str) -> set[str]:
    """Return what a fresh Python has imported of HEAVY when a script has run."""
    script += f"\nimport sys; print(*({HEAVY} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("script", "needed"),
    [
        (SIMGAP.format(["--help"]), set()),
        (SIMGAP.format(["--version"]), set()),
        (SIMGAP.format(["orcale", "riverswim"]), set()),
        (SIMGAP.format(["oracle", "--help"]), set()),
        (SIMGAP.format(["oracle", "riverswim", "--horison"]), set()),
        ("import simgap", set()),
        ("import simgap; simgap.LatentMDP", {"numpy"}),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(
    script: str, needed: set[str]
) -> None:
    """How long a start takes is measured by `benchmarks.starting`."""
    assert heavy_imports(script) == needed


def test_a_heavy_import_would_be_noticed() -> None:
    """A kernel is what help must not import."""
    found = heavy_imports("import simgap._kernels.solving.travel")
    assert {"numpy", "numba"} <= found


def test_no_verb_imports_anything_heavy_before_it_runs() -> None:
    """`simgap VERB --help` and misspelt options are answered at once."""
    verbs = "; ".join(f"import simgap.cli.verbs.{verb}" for verb in VERBS)
    assert heavy_imports(verbs) == set()
