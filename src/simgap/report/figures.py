"""The figures of one record, for a notebook or a file: the same as on the page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import cast, final

from simgap.errors import InvalidArgument
from simgap.records.files import plain
from simgap.records.provenance import for_this_grid
from simgap.records.record import Record
from simgap.report.explorer import POLICY
from simgap.report.page_data import held_data
from simgap.report.part import Part
from simgap.report.parts import CLAIM, MAKERS
from simgap.report.plots import Plot
from simgap.report.scripts import page_scripts
from simgap.report.sweep_plot import SweepPlot
from simgap.report.templating import template
from simgap.user_files import replacing

HEIGHT = 540  # pixels of a figure in a notebook
MOST_SHOWN = 2  # figures without scrolling
DRAWN = {**MAKERS, "claim": CLAIM}


@final
@dataclass(frozen=True, slots=True, repr=False)
class Figures:
    """Figures as a page of their own, which loads nothing."""

    titles: tuple[str, ...]
    html: str

    def save(self, path: str | Path) -> Path:
        """Write the page and return its path."""
        with replacing(Path(path)) as draft:
            draft.write_text(self.html, encoding="utf-8")
        return Path(path)

    def __repr__(self) -> str:
        names = "\n".join(f"  {title}" for title in self.titles)
        return f"simgap figures; .save('page.html') writes them\n{names}"

    def _repr_html_(self) -> str:
        """Return the page inside a frame: a notebook and its styles stay outside."""
        height = HEIGHT * min(len(self.titles), MOST_SHOWN)
        return (
            f'<iframe style="width:100%;height:{height}px;border:0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def figures_of(record: Record) -> Figures:
    """Return the figures that the page has of a record; `Record.plot` calls this."""
    kind = getattr(record, "kind", "")
    plots = _plots(record, kind) if kind in DRAWN else ()
    if not plots:
        raise InvalidArgument(
            f"the page has no figure of this {type(record).__name__}",
            hint=f"it draws {', '.join(DRAWN)}; print the record to see its numbers",
            code="no-figure",
        )
    held = held_data({plot.key: plot.data() for plot in plots})
    sweeps = any(isinstance(plot, SweepPlot) for plot in plots)
    scripts = page_scripts(figures=True, sweeps=sweeps)
    return Figures(
        titles=tuple(plot.title for plot in plots),
        html=template("figures.html").render(
            policy=POLICY.format(digests=" ".join(f"'{s.digest}'" for s in scripts)),
            title=type(record).__name__,
            plots=plots,
            cut=held.cut,
            held=held,
            scripts=scripts,
        ),
    )


def _plots(record: Record, kind: str) -> tuple[Plot, ...]:
    part = DRAWN[kind](plain(record), kind)
    source = getattr(record, "provenance", None)
    if source is not None and source.grid:
        part = cast("Part", for_this_grid(part))
    first = () if part.picture in (None, *part.plots) else (part.picture,)
    return (*first, *part.plots, *part.theory_plots)
