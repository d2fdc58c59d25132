"""The documents are true: names exist, tests exist, code blocks and commands run."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAPER_MAP, ERRATA = ROOT / "docs" / "paper-map.md", ROOT / "docs" / "errata.md"
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SEVERITIES = {"A", "B", "C", "A/B"}
STATUSES = {"verified", "checked lightly", "open"}

ITEMS = (
    *(f"Theorem {i}:" for i in range(1, 8)),
    *(f"Lemma {i}:" for i in range(1, 11)),
    *(f"Proposition {i}:" for i in (1, 2)),
    *(f"Assumption {i}:" for i in (1, 2, 3)),
    *(f"Definition {i}:" for i in (1, 2, 3)),
    *(f"Algorithm {i}:" for i in (1, 2, 3, 4)),
    "Episodic MDP",
    "History-dependent policy",
    "Simulator class U",
    "Sim-to-real gap",
    "Latent MDP",
    "Regret",
    "Function class F",
    "Covering number",
)


def table(text: Path) -> list[dict[str, str]]:
    """Return the rows of the one table of a document, by column name."""
    lines = [line for line in text.read_text().splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    header, _, *body = rows
    return [dict(zip(header, row, strict=True)) for row in body]


def names_in(cell: str) -> list[str]:
    return [] if cell in ("-", "open") else [name.strip() for name in cell.split(",")]


def look_up(name: str) -> object:
    """Import the longest module in a dotted name below simgap, then go on inside it."""
    parts = ["simgap", *name.split(".")]
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


def check_test(reference: str) -> None:
    path, _, wanted = reference.partition("::")
    file = ROOT / path
    assert file.is_file(), f"{path} does not exist"
    if wanted:
        tree = ast.parse(file.read_text())
        names = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        assert wanted in names, f"no {wanted} in {path}"


def blocks(text: Path, language: str) -> list[str]:
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return fence.findall(text.read_text())


FIRST_HOUR = ROOT / "docs" / "first-hour.md"
REAL_SIMULATORS = ROOT / "docs" / "real-simulators.md"
REAL_LOGS = ROOT / "docs" / "real-logs.md"
LEAST_COMMANDS = {FIRST_HOUR: 20, REAL_SIMULATORS: 8, REAL_LOGS: 1}
IN_ORDER = tuple(LEAST_COMMANDS)  # their blocks follow each other
CODE_BLOCKS = [
    pytest.param(block, id=f"{text.name}-{i}")
    for text in TEXTS
    if text not in IN_ORDER
    and text.name != "CONTRIBUTING.md"  # these are files: test_contributing.py
    for i, block in enumerate(blocks(text, "python"))
]
COMMANDS = [
    line
    for block in blocks(ROOT / "README.md", "sh")
    for line in block.splitlines()
    if line.startswith("simgap ")
]


@pytest.mark.parametrize("text", [PAPER_MAP, ERRATA], ids=lambda text: text.name)
def test_every_name_in_the_tables_exists(text: Path) -> None:
    rows = table(text)
    for row in rows:
        for name in names_in(row["code"]):
            look_up(name)
        for reference in names_in(row["test"]):
            check_test(reference)
        assert bool(names_in(row["code"])) == bool(names_in(row["test"])), row


@pytest.mark.parametrize("text", [PAPER_MAP, ERRATA], ids=lambda text: text.name)
def test_every_experiment_in_the_tables_is_a_claim(text: Path) -> None:
    from simgap.experiments.catalogue import claim_names

    told = {name for row in table(text) for name in names_in(row["experiment"])}
    assert told <= set(claim_names())


def test_every_claim_stands_somewhere_in_the_documents() -> None:
    from simgap.experiments.catalogue import claim_names

    text = "".join(each.read_text() for each in TEXTS)
    missing = [name for name in claim_names() if name not in text]
    assert set(missing) <= {"control"}


def test_the_paper_map_has_every_item_of_the_paper() -> None:
    rows = table(PAPER_MAP)
    items = [row["paper item"] for row in rows]
    assert len(items) == len(set(items))
    for item in ITEMS:
        found = [each for each in items if each.startswith(item)]
        assert len(found) == 1, f"{item!r} has {len(found)} rows"


def test_the_paper_map_calls_open_exactly_what_has_no_code() -> None:
    for row in table(PAPER_MAP):
        assert row["status"] in STATUSES, row
        assert (row["status"] == "open") == (row["code"] == "-"), row


def test_the_errata_are_all_there() -> None:
    rows = table(ERRATA)
    assert [row["id"] for row in rows] == [f"E{i}" for i in range(1, 44)]
    for row in rows:
        assert row["severity"] in SEVERITIES, row
        assert all(row[column] for column in ("where", "issue", "repair")), row


def test_every_erratum_with_a_test_of_its_own_is_in_the_table() -> None:
    tree = ast.parse((ROOT / "tests" / "test_errata.py").read_text())
    numbers = {
        match.group(1)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and (match := re.match(r"test_e(\d+)_", node.name))
    }
    closed = {row["id"][1:] for row in table(ERRATA) if row["test"] != "open"}
    assert numbers <= closed


@pytest.mark.parametrize("block", CODE_BLOCKS)
def test_code_blocks_run(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "<document>", "exec"), {"__name__": "__main__"})


def test_commands_of_the_readme_run_in_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from simgap.cli.app.main import main

    assert COMMANDS
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    for command in COMMANDS:
        _, *arguments = shlex.split(command)
        assert main(arguments) == 0, command
        assert capsys.readouterr().out.strip(), command


@pytest.mark.parametrize("text", IN_ORDER, ids=lambda text: text.stem)
def test_a_tutorial_runs_in_order(
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command and every block of Python of the page, in one folder.

    A block that begins with the name of a file is that file.
    """
    from simgap.cli.app.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    fence = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    commands = 0
    for language, block in fence.findall(text.read_text()):
        if language == "python":
            if (file := re.match(r"# (\w+\.py)\n", block)) is not None:
                (tmp_path / file[1]).write_text(block)
            exec(compile(block, f"<{text.stem}>", "exec"), {"__name__": "__main__"})
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "simgap", line
            status = main(arguments)
            out, err = capsys.readouterr()
            assert status == 0, f"{line}\n{err}"
            assert out.strip(), line
            commands += 1
    assert commands >= LEAST_COMMANDS[text]


def test_the_readme_prints_one_way_to_run_and_one_to_test() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    install = [line for line in lines if line.startswith("python3 -m venv ")]
    assert len(install) == 2
    assert install[0].endswith(".venv/bin/simgap demo")
    assert install[1].endswith(".venv/bin/python -m pytest")
    check = ROOT / ".ci" / "run"
    pattern = re.search(r"grep -E '(.*)' README", check.read_text())
    assert pattern is not None
    assert [line for line in lines if re.search(pattern[1], line)] == install[1:]
    assert os.access(check, os.X_OK)
    subprocess.run(["bash", "-n", str(check)], check=True)


def test_links_between_documents_lead_somewhere() -> None:
    for text in TEXTS:
        for target in re.findall(r"\]\(([^)#]+)\)", text.read_text()):
            assert "://" not in target, f"{text.name} links to {target}"
            assert (text.parent / target).exists(), f"{text.name}: {target}"


def test_the_versions_agree() -> None:
    version = re.search(r'^version = "(.+)"$', _read("pyproject.toml"), re.MULTILINE)
    assert version is not None
    assert f"\nversion: {version[1]}\n" in _read("CITATION.cff")
    assert f"\n## {version[1]}\n" in _read("CHANGELOG.md")


def _read(name: str) -> str:
    return (ROOT / name).read_text()
