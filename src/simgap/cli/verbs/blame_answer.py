"""What `simgap blame` writes down, and how people read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.intervals import Certified, Estimate
from simgap.records import Certainty, PairPrices, Provenance

if TYPE_CHECKING:
    from simgap.answers import Blame, PartBlame
    from simgap.mdp import LatentMDP

BAR = 16  # characters of a whole bar
LARGEST_SHOWN = 8  # rows of a curve
UNNAMED = "model"  # the part of a class without parameters


@final
@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What is lost where a parameter has one value."""

    value: float | str  # text for a group, or the name of a model
    told: Certified  # average gap of an agent that is told this value
    loss: float  # of the whole class's certified policy, where it has this value


@final
@dataclass(frozen=True, slots=True)
class BlamedParameter:
    """What one parameter, or group of them, is to blame for."""

    name: str
    values: int
    share: Certified | Estimate  # of the whole; shares sum to it
    part: Certified | Estimate | None  # share / whole; null if the whole is 0
    alone: Certified  # loss if only this is hidden
    information: Certified  # what telling it is worth
    ignored: Certified | Estimate | None
    curve: tuple[CurvePoint, ...]


@final
@dataclass(frozen=True, slots=True)
class BlameAnswer:
    """The record of `simgap blame`."""

    schema: int
    kind: str
    horizon: int
    whole: Certified  # average gap of the oracle
    method: str  # exact or sampled
    permutations: int | None
    classes_planned: int
    parameters: tuple[BlamedParameter, ...]
    leader: str | None  # certainly the largest share; null: not known
    ignored_whole: float  # average gap of the nominal model's plan
    nominal: str
    names: tuple[str, ...]
    pair_prices: PairPrices
    rounding: float
    headline: str
    certainty: dict[str, Certainty]
    notes: tuple[str, ...]
    provenance: Provenance


def blame_record(latent: LatentMDP, found: Blame, source: Provenance) -> BlameAnswer:
    """Return the record of an answer."""
    from simgap.answers import recorded_prices
    from simgap.records import SCHEMA

    names = latent.simulators.model_names
    parameters = tuple(_parameter(each) for each in found.parameters)
    shares: Certainty = "certified" if found.orders is None else "estimated"
    return BlameAnswer(
        schema=SCHEMA,
        kind="blame",
        horizon=found.horizon,
        whole=found.whole,
        method=found.method.value,
        permutations=found.orders,
        classes_planned=found.planned,
        parameters=parameters,
        leader=None if found.leader is None else parameters[found.leader].name,
        ignored_whole=found.ignored_whole,
        nominal=names[found.nominal],
        names=names,
        pair_prices=recorded_prices(
            found.pair_prices_lower, found.pair_prices_upper, found.compared
        ),
        rounding=found.rounding,
        headline=headline(
            parameters, found.whole, found.leader, noise=10.0 * found.rounding
        ),
        certainty={
            "whole": "certified",
            "share": shares,
            "part": shares,
            "alone": "certified",
            "information": "certified",
            "ignored": "certified",
            "told": "certified",
            "loss": "certified",
            "ignored_whole": "certified",
            "pair_prices": "certified",
        },
        notes=found.notes,
        provenance=source,
    )


def print_blame(answer: BlameAnswer) -> None:
    """Print an answer: a table sorted by share, then what it means."""
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import gap_bracket, number, shown

    noise = 10.0 * answer.rounding
    steps = "one step" if answer.horizon == 1 else f"{answer.horizon} steps"
    model = shown(answer.provenance.model)
    print_line(f"Which hidden parameter causes the loss? {model}, {steps}")
    print_line("")
    print_line(
        f"The best agent that does not know the real model loses "
        f"{gap_bracket(answer.whole, noise)} on average (certified)."
    )
    print_line("")
    ranked = sorted(answer.parameters, key=lambda each: -_middle(each.share))
    print_table(
        "what each parameter causes of it",
        ("parameter", "", "share", "of the loss", "alone", "telling it", "ignored"),
        [
            (
                shown(each.name),
                _bar(each),
                gap_bracket(each.share, noise, 3),
                _percent(each.part),
                gap_bracket(each.alone, noise, 3),
                gap_bracket(each.information, noise, 3),
                "-" if each.ignored is None else _signed(each.ignored, noise),
            )
            for each in ranked
        ],
        "alone: lost if only this is hidden; telling it: what that is worth; ignored: "
        f"its share of the {number(answer.ignored_whole, 4)} that a plan for "
        f"{shown(answer.nominal, 40)} alone loses; "
        + _on_negative_shares(answer, noise)
        + (
            "all certified"
            if answer.permutations is None
            else "shares are estimated, the rest is certified"
        ),
        texts=2,
    )
    if answer.whole.upper is not None and answer.whole.upper > noise:
        _print_curve(ranked[0], noise)
    print_line(answer.headline)
    for note in answer.notes:
        print_line(f"note: {note}")


def headline(
    parameters: tuple[BlamedParameter, ...],
    whole: Certified,
    leader: int | None,
    *,
    noise: float,
) -> str:
    """Return one sentence: what to measure first, and how sure that is."""
    from simgap.text import number, shown

    if whole.upper is None or whole.upper <= noise:
        return "Nothing to measure: not knowing the real model costs nothing."
    first, *others = sorted(parameters, key=lambda each: -_middle(each.share))
    if leader is not None:
        first = parameters[leader]
        others = [each for at, each in enumerate(parameters) if at != leader]
    name, upper = shown(first.name), number(whole.upper, 3)
    if not others and name == UNNAMED:
        return (
            f"The models have no parameters: all of the loss of {upper} comes from not "
            "knowing which one is real."
        )
    if all(_ends(each.share)[1] <= 0.0 for each in others):
        return f"Measure {name}: nothing else causes any of the loss of {upper}."
    sure = "estimated" if isinstance(first.share, Estimate) else "certified"
    low = _ends(first.share)[0]
    rivals = [each for each in others if _ends(each.share)[1] >= low - noise]
    if leader is not None:
        return (
            f"Measure {name} first: it causes {_percent(first.part)} of the loss "
            f"({sure})."
        )
    level = [first, *rivals]
    if all(_ends(each.share)[0] >= 0.98 * _ends(first.share)[1] for each in rivals):
        together = " and ".join(shown(each.name) for each in level)
        return (
            f"Measure {together}: they cause the same, {_percent(first.part)} of the "
            f"loss each ({sure})."
        )
    together = " or ".join(shown(each.name) for each in level[:4])
    way = (
        "more --permutations tell"
        if sure == "estimated"
        else "a smaller --gap-tolerance or more time tells"
    )
    return f"Measure {together} first: their shares overlap, {way} them apart."


def _parameter(found: PartBlame) -> BlamedParameter:
    return BlamedParameter(
        name=found.name,
        values=found.values,
        share=found.share,
        part=found.part,
        alone=found.alone,
        information=found.information,
        ignored=found.ignored,
        curve=tuple(
            CurvePoint(each.value, each.told, each.loss) for each in found.curve
        ),
    )


def _print_curve(first: BlamedParameter, noise: float) -> None:
    """Print what is lost value by value of the parameter that causes most."""
    from simgap.cli.app.output import print_table
    from simgap.text import gap_bracket, gap_number, number, shown

    if len(first.curve) < 2:
        return
    step = -(-len(first.curve) // LARGEST_SHOWN)
    print_table(
        f"if {shown(first.name)} is really",
        ("value", "loss", "loss if it is told"),
        [
            (
                shown(each.value, 40)
                if isinstance(each.value, str)
                else number(each.value, 5),
                gap_number(each.loss, noise, 4),
                gap_bracket(each.told, noise, 4),
            )
            for each in first.curve[::step]
        ],
        "loss: of the certified policy that is told nothing; averages over the rest"
        + ("" if step == 1 else f"; every {step}th value, --json has them all"),
    )


def _bar(parameter: BlamedParameter) -> str:
    if parameter.part is None:
        return ""
    filled = round(BAR * _middle(parameter.part))
    return "#" * filled + "." * (BAR - filled)


def _percent(part: Certified | Estimate | None) -> str:
    if part is None:
        return "-"
    low, high = (f"{100.0 * end:.3g}" for end in _ends(part))
    if low == high:
        return f"{high} %"
    return f"{low} to {high} %"


def _on_negative_shares(answer: BlameAnswer, noise: float) -> str:
    shares = [_middle(each.ignored) for each in answer.parameters if each.ignored]
    if min(shares, default=0.0) >= -noise:
        return ""
    return "negative: this difference makes good another; "


def _signed(found: Certified | Estimate, noise: float) -> str:
    from simgap.text import gap_number

    return gap_number(_middle(found), noise, 3)


def _middle(found: Certified | Estimate) -> float:
    if isinstance(found, Estimate):
        return found.estimate
    low, high = _ends(found)
    return 0.5 * (low + high)


def _ends(found: Certified | Estimate) -> tuple[float, float]:
    return found.lower, found.upper
