"""Run claims of the paper and keep what they found: one record for each.

The record of a claim is made of nothing that differs from run to run, so that the same
command writes the same bytes; seconds are in the answer only. The ledger beside the
records is the truth; an interrupted claim leaves nothing in either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from simgap.experiments import catalogue
from simgap.experiments.framework.claim import Claim, Scale, Tell
from simgap.ledger import opened_ledger
from simgap.records.claim import ClaimAnswer, ClaimRecord, Reproduce
from simgap.records.kept import ANSWERS, kept_or_made
from simgap.records.provenance import provenance, versions
from simgap.user_files import made_folder

FOLDER = "claims"  # inside the folder of the records
ADDRESS = re.compile(" at 0x[0-9a-f]+")  # of a function among settings


def reproduce(
    names: Sequence[str] = (),
    *,
    out: Path,
    scale: Scale = Scale.QUICK,
    seed: int = 0,
    again: bool = False,
    progress: Tell | None = None,
) -> Reproduce:
    """Run claims and say which hold; their records go to a folder.

    Args:
        names: such as "theorem-2"; all claims if there is none.
        out: the folder; a claim that it holds already, of the same scale, seed,
            settings, words and versions, is not run.
        scale: how much work goes into a claim.
        seed: of everything that is sampled.
        again: run claims that are there already.
        progress: is called with a few words about what is being done.

    Returns:
        Every claim in short: its verdict, what was expected, its key number.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> found = reproduce(["lemma-6"], out=Path(mkdtemp()))
        >>> found.claims[0].verdict.value, found.as_expected
        ('refuted', True)
    """
    tell = progress or (lambda words: None)
    begin = perf_counter()
    chosen = catalogue.named_claims(tuple(names))
    folder = made_folder(out / FOLDER)
    with opened_ledger(folder, ANSWERS):
        done = tuple(
            _answer(claim, scale, seed, folder, again, tell) for claim in chosen
        )
    return Reproduce(
        scale=scale.value,
        claims=done,
        as_expected=all(each.verdict is each.expected for each in done),
        seconds=perf_counter() - begin,
        page="",
        provenance=provenance(command="", model="the paper", latent=None, seed=seed),
    )


def run_claim(
    claim: Claim[Any], scale: Scale, seed: int, tell: Tell = lambda words: None
) -> ClaimRecord:
    """Return the record of a claim, run at a scale."""
    found = claim.run(scale, seed, tell)
    return ClaimRecord(
        claim=claim.name,
        title=claim.title,
        statement=claim.statement,
        source=claim.source,
        errata=claim.errata,
        expected=claim.expected,
        verdict=found.verdict,
        as_expected=found.verdict is claim.expected,
        key_number=found.key_number,
        summary=found.summary,
        checks=found.checks,
        figures=found.figures,
        tables=found.tables,
        scale=scale.value,
        seed=seed,
        command=f"simgap reproduce {claim.name} --{scale.value} --seed {seed}",
        versions=versions(),
    )


def defining(claim: Claim[Any], scale: Scale, seed: int) -> dict[str, Any]:
    """Return everything that the record of a claim depends on."""
    settings = repr(claim.settings(scale))
    return {
        "claim": (claim.name, claim.title, claim.statement, claim.source),
        "expected": claim.expected,
        "errata": claim.errata,
        "scale": scale.value,
        "settings": ADDRESS.sub("", settings),
        "seed": seed,
        "versions": versions(),
    }


def _answer(
    claim: Claim[Any], scale: Scale, seed: int, folder: Path, again: bool, tell: Tell
) -> ClaimAnswer:
    """Run a claim, or take it from the folder if it is there."""
    path, begin = folder / f"{claim.name}.json", perf_counter()

    def run() -> ClaimRecord:
        tell(f"{claim.name} ...")
        return run_claim(
            claim, scale, seed, lambda words: tell(f"{claim.name}: {words}")
        )

    parts = defining(claim, scale, seed)
    record, fresh = kept_or_made(path, parts, ClaimRecord, run, again=again)
    return ClaimAnswer(
        claim=claim.name,
        title=claim.title,
        verdict=record.verdict,
        expected=claim.expected,
        key_number=record.key_number,
        seconds=perf_counter() - begin if fresh else None,
        record=str(path),
    )
