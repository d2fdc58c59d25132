"""`simgap adapt` for people: the warning first, then what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simgap.cli.verbs.adapt_answer import AdaptAnswer, ModelPosterior

MOST_MODELS = 15  # rows of the table
NOISE = 1e-8  # a gap below this is shown as 0
P_VALUE = (
    "p-value: chance, at most, of a log that speaks this strongly against the model if "
    "it is the real one"
)


def print_answer(answer: AdaptAnswer) -> None:
    """Print a record for people: the warning first, if there is one.

    What presupposes a model of the class is left out if the log refutes them all.
    """
    from simgap.cli.app.output import print_line

    ranked = sorted(
        answer.posterior, key=lambda each: (-(each.probability or 0.0), -each.p_value)
    )
    if answer.outside_class:
        _print_warning(answer)
        _print_refuted(answer, ranked)
    else:
        _print_models(answer, ranked)
        _print_changes(answer)
    for note in answer.notes:
        print_line(f"note: {note}")
    files = answer.files
    for what, path in (("policy", files.policy), ("class", files.model)):
        if path is not None:
            print_line(f"{what}  {path}")


def _print_warning(answer: AdaptAnswer) -> None:
    from simgap.cli.app.output import print_line
    from simgap.text import shown

    print_line(
        "WARNING: no model of the class explains the log (a false alarm has a chance "
        f"of at most {100.0 * answer.false_alarm:g} %)."
    )
    possible = answer.gap_bound_after is not None  # just not so often
    between = " with values in between," if answer.parameters and possible else ""
    print_line(
        f"The real world is outside what was randomized: randomize wider,{between} or "
        "another parameter."
    )
    if answer.misfit:
        print_line(f"Where the best model, {shown(answer.best)}, is off:")
    for each in answer.misfit[:5]:
        print_line(f"  {each.text}")


def _print_refuted(answer: AdaptAnswer, ranked: list[ModelPosterior]) -> None:
    """Print the p-values alone: they presuppose nothing."""
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import number, shown

    print_table(
        _title(answer),
        ("model", "before", "p-value"),
        [
            (shown(each.name, 40), number(each.prior, 4), number(each.p_value, 3))
            for each in ranked[:MOST_MODELS]
        ],
        f"computed, not sampled; {P_VALUE}",
    )
    _print_more(ranked)
    if answer.gap_bound_after is None:
        print_line("no posterior and no new plan: the log excludes every model")
    else:
        print_line(
            "posterior, parameters and losses are left out: they presuppose that a "
            "model of the class is real; --json has them"
        )


def _print_models(answer: AdaptAnswer, ranked: list[ModelPosterior]) -> None:
    from simgap.cli.app.output import print_table
    from simgap.text import counted, gap_number, number, shown

    print_table(
        _title(answer),
        ("model", "before", "after", "p-value", "loss before", "loss after"),
        [
            (
                shown(each.name, 40),
                number(each.prior, 4),
                number(each.probability, 4),
                number(each.p_value, 3),
                gap_number(each.gap_before, NOISE, 4),
                gap_number(each.gap_after, NOISE, 4),
            )
            for each in ranked[:MOST_MODELS]
        ],
        "probabilities and p-values are computed, not sampled; losses are those of "
        "the certified "
        f"policies in {counted(answer.horizon, 'step')} if the model is real; "
        f"{P_VALUE}",
    )
    _print_more(ranked)


def _title(answer: AdaptAnswer) -> str:
    from simgap.text import counted, shown

    return (
        f"{counted(answer.transitions, 'transition')} of "
        f"{counted(answer.episodes, 'episode')} in {shown(answer.provenance.model)}"
    )


def _print_more(ranked: list[ModelPosterior]) -> None:
    from simgap.cli.app.output import print_line
    from simgap.text import counted

    more = len(ranked) - MOST_MODELS
    if more > 0:
        has = "has it" if more == 1 else "has them all"
        print_line(f"{counted(more, 'more model')}; --json {has}")


def _print_changes(answer: AdaptAnswer) -> None:
    from simgap.cli.app.output import print_line
    from simgap.text import gap_bracket, gap_number, number, shown

    for each in answer.parameters:
        after = each.after
        told = "-" if after is None else f"{number(after.mean, 4)} ± {after.sd:.2g}"
        print_line(
            f"{shown(each.name)}: {number(each.before.mean, 4)} ± "
            f"{each.before.sd:.2g} before, {told} after (mean ± deviation over the "
            "models)"
        )
    before = gap_bracket(answer.gap_bound_before, NOISE, 4)
    if answer.gap_bound_after is not None:
        after_gap = gap_bracket(answer.gap_bound_after, NOISE, 4)
        print_line(f"average loss: {before} before, {after_gap} after (certified)")
        print_line(
            "the plan of before would now lose "
            f"{gap_number(answer.gap_of_old_plan, NOISE, 4)} on average"
        )
    sure = 100.0 * (1.0 - answer.false_alarm)
    if answer.plausible_gap is not None:
        kept = sum(each.plausible for each in answer.posterior)
        print_line(
            f"{kept} of {len(answer.posterior)} models remain plausible at {sure:g} %; "
            "in the worst of them the new plan loses "
            f"{gap_number(answer.plausible_gap, NOISE, 4)}"
        )
    if answer.lemma_1 is not None:
        print_line(
            f"if {shown(answer.lemma_1.name)} is real, no optimal plan loses more than "
            f"{number(answer.lemma_1.bound, 4)} (Lemma 1)"
        )
