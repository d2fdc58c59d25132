"""Names written by an enemy: a terminal shows them and does what it did before."""

from __future__ import annotations

import json
import re
from pathlib import Path
from unicodedata import category

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.text import clean, shown

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "[red]bold[/red] [link=http://evil]x[/link]",
    "[/]",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\u202eevil\u202c",
    "a\u200bb\u2066c\u2069",
    "line\nbreak\rreturn\ttab",
    "nul\x00inside",
    "\x9b31m",
    "emoji 🙂 and ünïcode",
    ":smile: ${HOME} $(reboot) `ls`",
    "=cmd|' /C calc'!A0",
    "../../etc/passwd",
    "-rf",
    "{{ 7 * 7 }}{% raw %}",
    "\u2028\u2029",
    "w" * 200,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    members = len(HOSTILE)
    path = tmp_path_factory.mktemp("hostile") / "model.npz"
    np.savez(
        path,
        transitions=np.full((members, 2, 1, 2), 0.5),
        rewards=np.zeros((2, 1)),
        model_names=np.array(HOSTILE),
        state_names=np.array(HOSTILE[:2]),
        action_names=np.array(HOSTILE[4:5]),
        parameters=np.zeros((members, 1)),
        parameter_names=np.array(["\x1b[31m[red]<b>"]),
        notes=np.array(HOSTILE),
    )
    return str(path)


def harmless(text: str) -> bool:
    return all(
        each == "\n" or category(each) not in ("Cc", "Cf", "Zl", "Zp") for each in text
    )


@pytest.mark.parametrize("verb", ["info", "diameter", "solve", "oracle", "audit"])
def test_a_terminal_is_not_steered(
    verb: str,
    model: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    steps = ["-H", "3"] if verb in ("oracle", "audit") else []
    assert main([verb, model, *steps]) in (0, 1)
    out, err = capsys.readouterr()
    assert harmless(out)
    assert "error" not in err
    assert "[red]bold[/red]" in out  # markup is shown, not obeyed
    assert "<script>alert(1)</script>" in out


def test_json_keeps_names_as_they_are_and_steers_no_terminal(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", model, "--json"]) == 0
    out = capsys.readouterr().out
    assert tuple(json.loads(out)["names"]) == HOSTILE
    assert harmless(out)


def test_records_and_the_page_about_them_are_harmless(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["oracle", model, "-H", "3", "--out", str(tmp_path)]) == 0
    assert main(["report", str(tmp_path)]) == 0
    assert harmless(capsys.readouterr().out)
    assert harmless((tmp_path / "oracle.json").read_text())
    page = (tmp_path / "report.html").read_text()
    page = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)  # our own
    assert harmless(page)
    assert r"\x9b31m" in page


def test_an_error_message_is_cleaned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.full((2, 2, 1, 2), 0.4)
    names = np.array(["\x1b[2J[red]\nerror: fake", "b"])
    path = tmp_path / "model.npz"
    np.savez(path, transitions=kernel, rewards=np.zeros((2, 1)), model_names=names)
    for arguments in (["info", str(path)], ["\x1b[2J"], ["info", "\x1b[2J\n?x=\x07"]):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert harmless(err)
        assert len(err.splitlines()) == 2


def test_bytes_of_a_file_name_that_are_not_text_do_no_harm(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["info", "\udcff.npz", "--json"]) == 2
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.parametrize("name", HOSTILE)
def test_cleaning_is_final_and_keeps_something(name: str) -> None:
    assert clean(clean(name)) == clean(name)
    assert harmless(shown(name))
    assert shown(name).strip()
    assert len(shown(name)) <= 60
