"""The door `file.py:make`: a function `make(**theta)` that returns an environment.

This form covers everything. The numbers among the defaults of `make` are the parameters
and their nominal values. Beside `make` a file may have

- `PARAMETERS = {"mass": (0.1, 10.0)}`: domains; `(0.1, 1.0, 10.0)` with the nominal
  value in the middle, or a whole `Parameter`,
- `RETURNS = (low, high)`: what every return lies between, for guaranteed intervals,
- `HORIZON = 200`: after how many steps an episode ends,
- `set_state(env, observation)`: puts an environment where it shows an observation,
- `make_batch(thetas)`: all worlds at once, see `batch.py`.

The file runs as its user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any, final

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Parameter, Simulator, Space, Worlds
from simgap.continuous.simulators.batch import simulator_from_batch
from simgap.continuous.simulators.declared import (
    Declared,
    checked_horizon,
    checked_returns,
    declared_parameters,
)
from simgap.continuous.simulators.gym_parameters import arguments, signature_of
from simgap.continuous.simulators.gym_probe import probed, same_kind
from simgap.continuous.simulators.gym_spaces import Done, Seen
from simgap.continuous.simulators.gym_worlds import Put, gym_worlds
from simgap.continuous.simulators.values import checked_values
from simgap.continuous.user_code import user_code, what_happened
from simgap.errors import InvalidArgument
from simgap.text import number

Make = Callable[..., Any]  # **theta -> gymnasium.Env
BATCH = "make_batch"
NOT_TAKEN = "no-such-parameter"  # code


def open_factory(text: str) -> Simulator:
    """Return the simulator of `file.py:make`, or of `file.py:make_batch`.

    A file with both is stepped by its `make_batch`; `make` then says what is seen, and
    what the parameters nominally are.
    """
    code = user_code(text, example="make")
    declared, together = code.get("PARAMETERS"), code.get(BATCH)
    horizon, returns = code.get("HORIZON"), code.get("RETURNS")
    if code.name == BATCH:
        return simulator_from_batch(
            code.value,
            name=text,
            parameters=declared,
            horizon=horizon,
            returns=returns,
            observation=code.get("OBSERVATION"),
            action=code.get("ACTION"),
        )
    single = simulator_from_factory(
        code.value,
        name=text,
        parameters=declared,
        horizon=horizon,
        returns=returns,
        set_state=code.get("set_state"),
    )
    if not callable(together):
        return single
    return simulator_from_batch(
        together,
        name=text,
        parameters=single.parameters,
        horizon=single.horizon,
        returns=single.returns,
        observation=single.seen.gym_space,
        action=single.done.gym_space,
    )


def simulator_from_factory(
    make: Make,
    *,
    name: str = "",
    parameters: Declared | None = None,
    horizon: int | None = None,
    returns: tuple[float, float] | None = None,
    set_state: Put | None = None,
) -> FactorySimulator:
    """Return the simulator of a function `make(mass=1.0, ...)` of environments.

    `parameters` are domains by name, or whole parameters; without them every number may
    be anything. `returns` are bounds of a whole episode's return.
    """
    named = name or getattr(make, "__name__", type(make).__name__)
    if set_state is not None and not callable(set_state):
        raise InvalidArgument(
            f"set_state is {type(set_state).__name__}, not a function",
            hint="write def set_state(env, observation)",
            code="not-a-function",
        )
    ways = arguments(make, {})
    found = declared_parameters(
        named, parameters, {k: each for k, (each, _) in ways.items()}, takes(make)
    )
    kinds = {name: way.value for name, (_, way) in ways.items()}
    nominal = {each.name: each.nominal for each in found}
    env = _made(make, kinds, nominal)
    seen, done = probed(env)
    shown_numbers = {
        key: float(value)
        for key, value in vars(getattr(env, "unwrapped", env)).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    spec = getattr(env, "spec", None)
    env.close()
    return FactorySimulator(
        name=named,
        make=make,
        parameters=found,
        kinds=kinds,
        seen=seen,
        done=done,
        horizon=checked_horizon(horizon) or getattr(spec, "max_episode_steps", None),
        returns=checked_returns(returns),
        set_state=set_state,
        attributes=shown_numbers if takes_anything(make) else None,
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class FactorySimulator:
    """Environments that a function makes."""

    name: str
    make: Make
    parameters: tuple[Parameter, ...]
    kinds: Mapping[str, Callable[[float], Any]]  # name -> a value as `make` takes it
    seen: Seen
    done: Done
    horizon: int | None
    returns: tuple[float, float] | None
    set_state: Put | None
    attributes: (
        Mapping[str, float] | None
    )  # of an environment whose maker takes any name

    @property
    def observation(self) -> Space:
        """Return what is seen."""
        return self.seen.space

    @property
    def action(self) -> Space:
        """Return what can be done."""
        return self.done.space

    def unlisted(self, name: str) -> Parameter | None:
        """Return a parameter that only the user knows of, where `make` takes any name.

        Nominally it is what the environment has under its name, if it has such a
        number.
        """
        if self.attributes is None or not name.isidentifier():
            return None
        return Parameter(name, self.attributes.get(name, nan))

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return the bounds that its maker declares, for episodes of any length."""
        return self.returns

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        """Return one environment for each row.

        A row that cannot be made is broken from its first step on.
        """
        size, every = checked_values(self, values)
        environments, failed = [], {}
        for row in range(size):
            theta = {name: float(each[row]) for name, each in every.items()}
            try:
                env = _made(self.make, self.kinds, theta)
            except InvalidArgument as error:
                if error.code == NOT_TAKEN:
                    raise
                env, failed[row] = None, error.problem
            else:
                self._check_kind(env, theta)
            environments.append(env)
        return gym_worlds(
            environments,
            self.seen,
            self.done,
            horizon=self.horizon,
            put=self.set_state,
            failed=failed,
        )

    def _check_kind(self, env: Any, theta: Mapping[str, float]) -> None:
        if not same_kind(env, self.seen, self.done):
            raise InvalidArgument(
                f"{_call(theta)} has other observations or actions than with the "
                "nominal parameters",
                hint="parameters may not change how many numbers there are",
                code="spaces-differ",
            )


def takes(make: Make) -> Callable[[str], bool]:
    """Return what says whether a function has an argument of a name."""
    given = signature_of(make)
    return lambda name: name in given or takes_anything(make)


def takes_anything(make: Make) -> bool:
    """Return whether a function has `**theta`: arguments of any name."""
    return any(each.kind is each.VAR_KEYWORD for each in signature_of(make).values())


def _made(
    make: Make,
    kinds: Mapping[str, Callable[[float], Any]],
    theta: Mapping[str, float],
) -> Any:
    try:
        return make(**{name: kinds.get(name, float)(v) for name, v in theta.items()})
    except (Exception, SystemExit) as error:
        strange = isinstance(error, TypeError) and "unexpected keyword" in str(error)
        raise InvalidArgument(
            f"{_call(theta)} fails: {what_happened(error)}",
            hint="it must return an environment for every value of its parameters",
            code=NOT_TAKEN if strange else "environment-not-made",
        ) from error


def _call(theta: Mapping[str, float]) -> str:
    return f"make({', '.join(f'{name}={number(v)}' for name, v in theta.items())})"
