"""Is this a simulator? Every refusal names model, state, action, numbers, way out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simgap.arrays import BoolArray, FloatArray, OffsetArray, read_only
from simgap.errors import InvalidModel
from simgap.mdp.labels import Labels
from simgap.mdp.transitions import Transitions

ROW_TOLERANCE = 1e-9  # a row sum further from 1 is an error, not rounding
LEAST_CHANCE = 1e-60  # probabilities are 0 or at least this
LARGEST_REWARD = 1e15  # sums over 10^9 steps are floats of 32 bits, as policies store
LEAST_REWARD = 1e-28  # if a model has none above it, these sums would underflow
SHOWN = 6  # entries of an offending row that an error message prints


def check_rows(
    transitions: Transitions, model_names: tuple[str, ...], labels: Labels
) -> None:
    """Raise unless every row of every model is a distribution over states."""
    _check_pattern(transitions, labels)
    for member in range(transitions.n_models):
        row = _first_bad_row(transitions, member)
        if row is not None:
            raise _row_error(transitions, member, row, model_names[member], labels)


def normalise_rows(indptr: OffsetArray, values: FloatArray) -> int:
    """Divide rows whose sum is off by more than rounding; return how many there were.

    A defect e of a row sum moves hitting times by about e D^2, so input that was
    rounded on its way here is repaired. Rows off by more than 1e-9 are left as they
    are: `check_rows` refuses them with their own numbers.
    """
    lengths = np.diff(indptr)
    if lengths.size == 0 or (lengths <= 0).any():
        return 0  # an empty row; check_rows will say so
    slack = 4.0 * np.finfo(np.float64).eps * np.maximum(lengths, 1)
    repaired = 0
    for member in range(values.shape[0]):
        sums = np.add.reduceat(values[member], indptr[:-1])
        defect = np.abs(sums - 1.0)
        with np.errstate(invalid="ignore"):
            off = (defect > slack) & (defect <= ROW_TOLERANCE)
        if off.any():
            divisor = np.where(off, sums, 1.0)
            values[member] /= np.repeat(divisor, lengths)
            repaired += int(off.sum())
    return repaired


def checked_rewards(
    rewards: npt.ArrayLike, members: int, n_states: int, n_actions: int
) -> FloatArray:
    """Return rewards as (1, S, A) if shared, (M, S, A) if they depend on the model."""
    given = as_floats(rewards, "rewards")
    shape = (n_states, n_actions)
    if given.shape == shape:
        given = given.reshape(1, *shape)
    if given.shape not in ((1, *shape), (members, *shape)):
        raise InvalidModel(
            f"rewards have shape {given.shape}; {n_states} states and {n_actions} "
            f"actions need {shape}, or {(members, *shape)} if they depend on the model",
            hint="rewards are indexed [state, action] or [model, state, action]",
        )
    bad = ~np.isfinite(given)
    if bad.any():
        m, s, a = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidModel(
            f"reward of (s={s}, a={a}) in model {m} is {given[m, s, a]}",
            hint="rewards must be finite numbers",
        )
    if np.abs(given).max(initial=0.0) > LARGEST_REWARD:
        m, s, a = (int(i) for i in np.argwhere(np.abs(given) > LARGEST_REWARD)[0])
        raise InvalidModel(
            f"reward of (s={s}, a={a}) in model {m} is {given[m, s, a]}",
            hint=f"rewards are at most {LARGEST_REWARD:g}: use larger units",
            code="reward-range",
        )
    largest = np.abs(given).max(axis=(1, 2), initial=0.0)
    faint = (largest > 0.0) & (largest < LEAST_REWARD)
    if faint.any():
        m = int(np.argmax(faint))
        raise InvalidModel(
            f"no reward of model {m} is larger than {largest[m]}",
            hint=f"rewards that are all below {LEAST_REWARD:g} would underflow: use "
            "smaller units",
            code="reward-range",
        )
    frozen: FloatArray = read_only(given)
    return frozen


def checked_start(start: npt.ArrayLike, members: int, n_states: int) -> FloatArray:
    """Return start states as int64 (1,) or (M,), distributions as (1, S) or (M, S)."""
    given = np.asarray(start)
    if given.dtype.kind in "iu":
        states = given.reshape(1) if given.ndim == 0 else given
        if states.shape not in ((1,), (members,)):
            raise InvalidModel(
                f"start has shape {given.shape} for {members} models",
                hint="give one start state, or one per model",
            )
        for state in states.tolist():
            if not 0 <= state < n_states:
                raise InvalidModel(
                    f"start state {state} does not exist",
                    hint=f"states are numbered 0 to {n_states - 1}",
                )
        fixed: FloatArray = read_only(states, np.int64)
        return fixed
    return _checked_distribution(as_floats(given, "start"), members, n_states)


def summing_to_one(rows: FloatArray) -> FloatArray:
    """Divide distributions (n, k) by their sums where these are beyond rounding.

    A row that was divided once is left alone, so that copies and re-read files keep the
    hash of the original.
    """
    sums = rows.sum(axis=1, keepdims=True)
    slack = 4.0 * np.finfo(np.float64).eps * max(1, rows.shape[1])
    settled: FloatArray = rows / np.where(np.abs(sums - 1.0) > slack, sums, 1.0)
    return settled


def as_floats(given: npt.ArrayLike, what: str) -> FloatArray:
    """Return an array of floats, or say which argument is not made of numbers."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidModel(
            f"{what} are ragged: rows have different lengths",
            hint=f"give {what} as a rectangular array",
        ) from error
    if array.dtype.kind not in "biuf":
        raise InvalidModel(
            f"{what} have type {array.dtype}, not numbers",
            hint=f"give {what} as an array of real numbers",
        )
    floats: FloatArray = array.astype(np.float64, copy=False)
    return floats


def _checked_distribution(given: FloatArray, members: int, n_states: int) -> FloatArray:
    rows = given.reshape(1, -1) if given.ndim == 1 else given
    if rows.ndim != 2 or rows.shape not in ((1, n_states), (members, n_states)):
        raise InvalidModel(
            f"start distribution has shape {given.shape}; ({n_states},) or "
            f"({members}, {n_states}) is needed",
            hint="give one probability per state, or a whole number for a fixed state",
        )
    for member, row in enumerate(rows):
        bad = ~np.isfinite(row) | (row < 0.0)
        if bad.any():
            state = int(np.argmax(bad))
            raise InvalidModel(
                f"start distribution of model {member} has {row[state]} at s={state}",
                hint="probabilities are finite and not negative",
            )
        if abs(row.sum() - 1.0) > ROW_TOLERANCE:
            raise InvalidModel(
                f"start distribution of model {member} sums to {float(row.sum())!r}",
                hint="divide it by its sum if that is what you mean",
            )
    settled = summing_to_one(rows)
    check_least(settled, "the start distribution")
    frozen: FloatArray = read_only(settled)
    return frozen


def check_least(rows: FloatArray, what: str) -> None:
    """Raise if a probability of some rows (n, k) is too small to count with."""
    faint = (rows > 0.0) & (rows < LEAST_CHANCE)
    if faint.any():
        row, at = np.argwhere(faint)[0].tolist()
        raise InvalidModel(
            f"{what} has {rows[row, at]} at {at}" + (f" of row {row}" if row else ""),
            hint=f"a probability is 0 or at least {LEAST_CHANCE:g}: write 0 where you "
            "mean never",
            code="probability-range",
        )


def _check_pattern(transitions: Transitions, labels: Labels) -> None:
    n_states, n_actions = transitions.n_states, transitions.n_actions
    for count, what in (
        (n_states, "states"),
        (n_actions, "actions"),
        (transitions.n_models, "models"),
    ):
        if count < 1:
            raise InvalidModel(
                f"a simulator needs at least one of its {what}, got {count}",
                hint=f"check which axis of your array counts the {what}",
            )
    lengths = np.diff(transitions.indptr)
    if transitions.indptr[0] != 0 or transitions.indptr[-1] != transitions.nonzeros:
        raise InvalidModel(
            f"indptr runs from {transitions.indptr[0]} to {transitions.indptr[-1]}, "
            f"there are {transitions.nonzeros} entries",
            hint="indptr starts at 0 and ends at the number of entries",
        )
    if (lengths <= 0).any():
        row = int(np.argmax(lengths <= 0))
        raise InvalidModel(
            f"{_place(row, n_actions, labels)} has no successor in any model",
            hint="an unavailable action is written as a copy of an available one; "
            "an absorbing state leads to itself with probability 1",
        )
    indices = transitions.indices
    outside = (indices < 0) | (indices >= n_states)
    if outside.any():
        at = int(np.argmax(outside))
        row = int(np.searchsorted(transitions.indptr, at, side="right")) - 1
        raise InvalidModel(
            f"{_place(row, n_actions, labels)} leads to state {indices[at]}",
            hint=f"states are numbered 0 to {n_states - 1}",
        )
    falling = indices[1:] <= indices[:-1]
    falling[transitions.indptr[1:-1] - 1] = False  # a new row may start anywhere
    if falling.any():
        at = int(np.argmax(falling)) + 1
        row = int(np.searchsorted(transitions.indptr, at, side="right")) - 1
        raise InvalidModel(
            f"{_place(row, n_actions, labels)} lists state {indices[at]} after "
            f"state {indices[at - 1]}",
            hint="successors are listed once each, in increasing order",
        )


def _first_bad_row(transitions: Transitions, member: int) -> int | None:
    values = transitions.values[member]
    sums = np.add.reduceat(values, transitions.indptr[:-1])
    with np.errstate(invalid="ignore"):
        bad: BoolArray = ~(np.abs(sums - 1.0) <= ROW_TOLERANCE)
        wrong = ~(values >= LEAST_CHANCE) & (values != 0.0)
    if wrong.any():
        at = int(np.argmax(wrong))
        row = int(np.searchsorted(transitions.indptr, at, side="right")) - 1
        return min(row, int(np.argmax(bad))) if bad.any() else row
    return int(np.argmax(bad)) if bad.any() else None


def _row_error(
    transitions: Transitions, member: int, row: int, name: str, labels: Labels
) -> InvalidModel:
    begin, end = transitions.indptr[row], transitions.indptr[row + 1]
    values = transitions.values[member, begin:end]
    used = np.flatnonzero(values != 0.0)  # NaN counts as used
    code = ""
    shown = [
        f"P({labels.state(int(transitions.indices[begin + k]))}) = {values[k]:.12g}"
        for k in used[:SHOWN]
    ]
    more = f", and {used.size - SHOWN} more" if used.size > SHOWN else ""
    if used.size == 0:
        what, hint = "is all zero", "an absorbing state leads to itself"
    elif np.isnan(values).any():
        what, hint = "has NaN", "look for 0/0 where the row was computed"
    elif not np.isfinite(values).all():
        what, hint = "has an infinite entry", "probabilities lie between 0 and 1"
    elif (values < 0.0).any():
        what, hint = "has a negative entry", "probabilities lie between 0 and 1"
    elif ((values > 0.0) & (values < LEAST_CHANCE)).any():
        code, what = "probability-range", f"has an entry below {LEAST_CHANCE:g}"
        hint = "write 0 where you mean never"
    else:
        code, what = "row-sum", f"sums to {float(values.sum())!r}, not 1"
        hint = "divide the row by its sum if that is what you mean"
    entries = f" (entries: {', '.join(shown)}{more})" if shown else ""
    place = _place(row, transitions.n_actions, labels)
    return InvalidModel(
        f"model {name!r}: {place} {what}{entries}", hint=hint, code=code
    )


def _place(row: int, n_actions: int, labels: Labels) -> str:
    state, action = divmod(row, n_actions)
    return f"row (s={labels.state(state)}, a={labels.action(action)})"
