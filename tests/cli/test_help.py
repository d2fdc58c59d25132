"""Help: a summary, an example that runs, every option explained; and quick to come."""

from __future__ import annotations

import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from simgap.cli.app.main import main
from simgap.cli.app.program import VERBS, _application

SIMGAP = ("-m", "simgap.cli.app.main")
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
SWEEPS = {"status", "resume", "retry", "verify"}  # verbs about a folder that is there
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


@pytest.mark.slow
@pytest.mark.parametrize("verb", list(VERBS))
def test_the_example_of_the_help_runs_as_printed(
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _run_example(verb, (), capsys)


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


def test_an_example_that_is_wrong_would_be_noticed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(shlex.split(examples("solve")[0].removeprefix("simgap ") + "x")) == 2
    assert "error" in capsys.readouterr().err


def _seconds(*arguments: str) -> float:
    """The least processor time of a few runs of Python: others use the machine too."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode in (0, 2), done.stderr
        found.append(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        )
    return min(found)


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        ((*SIMGAP, "--help"), 0.25),
        ((*SIMGAP, "--version"), 0.25),
        ((*SIMGAP, "orcale", "riverswim"), 0.25),
        ((*SIMGAP, "oracle", "--help"), 0.6),  # typer imports pydantic if it is there
        ((*SIMGAP, "oracle", "riverswim", "--horison"), 0.6),
        (("-c", "import simgap"), 0.5),
        (("-c", "import simgap; simgap.LatentMDP"), 1.0),  # imports numpy
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_simgap_starts_at_once(arguments: tuple[str, ...], limit: float) -> None:
    """Processor time of a cold start; about half of the limit here."""
    assert _seconds(*arguments) < limit


def test_a_slow_start_would_be_noticed() -> None:
    """Importing a kernel is what help must not do."""
    assert _seconds("-c", "import simgap._kernels.solving.travel") > 0.25


def test_no_verb_imports_anything_heavy_before_it_runs() -> None:
    """`simgap VERB --help` and misspelt options are answered at once."""
    script = (
        "import sys\n"
        "from importlib import import_module\n"
        "from simgap.cli.app.program import VERBS\n"
        "for verb in VERBS:\n"
        "    import_module(f'simgap.cli.verbs.{verb}')\n"
        "print(sorted({'numpy', 'numba', 'scipy', 'rich', 'msgspec', 'jinja2', "
        "'gymnasium', 'jax', 'optax', 'mujoco', 'onnxruntime'} & set(sys.modules)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert found.stdout.strip() == "[]"
