"""`simgap adapt` for people: the warning first, then what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simgap.cli.adapt_answer import AdaptAnswer

MOST_MODELS = 15  # rows of the table
NOISE = 1e-8  # a gap below this is shown as 0


def print_answer(answer: AdaptAnswer) -> None:
    """Print a record for people: the warning first, if there is one."""
    from simgap.cli.output import print_line, print_table
    from simgap.report.words import gap_bracket, gap_number, number, shown

    if answer.outside_class:
        _print_warning(answer)
    ranked = sorted(
        answer.posterior, key=lambda each: (-(each.probability or 0.0), -each.p_value)
    )
    print_table(
        f"{answer.transitions} transitions of {answer.episodes} episodes in "
        f"{shown(answer.provenance.model)}",
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
        "probabilities and p-values are exact; losses are those of the certified "
        f"policies in {answer.horizon} steps if the model is real",
    )
    if len(ranked) > MOST_MODELS:
        print_line(f"{len(ranked) - MOST_MODELS} more models; --json has them all")
    for each in answer.parameters:
        after = each.after
        told = "-" if after is None else f"{number(after.mean, 4)} ± {after.sd:.2g}"
        print_line(
            f"{shown(each.name)}: {number(each.before.mean, 4)} ± "
            f"{each.before.sd:.2g} before, {told} after (mean ± deviation)"
        )
    before = gap_bracket(answer.gap_bound_before, NOISE, 4)
    if answer.gap_bound_after is not None:
        after_gap = gap_bracket(answer.gap_bound_after, NOISE, 4)
        print_line(f"average loss: {before} before, {after_gap} after (certified)")
        print_line(
            "the plan of before would now lose "
            f"{gap_number(answer.gap_of_old_plan, NOISE, 4)} on average"
        )
    else:
        print_line(f"average loss: {before} before (certified); no new plan")
    _print_rest(answer)


def _print_warning(answer: AdaptAnswer) -> None:
    from simgap.cli.output import print_line
    from simgap.report.words import shown

    print_line(
        "WARNING: no model of the class explains the log (a false alarm has a chance "
        f"of at most {100.0 * answer.false_alarm:g} %)."
    )
    print_line(
        "The real world is outside what was randomized: randomize wider, or another "
        "parameter."
    )
    if answer.misfit:
        print_line(f"Where the best model, {shown(answer.best)}, is off:")
    for each in answer.misfit[:5]:
        print_line(f"  {each.text}")


def _print_rest(answer: AdaptAnswer) -> None:
    from simgap.cli.output import print_line
    from simgap.report.words import gap_number, number, shown

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
    for note in answer.notes:
        print_line(f"note: {note}")
    files = answer.files
    for what, path in (("policy", files.policy), ("class", files.model)):
        if path is not None:
            print_line(f"{what}  {path}")
