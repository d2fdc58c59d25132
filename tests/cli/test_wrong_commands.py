"""Wrong commands are answered with what was meant: the value, and a way out to type."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.cli.app.program import VERBS


@dataclass(frozen=True)
class Wrong:
    """A command in the folder of `folder`, a part of its problem and of its hint."""

    line: str
    problem: str
    hint: str


FIRST_WORDS = [
    Wrong("sovle riverswim", "no verb 'sovle'", "did you mean simgap solve?"),
    Wrong("Oracle riverswim -H 5", "no verb 'Oracle'", "did you mean simgap oracle?"),
    Wrong("oracles", "no verb 'oracles'", "did you mean simgap oracle?"),
    Wrong("auditt riverswim", "no verb 'auditt'", "did you mean simgap audit?"),
    Wrong("blam riverswim", "no verb 'blam'", "did you mean simgap blame?"),
    Wrong("witdh riverswim", "no verb 'witdh'", "did you mean simgap width?"),
    Wrong("identity riverswim", "no verb 'identity'", "did you mean simgap identify?"),
    Wrong("adopt riverswim", "no verb 'adopt'", "did you mean simgap adapt?"),
    Wrong("shema", "no verb 'shema'", "did you mean simgap schema?"),
    Wrong("check riverswim", "no simulator 'riverswim'", "model:INSTANCE"),
    Wrong("compare riverswim", "no verb 'compare'", "did you mean simgap gap?"),
    Wrong("convert lake.npz x.simgap", "no verb 'convert'", "simgap export?"),
    Wrong("ls", "no verb 'ls'", "did you mean simgap list?"),
    Wrong("help", "no verb 'help'", "did you mean simgap --help?"),
    Wrong("help gap", "no verb 'help'", "did you mean simgap gap --help?"),
    Wrong("version", "no verb 'version'", "did you mean simgap --version?"),
    Wrong("xyzzy", "no verb 'xyzzy'", "the verbs are demo, "),
    Wrong("riverswim -H 20", "no verb 'riverswim'", "simgap info riverswim"),
    Wrong("'riverswim?states=4'", "?states=4'", "simgap info 'riverswim?states=4'"),
    Wrong("lakes.simgap", "no verb 'lakes.simgap'", "simgap info lakes.simgap"),
    Wrong("--json info riverswim", "--json before", "simgap info ... --json"),
    Wrong("-H 5 oracle riverswim", "-H before the verb", "simgap oracle ... -H"),
    Wrong("--versoin", "--versoin", "did you mean --version?"),
    Wrong("--horizon 5", "no such option: --horizon", "a verb comes first"),
]

OPTIONS = [
    Wrong("gap riverswim --horison 5", "--horison", "did you mean --horizon?"),
    Wrong("gap riverswim --Horizon 5", "--Horizon", "did you mean --horizon?"),
    Wrong("gap riverswim -horizon 5", "-horizon", "did you mean --horizon?"),
    Wrong("gap riverswim --polcy random", "--polcy", "did you mean --policy?"),
    Wrong("oracle riverswim -H 5 -json", "-json", "did you mean --json?"),
    Wrong("oracle riverswim -H 5 --jsn", "--jsn", "did you mean --json?"),
    Wrong("oracle riverswim -H 5 --time_limit 3", "--time_limit", "--time-limit?"),
    Wrong("oracle riverswim -H 5 --timelimit 3", "--timelimit", "--time-limit?"),
    Wrong("oracle riverswim -H 5 --no-baseline", "--no-baseline", "--no-baselines?"),
    Wrong("oracle riverswim -H 5 --gaptolerance 0.1", "--gapt", "--gap-tolerance?"),
    Wrong("oracle riverswim -H 5 -t 3", "no such option: -t", "oracle takes -H, "),
    Wrong("run random riverswim -H 5 --seedss 3", "--seedss", "did you mean --seeds?"),
    Wrong("run random riverswim -H 5 --Real 0", "--Real", "did you mean --real?"),
    Wrong("reproduce --qick", "--qick", "did you mean --quick?"),
    Wrong("demo --output x", "--output", "did you mean --out?"),
    Wrong("diameter riverswim -H 5", "option: -H", "diameter takes --max-bytes, "),
    Wrong("solve riverswim --discount 0.9", "--discount", "simgap solve takes -H, "),
    Wrong("gap riverswim -H", "'-H' requires an argument", "write -H N (Steps"),
    Wrong("gap riverswim --horizon", "requires an argument", "write --horizon N"),
    Wrong("gap riverswim -H --json", "'--json' follows", "write -H N (Steps"),
    Wrong("gap riverswim --policy -H 5", "'-H' follows", "write --policy P"),
    Wrong("gap riverswim -H=5", "'-H=5' cannot be read", "write -H 5"),
    Wrong("oracle riverswim -H 5 --save", "'--save' requires", "write --save FILE"),
    Wrong("report out -o", "'-o' requires an argument", "write -o FILE"),
    Wrong("info riverswim --json=yes", "does not take a value", "write --json alone"),
]

ARGUMENTS = [
    Wrong("gap", "missing argument 'MODEL'", "for instance: simgap gap 'riverswim"),
    Wrong("oracle -H 5", "missing argument 'MODEL'", "for instance: simgap oracle "),
    Wrong("bounds", "missing argument 'MODEL'", "for instance: simgap bounds "),
    Wrong("solve -H 5", "missing argument 'MODEL'", "for instance: simgap solve "),
    Wrong("run riverswim -H 5", "missing argument 'MODEL'", "simgap run likelihood "),
    Wrong("export riverswim", "missing argument 'FILE'", "for instance: simgap export"),
    Wrong("report", "missing argument 'DIR'", "for instance: simgap report "),
    Wrong("gap riverswim 10", "extra argument '10'", "did you mean -H 10?"),
    Wrong("oracle riverswim 1e3", "extra argument '1e3'", "did you mean -H 1e3?"),
    Wrong("info riverswim chain", "extra argument 'chain'", "simgap info takes MODEL;"),
    Wrong("list pendulun", "no simulator 'pendulun'", "did you mean pendulum?"),
    Wrong("export new.npz riverswim", "no file new.npz", "export riverswim new.npz"),
    Wrong("info ''", "MODEL is empty", "simgap list"),
    Wrong("info -", "not read from standard input", "name a file"),
    Wrong("schema orakel", "no verb 'orakel'", "did you mean simgap schema oracle?"),
    Wrong("schema xyzzy", "no verb 'xyzzy'", "it is one of demo, "),
]

NUMBERS = [
    Wrong("gap riverswim", "no horizon is given", "-H 200"),
    Wrong("bounds riverswim", "no horizon is given", "-H 200"),
    Wrong("run random riverswim", "no horizon is given", "-H 200"),
    Wrong("oracle riverswim", "no horizon is given", "-H 200 or --discount 0.99"),
    Wrong(
        "oracle riverswim -H 5 --discount 0.9", "both a horizon and", "give -H 200 or"
    ),
    Wrong("gap riverswim -H 0", "-H is 0", "it is 1 or more"),
    Wrong("bounds riverswim -H 0", "-H is 0", "it is 1 or more"),
    Wrong("oracle riverswim -H 0", "-H is 0", "it is 1 or more"),
    Wrong("gap riverswim -H -5", "-H is -5", "or more"),
    Wrong("gap riverswim -H 1e99", "-H is 1e99", "it is at most 1000000000"),
    Wrong("gap riverswim -H abc", "-H is 'abc'", "for instance 200 or 1e6"),
    Wrong("gap riverswim -H nan", "-H is 'nan'", "for instance 200 or 1e6"),
    Wrong("gap riverswim -H 5x", "-H is '5x'", "for instance 200 or 1e6"),
    Wrong("gap riverswim -H 2.5", "-H is 2.5", "write for instance 200"),
    Wrong("oracle riverswim --discount 1", "--discount is 1", "such as 0.99"),
    Wrong("oracle riverswim --discount 99%", "--discount is '99%'", "such as 0.99"),
    Wrong("oracle riverswim -H 5 --gap-tolerance 2", "tolerance is 2", "such as 0.05"),
    Wrong("oracle riverswim -H 5 --time-limit 0", "--time-limit is 0", "of seconds"),
    Wrong("gap riverswim -H 5 --seeds 1", "--seeds is 1", "it is 2 or more"),
    Wrong("gap riverswim -H 5 --half-width 0", "--half-width is 0", "above 0"),
    Wrong("run random riverswim -H 5 --threads 0", "--threads is 0", "1 or more"),
    Wrong("run random riverswim -H 5 --seed x", "--seed is 'x'", "a whole number"),
    Wrong("info riverswim --max-bytes 5GB", "'5GB', not a number", "a whole number"),
]

NAMES = [
    Wrong("info riverswm", "no instance 'riverswm'", "did you mean 'riverswim'?"),
    Wrong("info RiverSwim", "no instance 'RiverSwim'", "did you mean 'riverswim'?"),
    Wrong("info 'river swim'", "river swim", "did you mean 'riverswim'?"),
    Wrong("info ./riverswim", "no file riverswim", "did you mean 'riverswim'?"),
    Wrong("info riverswim.npz", "no file riverswim.npz", "did you mean 'riverswim'?"),
    Wrong("info slip-grid", "'slip-grid'", "did you mean 'slip_grid'?"),
    Wrong("info 'riverswim?succes=0.3'", "'succes'", "did you mean 'success'?"),
    Wrong("info 'riverswim&success=0.3'", "&success", "'riverswim?success=0.3'?"),
    Wrong("info 'riverswim states=3'", "states=3", "'riverswim?states=3'?"),
    Wrong("info 'riverswim:states=3'", "states=3", "'riverswim?states=3'?"),
    Wrong("info 'riverswim?states=4,success=0.3'", "two '='", "states=4&success=0.3"),
    Wrong("info 'riverswim?states=4;success=0.3'", "two '='", "states=4&success=0.3"),
    Wrong("info 'riverswim?success=0.2-0.5'", "=0.2-0.5", "success=0.2:0.5:5"),
    Wrong("info 'riverswim?success=0.2:0.5'", "not a range", "as in 0.2:0.5:4"),
    Wrong("info 'riverswim?success=20%'", "success=20%", "write success=0.2"),
    Wrong("info 'riverswim?success=[0.2,0.3]'", "[0.2", "leave the brackets out"),
    Wrong("info 'riverswim?success=1.5'", "success is 1.5", "in (0, 1]"),
    Wrong("info 'riverswim?states=two'", "states=two", "a whole number such as 6"),
    Wrong("info frozenlake", "'frozenlake'", "did you mean 'gym:FrozenLake-v1'?"),
    Wrong("info gymnasium:FrozenLake-v1", "gymnasium:", "'gym:FrozenLake-v1'?"),
    Wrong("info gym:Frozenlake-v1", "'Frozenlake-v1'", "'FrozenLake-v1'?"),
    Wrong("info gym:FrozenLake-v9", "'FrozenLake-v9'", "'FrozenLake-v1'?"),
    Wrong("info gym:CartPole-v1", "continuous", "try 'discretise:CartPole-v1'"),
    Wrong("info 'gym:FrozenLake-v1?slippery=true'", "'slippery'", "'is_slippery'?"),
    Wrong("info 'gym:FrozenLake-v1?terminal=rstart'", "'rstart'", "'restart'?"),
    Wrong("info discretise:Pendulm-v1", "'Pendulm-v1'", "'Pendulum-v1'?"),
    Wrong("info 'discretise:Pendulum-v1?masss=1'", "'masss'", "'mass'?"),
    Wrong("gap riverswim -H 5 --policy randm", "policy 'randm'", "mean random?"),
    Wrong("run likelyhood riverswim -H 5", "'likelyhood'", "did you mean likelihood?"),
    Wrong("run random riverswim -H 5 --real 7", "--real is 7", "from 0 to 0"),
    Wrong("run random lakes.simgap -H 5 --real fastt", "'fastt'", "mean fast?"),
    Wrong("run random lakes.simgap -H 5 --real xyzzy", "'xyzzy'", "from 0 to 1"),
    Wrong("run riverswim random -H 5", "'riverswim', but", "simgap run random river"),
    Wrong("run random riverswim -H 5 --literal", "'random'", "those of elimination"),
    Wrong("oracle riverswim -H 5 --solver exakt", "'exakt'", "did you mean exact?"),
    Wrong("oracle riverswim -H 5 --solver sarsop", "'sarsop'", "auto, exact, bounded"),
    Wrong("reproduce theorem2", "no claim 'theorem2'", "did you mean theorem-2?"),
    Wrong("reproduce theorem 2", "no claim 'theorem'", "did you mean theorem-2?"),
    Wrong("reproduce Lemma-5", "no claim 'Lemma-5'", "did you mean lemma-5?"),
    Wrong("reproduce xyzzy", "no claim 'xyzzy'", "claims: theorem-1, "),
    Wrong("reproduce theorem-1 --quick --full", "both --quick", "give one of them"),
]

FILES = [
    Wrong("info lakes.simgp", "no file lakes.simgp", "did you mean lakes.simgap?"),
    Wrong("info lakse.simgap", "no file lakse.simgap", "did you mean lakes.simgap?"),
    Wrong("info lakes.npz", "no file lakes.npz", "did you mean lakes.simgap?"),
    Wrong("info here/lake.npz", "no file here/lake.npz", "no folder here either"),
    Wrong("info table.csv", "ending '.csv'", "model files end in .simgap, .npz, .npy"),
    Wrong("info records", "records is a folder", "name a model file in it"),
    Wrong("info unfair.npz", "prior sums to 1.1", "divide it by its sum"),
    Wrong("info oracle.json", "ending '.json'", "model files end in .simgap"),
    Wrong("export riverswim lake.csv", "'lake.csv'", ".simgap or .npz"),
    Wrong("export riverswim lake", "model as 'lake'", ".simgap or .npz"),
    Wrong("export riverswim no/lake.npz", "no folder no", "make the folder first"),
    Wrong("oracle riverswim -H 5 --save p.npz", "'p.npz'", "--save policy.simgap"),
    Wrong("report record", "the folder record: there", "did you mean records?"),
    Wrong("report nowhere-near", "nowhere-near", "--out DIR"),
    Wrong("report records", "no record in 'records'", "--out DIR"),
    Wrong("reproduce theorem-1 --out table.csv", "table.csv", "with --out DIR"),
    Wrong("demo --out table.csv", "make the folder table.csv", "with --out DIR"),
]

THREE = "'riverswim?success=0.2:0.5:3'"

ANSWERS = [
    Wrong("audit riverswim -H 0", "-H is 0", "it is 1 or more"),
    Wrong("audit riverswim -H 5 --acceptible 1", "--acceptible", "--acceptable?"),
    Wrong("audit riverswim -H 5 --acceptable 10%", "'10%'", "such as 0.1"),
    Wrong("audit riverswim -H 5 --out table.csv", "table.csv", "with --out DIR"),
    Wrong("blame riverswim", "no horizon is given", "-H 200"),
    Wrong(f"blame {THREE} -H 5 --group succes", "'succes'", "did you mean success?"),
    Wrong(f"blame {THREE} -H 5 --nominal 9", "no model '9'", "from 0 to 2"),
    Wrong(f"blame {THREE} -H 5 --nominal success=0.33", "=0.33'", "success=0.35?"),
    Wrong(f"blame {THREE} -H 5 --permutations 0", "--permutations is 0", "or more"),
    Wrong("width riverswim", "no horizon is given", "-H 200"),
    Wrong(f"width {THREE} -H 5 --param succes", "'succes'", "did you mean success?"),
    Wrong(f"width {THREE} -H 5 --nominal x", "'x', not a number", "--nominal 0.5"),
    Wrong(f"width {THREE} -H 5 --widths '1;2'", "'1;2'", "--widths 0,0.2,0.4"),
    Wrong(f"width {THREE} -H 5 --criterion averge", "'averge'", "average"),
    Wrong(f"width {THREE} -H 5 --slack 2", "slack is 2", "from 0 to 1"),
    Wrong(f"identify {THREE} -H 5 --error 2", "--error is 2", "such as 0.05"),
    Wrong(f"identify {THREE} -H 5 --eror 0.1", "--eror", "did you mean --error?"),
    Wrong("adapt riverswim -H 5", "no log is given", "--log real.csv"),
    Wrong("adapt riverswim -H 5 --log tabel.csv", "no file tabel.csv", "table.csv?"),
    Wrong("adapt riverswim -H 5 --log x --save-model x.csv", "models", "--save-model "),
    Wrong("adapt riverswim -H 5 --log table.csv", "not a header", "episode,step"),
    Wrong("adapt riverswim -H 5 --log records", "a folder", "name a CSV file in it"),
    Wrong("adapt riverswim table.csv -H 5", "'table.csv'", "--log table.csv?"),
    Wrong("adapt riverswim -H 5 --log x --rewards exakt", "'exakt'", "mean exact?"),
    Wrong("adapt riverswim -H 5 --log x --false-alarm 5", "is 5", "such as 0.01"),
    Wrong("study riverswim", "no horizon is given", "-H 200"),
    Wrong("study riverswm -H 5", "'riverswm'", "did you mean 'riverswim'?"),
    Wrong("study riverswim -H 5 --time-limit -1", "limit is -1", "seconds above 0"),
    Wrong("study riverswim -H 5 --log no.csv", "no file no.csv", "folder: table.csv"),
    Wrong("study riverswim -H 5 --out table.csv", "table.csv", "with --out DIR"),
]

WRONG = [*FIRST_WORDS, *OPTIONS, *ARGUMENTS, *NUMBERS, *NAMES, *FILES, *ANSWERS]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a class in lakes.simgap and things that are none."""
    monkeypatch.chdir(tmp_path)
    arrays = {
        "transitions": np.full((2, 2, 1, 2), 0.5),
        "rewards": np.zeros((2, 1)),
        "model_names": np.array(["slow", "fast"]),
    }
    np.savez("source.npz", **arrays)  # type: ignore[arg-type]
    assert main(["export", "source.npz", "lakes.simgap"]) == 0
    Path("source.npz").unlink()
    np.savez("unfair.npz", **arrays, prior=np.array([0.5, 0.6]))  # type: ignore[arg-type]
    Path("table.csv").write_text("0,1\n")
    Path("oracle.json").write_text("{}\n")
    Path("records").mkdir()
    return tmp_path


def test_the_table_is_long_and_says_things_once() -> None:
    lines = [wrong.line for wrong in WRONG]
    assert len(lines) >= 150
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.line)
def test_a_wrong_command_is_answered(
    wrong: Wrong, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the same two lines on standard error with --json, and nothing beside them."""
    plain = shlex.split(wrong.line)
    last = plain[-1].startswith("-")  # --json would be its value: put it before
    as_json = [plain[0], "--json", *plain[1:]] if last else [*plain, "--json"]
    for arguments in (plain, as_json):
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        problem, hint = err.splitlines()  # two lines, no traceback
        assert problem.startswith("error: ")
        assert hint.startswith("hint: ")
        assert wrong.problem in problem
        assert wrong.hint in hint
        assert (status, out) == (2, "")
        assert "defect" not in hint


def test_what_hints_say_can_be_typed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Suggested commands and names are good ones: the way out leads out."""
    for line in (
        "info 'riverswim?states=4'",
        "info 'riverswim?states=4&success=0.3'",
        "info 'riverswim?success=0.2:0.5:5'",
        "info gym:FrozenLake-v1",
        "info lakes.simgap",
        "export riverswim new.npz",
        "schema oracle",
        "gap --help",
        "--version",
    ):
        assert main(shlex.split(line)) == 0, line
    capsys.readouterr()


def test_values_may_look_like_options_and_numbers_like_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is right is not taken for a slip."""
    Path("-H.npz").write_bytes(Path("unfair.npz").read_bytes())
    for line in (
        "solve riverswim -H5 --json",
        "solve riverswim --horizon=5 --json",
        "solve --json -H 5 -- riverswim",
        "oracle riverswim -H 4 --no-baselines --json",
    ):
        assert main(shlex.split(line)) == 0, line
        assert json.loads(capsys.readouterr().out)["schema"] == 1
    assert main(["info", "--", "-H.npz"]) == 2
    assert "prior sums to" in capsys.readouterr().err


@pytest.mark.parametrize("verb", list(VERBS))
def test_every_verb_suggests_its_own_options(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for slip in ("--jsom", "--JSON", "-json"):
        assert main([verb, slip]) == 2
        out, err = capsys.readouterr()
        assert f"no such option: {slip}" in err
        assert "did you mean --json?" in err
        assert out == ""


SOUND = (  # quick ones, so that a slip which changes nothing costs nothing
    "info riverswim?states=3&success=0.3:0.6:2 --json",
    "info gym:FrozenLake-v1?terminal=restart",
    "solve riverswim?states=3 -H 5 --json",
    "diameter lakes.simgap --max-bytes 9000",
    "export riverswim?states=3 new.npz --json",
    "run random lakes.simgap -H 5 --real fast --seeds 2 --threads 1",
    "oracle lakes.simgap -H 3 --no-baselines --solver exact --seed 1",
    "adapt lakes.simgap -H 3 --log table.csv --rewards exact",
    "width lakes.simgap -H 3 --param success --criterion worst",
)
SIGNS = "abcxyz-_=?&:,.;% /é\0"  # no digits: a horizon must not grow


def _slip(words: list[str], rng: Random) -> list[str]:
    """The command after one slip of a hand."""
    at = rng.randrange(len(words))
    word, new = words[at], list(words)
    i = rng.randrange(len(word))
    kinds = [
        word[:i] + word[i + 1 :],
        word[:i] + word[i : i + 2][::-1] + word[i + 2 :],
        word[:i] + rng.choice(SIGNS) + word[i:],
        word[:i] + rng.choice(SIGNS) + word[i + 1 :],
    ]
    chosen = rng.randrange(len(kinds) + 2)
    if chosen < len(kinds):
        new[at] = kinds[chosen]
    elif chosen == len(kinds):
        del new[at]
    else:
        new.insert(at, word)
    return new


@pytest.mark.parametrize("line", SOUND)
def test_one_slip_is_never_a_defect(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, refused = Random(line), 0
    for _ in range(60):
        arguments = _slip(line.split(), rng)
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert status in (0, 2), arguments
        if status == 2:
            refused += 1
            assert out == "", arguments
            assert [each[:6] for each in err.splitlines()] == ["error:", "hint: "]
            assert "defect" not in err, arguments
    assert refused > 20
