"""One HTML page from all records in a folder: self-contained, offline, computed once.

A damaged record is reported in a sentence, one of an unknown kind is named. The
page has a content security policy that allows its own scripts and no request at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from simgap.records.provenance import ON_GRID
from simgap.report.commands import commands_of
from simgap.report.folder import Folder, read_folder
from simgap.report.how_sure import certainty_sheet
from simgap.report.page_data import held_data
from simgap.report.page_title import page_title
from simgap.report.part import Part
from simgap.report.plots import Plot
from simgap.report.scorecard import CLAIM, top_of
from simgap.report.scripts import page_scripts
from simgap.report.sweep_plot import SweepPlot
from simgap.report.templating import template
from simgap.user_files import replacing

SURE = {
    "exact": "a count, a copy of what was given, or a number without any rounding",
    "certified": "the true value provably lies between the two ends that are shown, or "
    "both round to the one number that is shown; rounding is part of the ends",
    ON_GRID: "the same, but about the table on a grid that stands for a simulator: the "
    "simulator itself may differ, and a finer grid may answer otherwise",
    "estimated": "from samples or a fit; the interval misses the truth at a stated "
    "rate",
    "unlabelled": "the record does not say how sure this number is",
}
POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; script-src {digests}"
)


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Parts under one heading."""

    title: str
    anchor: str
    parts: tuple[Part, ...]


def write_explorer(folder: Path, page: Path) -> int:
    """Draw the records in a folder as one page; return the page's bytes."""
    return write_folder(read_folder(folder), page)


def write_folder(folder: Folder, page: Path) -> int:
    """Write the page of a folder that was read; return the page's bytes."""
    content = render_explorer(folder).encode("utf-8", "replace")
    with replacing(page) as draft:
        draft.write_bytes(content)
    return len(content)


def render_explorer(folder: Folder) -> str:
    """Return the page of a folder that was read."""
    top = top_of(folder.parts)
    groups = _groups(folder.parts, None if top is None else top.picture)
    theory = _theory(folder.parts)
    certainty = certainty_sheet(folder.parts)
    drawn = [plot for each in groups for part in each.parts for plot in part.plots]
    drawn += [plot for part in theory for plot in part.theory_plots]
    drawn += [] if top is None or top.picture is None else [top.picture]
    tables = [sheet for part in folder.parts for sheet in part.sheets]
    tables += [] if certainty is None else [certainty]
    held = held_data({each.key: each.data() for each in (*drawn, *tables)})
    sweeps = any(isinstance(plot, SweepPlot) for plot in drawn)
    scripts = page_scripts(figures=bool(drawn), sweeps=sweeps)
    digests = " ".join(f"'{script.digest}'" for script in scripts)
    return template("explorer.html").render(
        policy=POLICY.format(digests=digests),
        folder=folder,
        title=page_title(folder.parts, folder.name),
        headline=_headline(folder),
        top=top,
        listed=top is None or any(part.template == CLAIM for part in folder.parts),
        theory=theory,
        certainty=certainty,
        commands=commands_of(folder.parts),
        cut=held.cut,
        groups=groups,
        versions=_versions(folder.parts),
        sure=_words_used(folder),
        figures=len(drawn),
        held=held,
        scripts=scripts,
    )


def _theory(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts whose records say what theorems promise."""
    return tuple(part for part in parts if part.theory or part.theory_plots)


def _groups(parts: tuple[Part, ...], above: Plot | None) -> tuple[Group, ...]:
    """Return parts under their headings, without the figure that is on top."""
    parts = tuple(
        replace(part, plots=tuple(plot for plot in part.plots if plot is not above))
        for part in parts
    )
    titles = dict.fromkeys(part.group for part in parts)
    return tuple(
        Group(
            title, f"group-{at}", tuple(part for part in parts if part.group == title)
        )
        for at, title in enumerate(titles, start=1)
    )


def _versions(parts: tuple[Part, ...]) -> list[dict[str, str]]:
    """Return the versions the records name; those that agree are named once."""
    found: list[dict[str, str]] = []
    for part in parts:
        named = dict(part.origin.versions)
        agreeing = (
            each
            for each in found
            if all(each.get(what, which) == which for what, which in named.items())
        )
        same = next(agreeing, None)
        if same is not None:
            same.update(named)
        elif named:
            found.append(named)
    return found


def _words_used(folder: Folder) -> dict[str, str]:
    """Return the legend: the three words that are promised, and the fourth if used."""
    lacking = any(
        "unlabelled" in (part.line.key.certainty, *_words(part))
        for part in folder.parts
    )
    return {
        word: text for word, text in SURE.items() if word != "unlabelled" or lacking
    }


def _words(part: Part) -> list[str]:
    plots = (*part.plots, *part.theory_plots)
    drawn = [word for plot in plots for word in plot.certainties]
    heads = [head.certainty for each in part.sheets for head in each.headings]
    cells = [c.certainty for each in part.sheets for row in each.rows for c in row]
    return [*drawn, *heads, *cells]


def _headline(folder: Folder) -> str:
    """Return what the folder says, in one sentence about what was expected."""
    claims = [part.line for part in folder.parts if part.template == CLAIM]
    judged = [line for line in claims if line.mood != "plain"]
    if not judged:
        return ""
    good = sum(line.mood == "good" for line in judged)
    others = [line.what for line in judged if line.mood != "good"]
    if not others:
        every = "The one claim" if good == 1 else f"All {good} claims"
        return f"{every} came out as expected."
    named = ", ".join(others[:5]) + (" and more" if len(others) > 5 else "")
    return f"{good} of {len(judged)} claims came out as expected; look at {named}."
