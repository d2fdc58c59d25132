"""`simgap study`: every record in one folder; what is there is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.cli.app.main import main

RIVERS = "riverswim?states=3&success=0.2,0.8&left_reward=0.4"
HORIZON = "6"


def study(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    capsys.readouterr()
    arguments = ["study", RIVERS, "-H", HORIZON, "--out", str(folder), "--json", *more]
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study."""
    folder = tmp_path_factory.mktemp("study") / "rivers"
    assert main(["study", RIVERS, "-H", HORIZON, "--out", str(folder), "--json"]) == 0
    return folder


def test_the_folder_has_every_record_and_the_page(done: Path) -> None:
    assert sorted(each.name for each in done.iterdir()) == [
        "audit.json",
        "blame.json",
        "driver.lock",
        "gap.json",
        "identify.json",
        "ledger.sqlite",
        "model.simgap",
        "oracle.json",
        "policy.belief.simgap",
        "policy.simgap",
        "report.html",
        "width-success.json",
    ]


def test_a_record_is_what_its_own_command_gives(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command a record names gives the same record, up to the command itself.

    Answers that share the study's plan name the study.
    """
    import shlex

    for name in ("audit", "gap", "blame", "width-success", "identify"):
        kept = json.loads((done / f"{name}.json").read_bytes())
        _, *arguments = shlex.split(kept["provenance"]["command"])
        capsys.readouterr()
        if arguments[0] == "study":
            again_at = arguments[arguments.index("--out") + 1]
            arguments[arguments.index(again_at)] = str(tmp_path)
            assert main(arguments) == 0
            again = json.loads((tmp_path / f"{name}.json").read_bytes())
        else:
            assert main([*arguments, "--json"]) in (0, 1)
            again = json.loads(capsys.readouterr().out)
        for each in (kept, again):
            each["provenance"].pop("command")
        assert again == kept


WHERE = (  # in the records of audit and oracle, blame, adapt, width, identify, and all
    ("average_gap",),
    ("whole",),
    ("gap_bound_before",),
    ("least_possible",),
    ("timeline", "average_gap"),
    ("memory", "with_memory"),
)


def brackets_of_the_oracle(record: dict[str, Any]) -> Iterator[Any]:
    """Yield every bracket of the oracle's average loss in a record."""
    for keys in WHERE:
        found: Any = record
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            yield found
    for each in record.get("by_horizon") or ():
        if each["horizon"] == record["horizon"]:
            yield each["average_gap"]
    for each in record.get("widths") or ():
        if each["models"] == len(record["real"]):  # the range is the class
            yield each["inside"]


def one_each(folder: Path) -> dict[str, set[str]]:
    """Return every bracket of three quantities that the records of a folder tell."""
    told: dict[str, set[str]] = {"loss": set(), "memory": set(), "stake": set()}
    for path in folder.glob("*.json"):
        record = json.loads(path.read_bytes())
        found = list(brackets_of_the_oracle(record))
        assert len(found) > 0, path
        told["loss"].update(map(json.dumps, found))
        for key, name in (("value_of_memory", "memory"), ("at_stake", "stake")):
            if record.get(key) is not None:
                told[name].add(json.dumps(record[key]))
    return told


def test_one_quantity_has_one_bracket_in_all_records(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = study(done, capsys, "--fresh")
    told = one_each(done)
    assert told["loss"] == {json.dumps(found["average_gap"])}
    assert told["memory"] == {json.dumps(found["value_of_memory"])}
    assert len(told["stake"]) == 1


def test_one_quantity_has_one_bracket_where_planning_leaves_it_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A class with too many beliefs to follow: every plan would end elsewhere."""
    lakes = "gym:FrozenLake-v1?success_rate=0.4,0.6,0.9&terminal=restart"
    arguments = ["study", lakes, "-H", "60", "--out", str(tmp_path), "--json"]
    assert main([*arguments, "--time-limit", "5"]) == 0
    found = json.loads(capsys.readouterr().out)
    low, high = (found["average_gap"][end] for end in ("lower", "upper"))
    assert high - low > 1e-6
    told = one_each(tmp_path)
    assert told["loss"] == {json.dumps(found["average_gap"])}
    assert told["memory"] == {json.dumps(found["value_of_memory"])}
