"""Policy files: what goes in comes out, and whatever is wrong is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidFile
from simgap.interop import load_model, save_model
from simgap.interop.policy_file import read_policy
from simgap.oracle.loss_form import loss_form
from simgap.policies import Pattern, load_policy, save_policy
from tests.interop.test_mutations import mutated
from tests.policies.cases import AnyPolicy, one_of_each, random_latent


def every_policy(seed: int, *, infinite: bool = False) -> list[AnyPolicy]:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng)
    form = loss_form(latent, discount=0.9) if infinite else loss_form(latent, horizon=4)
    return one_of_each(rng, form)


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, Pattern):
        return one.same(other)
    return bool(one == other)


@pytest.mark.parametrize("seed", range(4))
def test_a_loaded_policy_is_the_saved_one(seed: int, tmp_path: Path) -> None:
    for policy in every_policy(seed, infinite=seed % 2 == 1):
        path = tmp_path / "policy.simgap"
        save_policy(policy, path)
        loaded = load_policy(path)
        assert type(loaded) is type(policy)
        for field in fields(policy):
            assert equal(getattr(loaded, field.name), getattr(policy, field.name))


def test_equal_policies_make_equal_files(tmp_path: Path) -> None:
    for number, policy in enumerate(every_policy(0)):
        one, other = tmp_path / f"{number}.a", tmp_path / f"{number}.b"
        save_policy(policy, one)
        save_policy(load_policy(one), other)
        assert one.read_bytes() == other.read_bytes()


def test_a_model_is_not_a_policy_and_a_policy_is_not_a_model(tmp_path: Path) -> None:
    path = tmp_path / "m.simgap"
    save_model(random_latent(np.random.default_rng(0)), path)
    with pytest.raises(InvalidFile, match="is a model, not a policy"):
        load_policy(path)
    for policy in every_policy(0):
        save_policy(policy, path)
        with pytest.raises(InvalidFile, match="is a policy, not a model"):
            load_model(path)


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "p"
    for policy in every_policy(1):
        save_policy(policy, path)
        content = path.read_bytes()
        for length in range(0, len(content), 1 + len(content) // 60):
            path.write_bytes(content[:length])
            with pytest.raises(InvalidFile):
                load_policy(path)


@pytest.mark.parametrize("seed", range(6))
def test_mutated_bytes_are_refused_or_change_nothing(seed: int, tmp_path: Path) -> None:
    """One to four bytes changed, dropped or added."""
    rng = np.random.default_rng(seed)
    path, again = tmp_path / "p", tmp_path / "q"
    refused = 0
    policies = every_policy(seed)
    for policy in policies:
        save_policy(policy, path)
        content = path.read_bytes()
        for _ in range(60):
            path.write_bytes(mutated(content, rng))
            try:
                loaded = load_policy(path)
            except InvalidFile as error:
                assert error.hint
                refused += 1
                continue
            save_policy(loaded, again)
            assert again.read_bytes() == content
    assert refused > 50 * len(policies)


def forged(
    path: Path, arrays: Mapping[str, AnyArray], changes: Mapping[str, object]
) -> None:
    """Replace arrays and facts of a policy file; digests and seal are right again."""
    stored = read_policy(path)
    about = msgspec.to_builtins(stored.description) | dict(changes)
    parts = dict(load_file(path)) | dict(arrays)
    text = msgspec.json.encode(about)
    sums = msgspec.json.encode({key: digest(each) for key, each in parts.items()})
    header = {
        "description": msgspec.Raw(text),
        "sha256": msgspec.Raw(sums),
        "seal": digest(text, sums),
    }
    metadata = {"simgap": msgspec.json.encode(header).decode()}
    save_file(parts, path, metadata=metadata)


def refuses(path: Path, policy: AnyPolicy, changes: Mapping[str, Any]) -> None:
    """Assert that a sealed file with these changes is refused with a hint."""
    save_policy(policy, path)
    arrays = {k: v for k, v in changes.items() if isinstance(v, np.ndarray)}
    facts = {k: v for k, v in changes.items() if k not in arrays}
    forged(path, arrays, facts)
    with pytest.raises(InvalidFile) as caught:
        load_policy(path)
    assert caught.value.problem


def test_forging_alone_is_not_what_is_refused(tmp_path: Path) -> None:
    """Without changes a forged file loads: the refusals below have other reasons."""
    for policy in every_policy(2):
        save_policy(policy, tmp_path / "p")
        forged(tmp_path / "p", {}, {})
        load_policy(tmp_path / "p")


@pytest.mark.parametrize("seed", range(3))
def test_sealed_files_with_wrong_numbers_are_refused(seed: int, tmp_path: Path) -> None:
    """Each array in turn: another shape, too large, too small, not a number."""
    path = tmp_path / "p"
    for policy in every_policy(seed):
        save_policy(policy, path)
        for key, array in read_policy(path).arrays.items():
            if array.size == 0:
                continue
            refuses(path, policy, {key: np.append(array.ravel(), array.ravel()[:1])})
            refuses(path, policy, {key: array.astype(np.float32)})
            if key not in ("losses", "vectors"):
                refuses(path, policy, {key: _with_last(array, 2**31 - 1)})
                refuses(path, policy, {key: _with_last(array, -2)})
            if array.dtype.kind == "f":
                refuses(path, policy, {key: _with_last(array, np.nan)})
        for change in (
            {"kind": "Pickle"}, {"schema": 2}, {"states": 2}, {"actions": 0},
            {"states": -1}, {"actions": 2**40}, {"horizon": 1}, {"horizon": "x"},
            {"horizon": -4}, {"name": ""}, {"name": 3},
        ):  # fmt: skip
            if "horizon" in change and change["horizon"] == policy.horizon:
                continue
            refuses(path, policy, change)


def _with_last(array: AnyArray, value: float) -> AnyArray:
    changed = np.array(array)
    changed.flat[-1] = value
    return changed
