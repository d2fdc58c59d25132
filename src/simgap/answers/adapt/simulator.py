"""What does a real log say about a simulator: its parameters, its delay, its fit?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simgap.continuous import (
    BoundRandomization,
    Identified,
    Randomized,
    RealLog,
    Sampler,
    Simulator,
    bind,
    identified,
    open_simulator,
    read_real_log,
    refuse_noise,
    write_rows,
)
from simgap.errors import InvalidArgument, InvalidFile
from simgap.records.adapt_simulator import (
    AdaptedSimulator,
    DelayBelief,
    DetectableDrag,
    ParameterBelief,
)
from simgap.records.audit import Finding
from simgap.records.files import read_record
from simgap.records.note import Note
from simgap.records.provenance import Certainty, provenance
from simgap.records.transfer import Transfer
from simgap.text import counted, listed, number, percent

CREDIBILITY = 0.95
SAME_RATE = 0.01  # what clocks may differ by
LEAST_SAMPLES = 20.0  # effective ones, below which no interval is told
CERTAINTY: dict[str, Certainty] = {
    "posterior": "estimated",
    "delays": "estimated",
    "p_value": "estimated",
    "detectable": "estimated",
}


def adapt_simulator(
    simulator: Simulator | str | Any,
    randomize: Randomized,
    log: RealLog | str | os.PathLike[str],
    *,
    rate: float | None = None,
    delay: int | None = None,
    false_alarm: float = 0.01,
    transfer: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> AdaptedSimulator:
    """Return what a real log says: posterior of parameters and delay, test of fit.

    `log` is CSV, .npz or Parquet with columns obs_0..., act_0..., episode, and
    next_obs_0... or consecutive rows; `rate` is in steps per second, `delay` what is
    known of it in steps: it is checked, not believed. `transfer` is a folder of
    `simgap transfer`, whose shares of the loss then say what to measure next. The
    posterior is written to `out`, a CSV file that `--randomize` takes.
    """
    if not 0.0 < false_alarm < 1.0:
        raise InvalidArgument(
            f"false_alarm is {false_alarm}", hint="it is between 0 and 1"
        )
    target = None if out is None else _target(out)
    opened = open_simulator(simulator)
    nu = bind(randomize, opened)
    shares = {} if transfer is None else _shares(Path(transfer))
    seen = log if isinstance(log, RealLog) else read_real_log(Path(log), rate=rate)
    refuse_noise(opened, seen)
    found = identified(
        opened,
        nu,
        seen,
        longest_delay=0 if delay is None else delay,
        false_alarm=false_alarm,
        sampler=Sampler(seed=seed),
    )
    if target is not None:
        write_rows(target, *found.rows(seed), None)
    names = [nu.names[at] for at in found.free]
    return AdaptedSimulator(
        simulator=opened.name,
        randomize=nu.to_string(),
        transitions=len(seen),
        episodes=seen.n_episodes,
        log_hash=seen.hash,
        time_step=seen.dt,
        posterior=_beliefs(found),
        credibility=CREDIBILITY,
        delay=found.delay,
        delays=tuple(
            DelayBelief(steps=int(steps), probability=float(chance))
            for steps, chance in zip(found.delays, found.delay_chances, strict=True)
        ),
        outside_class=found.fit.p_value < false_alarm,
        p_value=found.fit.p_value,
        false_alarm=false_alarm,
        worst_channel=found.fit.channel,
        detectable=tuple(
            DetectableDrag(channel=channel, drag=drag)
            for channel, drag in found.fit.drag.items()
        ),
        edge=tuple(name for at, name in enumerate(names) if found.at_edge(at)),
        measure_next=_next(found, names, shares),
        effective=found.samples.effective,
        findings=(
            *_findings(found, names, delay, false_alarm),
            *_rates(seen.dt, opened, nu),
        ),
        path=None if target is None else str(target),
        notes=(
            *(Note("about-the-log", each) for each in seen.notes),
            *(Note("about-the-ranges", each) for each in nu.notes),
        ),
        certainty=dict(CERTAINTY),
        provenance=provenance(command="", model=opened.name, latent=None, seed=seed),
    )


def _beliefs(found: Identified) -> tuple[ParameterBelief, ...]:
    out = []
    for at, draw in enumerate(found.free):
        low, high = found.nu.support[draw].tolist()
        lower, upper = low, high  # nothing is claimed of a posterior without samples
        if found.samples.effective >= LEAST_SAMPLES:
            lower, upper = found.interval(draw, CREDIBILITY)
        out.append(
            ParameterBelief(
                name=found.nu.names[draw],
                mean=float(found.weights @ found.theta[:, draw]),
                lower=lower,
                upper=upper,
                before=(low, high),
                remaining=found.remaining(at),
            )
        )
    return tuple(out)


def _next(found: Identified, names: list[str], shares: dict[str, float]) -> str | None:
    """Return what is least known; what it costs counts too, if shares are known."""
    left = {name: found.remaining(at) ** 2 for at, name in enumerate(names)}
    known = {name: left[name] * shares[name] for name in names if name in shares}
    worth = known or left
    best = max(worth, key=lambda name: worth[name])
    return best if left[best] > 1e-4 else None  # known to a hundredth of the range


def _shares(folder: Path) -> dict[str, float]:
    """Return what part of the loss goes with each parameter, by a transfer run."""
    record = read_record(folder / "transfer.json", Transfer)
    found = {each.name: (each.total or each.share).middle for each in record.parameters}
    if not found:
        raise InvalidFile(
            f"{folder} has no shares of the loss",
            hint="measure it again over a design such as sobol:64",
            code="no-shares",
        )
    return found


def _findings(
    found: Identified, names: list[str], stated: int | None, false_alarm: float
) -> tuple[Finding, ...]:
    out = [_fit(found, false_alarm), _edges(found, names), _lengths(found, names)]
    chance = float(found.delay_chances.max())
    late = f"actions arrive {counted(found.delay, 'step')} late ({percent(chance)})"
    if stated is not None and stated != found.delay:
        out.append(
            Finding("delay", "delay-differs", "warning",
                    f"{late}, not {stated} as stated", chance)
        )  # fmt: skip
    elif found.delay == found.delays[-1]:
        out.append(
            Finding("delay", "delay-longest", "warning",
                    f"{late}: the longest delay that was looked at; state a longer one "
                    "(--delay)", chance)
        )  # fmt: skip
    else:
        out.append(Finding("delay", "delay-found", "ok", late, chance))
    if found.samples.effective < LEAST_SAMPLES:
        out.append(
            Finding("samples", "too-few-samples", "fail",
                    f"the posterior rests on {found.samples.effective:.0f} samples, "
                    "too few for intervals: the whole ranges are told. Randomize fewer "
                    "parameters (only some of their ratios may matter), or a narrower "
                    "range", found.samples.effective)
        )  # fmt: skip
    elif not found.samples.settled:
        out.append(
            Finding("samples", "few-samples", "warning",
                    f"the posterior rests on {found.samples.effective:.0f} samples: "
                    "randomize fewer parameters, or a narrower range",
                    found.samples.effective)
        )  # fmt: skip
    return tuple(out)


def _rates(
    row: float | None, simulator: Simulator, nu: BoundRandomization
) -> Iterator[Finding]:
    """Yield a warning if a row of the log is not as long as a step."""
    step: float | None = getattr(simulator, "seconds", None)
    if row is None or step is None or abs(row / step - 1.0) < SAME_RATE:
        return
    if not {"dt", "tau"}.isdisjoint(nu.names):  # how long a step is was randomized
        return
    yield Finding(
        "rate",
        "rate-differs",
        "warning",
        f"rows of the log are {number(row, 3)} s apart, and a step of "
        f"{simulator.name} is {number(step, 3)} s: everything that has a speed is "
        f"found wrong by their ratio; record {number(1.0 / step, 4)} rows per second",
        row / step,
    )


def _fit(found: Identified, false_alarm: float) -> Finding:
    fit = found.fit
    if fit.channel is None:
        return Finding("fit", "nothing-left", "ok", "predictions leave no error", 1.0)
    if fit.p_value < false_alarm:
        return Finding(
            "fit",
            "outside-class",
            "fail",
            f"no parameters of the range explain obs_{fit.channel}: what was known "
            f"before a step explains {percent(fit.explained)} of its errors "
            f"(p-value {number(fit.p_value, 2)})",
            fit.p_value,
        )
    drags = ", ".join(
        f"{percent(drag)} of obs_{channel}" for channel, drag in fit.drag.items()
    )
    return Finding(
        "fit",
        "no-misfit-seen",
        "ok",
        "no misfit is seen, which is no proof: a drag would be seen 9 times out of 10 "
        f"from so much on that it takes in a step: {drags}",
        fit.p_value,
    )


def _edges(found: Identified, names: list[str]) -> Finding:
    edge = [name for at, name in enumerate(names) if found.at_edge(at)]
    if not edge:
        return Finding("edge", "inside", "ok", "the posterior is inside the ranges")
    return Finding(
        "edge",
        "at-edge",
        "warning",
        f"the posterior of {listed(edge)} leans on an end of its range: the real value "
        "may lie beyond it, or something else is not modelled; widen the range",
    )


def _lengths(found: Identified, names: list[str]) -> Finding:
    if len(found.seen) < 2:
        return Finding(
            "lengths", "one-length", "info", "too few steps for predictions of five"
        )
    apart = [name for at, name in enumerate(names) if found.disagree(at)]
    apart += ["delay"] if found.delays_disagree else []
    if not apart:
        return Finding("lengths", "lengths-agree", "ok", "one step and five agree")
    return Finding(
        "lengths",
        "lengths-disagree",
        "warning",
        f"predictions of one step and of five disagree about {listed(apart)}: the "
        "simulator is wrong in a way that grows, and the intervals are too narrow",
    )


def _target(out: str | os.PathLike[str]) -> Path:
    path = Path(out)
    if path.suffix.lower() != ".csv":
        raise InvalidFile(
            f"{path} does not end in .csv",
            hint="the posterior is written as CSV: --out posterior.csv",
            code="posterior-ending",
        )
    return path
