"""The text of a randomization, as `--randomize` takes it.

    mass=0.5..2.0                       uniform
    gain*=log(0.5..2)                   log-uniform, times the nominal value
    offset+=normal(0, sd=0.1, in=-1..1) truncated normal, added to the nominal value
    torque_sign={-1, 1}                 choice; {-1: 0.3, 1: 0.7} with weights
    length=1.2                          fixed
    rows(posterior.csv)                 a row of a file

Items are separated by blanks. What `line_of` writes, `parse_line` reads as the same
value, bit for bit. A randomization of nothing is written `nominal`.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import inf, isfinite
from typing import NoReturn, final

from simgap.continuous.randomization.distributions import (
    BAD_VALUE,
    Choice,
    Distribution,
    Fixed,
    LogUniform,
    TruncatedNormal,
    Uniform,
)
from simgap.continuous.randomization.spec import (
    NAME,
    Item,
    Operation,
    Randomization,
    Rows,
)
from simgap.errors import InvalidArgument
from simgap.text import shown

NOTHING = "nominal"
LONGEST_TEXT = 100_000  # characters
MOST_CHOICES = 10_000
SYNTAX = "randomize-syntax"  # code
NUMBER = re.compile(
    r"[+-]?(?:\d{1,40}/\d{1,40}|(?:\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})"
    r"(?:[eE][+-]?\d{1,3})?)"
)
HEAD = re.compile(rf"(?P<name>{NAME.pattern}?)\s*(?P<sign>\*=|\+=|=)")
PLAIN_FILE = re.compile(r"[^\s()\"#]+")
FORMS = "0.5..2, log(0.1..10), normal(1, sd=0.2, in=0.5..1.5), {-1, 1} or a number"


def parse_line(text: str) -> Randomization:
    """Return the randomization that a text of items describes."""
    if len(text) > LONGEST_TEXT:
        raise InvalidArgument(
            f"a randomization of {len(text)} characters, at most {LONGEST_TEXT} are "
            "read",
            hint="a pattern such as body[*].mass stands for many; rows(FILE) for draws",
            code="randomize-size",
        )
    if text.strip() == NOTHING:
        return Randomization()
    return _Scanner(text).randomization()


def parse_distribution(text: str, name: str) -> Distribution:
    """Return the law that a text such as `0.5..2` describes, for an item `name`."""
    scanner = _Scanner(text[: LONGEST_TEXT + 1], name)
    found = scanner.distribution()
    scanner.blanks()
    if scanner.more():
        scanner.wrong("it goes on", f"write one of {FORMS}")
    return found


def line_of(spec: Randomization) -> str:
    """Return the text of a randomization without groups."""
    words = [item.text for item in spec.items]
    if spec.rows is not None:
        file = spec.rows.file
        plain = PLAIN_FILE.fullmatch(file)
        words.append(f"rows({file if plain else json.dumps(file, ensure_ascii=False)})")
    return " ".join(words) or NOTHING


@final
class _Scanner:
    """A text and how far it has been read; `item` is where the current item begins."""

    def __init__(self, text: str, name: str = "") -> None:
        self.text, self.at, self.item, self.name = text, 0, 0, name

    def more(self) -> bool:
        return self.at < len(self.text)

    @property
    def rest(self) -> str:
        return self.text[self.at :]

    def randomization(self) -> Randomization:
        items: list[Item] = []
        rows: Rows | None = None
        self.blanks()
        if not self.more():
            self.wrong("it is empty", f"write items such as mass=0.5..2, or {NOTHING}")
        while self.more():
            self.item, self.name = self.at, ""
            if self.taken(r"rows\s*\("):
                if rows is not None:
                    self.wrong("there are rows of two files", "put them in one file")
                rows = self.rows()
            else:
                items.append(self.one_item())
            if self.more() and not self.taken(r"\s+"):
                self.wrong(
                    f"'{shown(self.rest, 20)}' follows at once",
                    _slip(self.rest)
                    or "put a blank between items; values are " + FORMS,
                )
        return Randomization(tuple(items), rows=rows)

    def one_item(self) -> Item:
        head = HEAD.match(self.text, self.at)
        if head is None:
            self.wrong("it has no '='", _slip(self.rest, 2) or _no_sign(self.rest))
        self.name, self.at = head["name"], head.end()
        try:
            law = self.distribution()
            return Item(self.name, law, Operation(head["sign"]))
        except InvalidArgument as error:
            if error.code == SYNTAX:
                raise
            raise self.located(error.problem, error.hint, error.code) from error

    def distribution(self) -> Distribution:
        self.blanks()
        if self.taken(r"log\s*\("):
            low, high = self.range("log(0.1..10)")
            self.closing()
            return LogUniform(low, high)
        if self.taken(r"normal\s*\("):
            return self.normal()
        if self.taken(r"\{"):
            return self.choice()
        first = self.number(FORMS)
        if self.taken(r"\s*\.\."):
            return Uniform(first, self.number("0.5..2"))
        return Fixed(first)

    def normal(self) -> TruncatedNormal:
        form = "normal(1, sd=0.2, in=0.5..1.5)"
        mean = self.number(form)
        sd: float | None = None
        ends: tuple[float, float] | None = None
        while self.taken(r"\s*,\s*"):
            if sd is None and self.taken(r"sd\s*=\s*"):
                sd = self.number(form)
            elif ends is None and self.taken(r"in\s*=\s*"):
                ends = self.range(form, infinite=True)
            else:
                self.wrong("the parts of normal are not clear", f"write {form}")
        self.closing()
        if sd is None:
            self.wrong("normal has no sd", f"write {form}")
        return TruncatedNormal(mean, sd, *(ends or ()))

    def choice(self) -> Choice:
        values: list[float] = []
        weights: list[float] = []
        while True:
            self.blanks()
            values.append(self.number("{-1, 1}"))
            if self.taken(r"\s*:\s*"):
                weights.append(self.number("{-1: 0.3, 1: 0.7}"))
            if len(values) > MOST_CHOICES:
                self.wrong(f"more than {MOST_CHOICES} values", "put them in a file")
            if not self.taken(r"\s*,"):
                break
        self.closing("}")
        return Choice(tuple(values), tuple(weights))

    def rows(self) -> Rows:
        self.blanks()
        if self.rest.startswith('"'):
            try:
                file, length = json.JSONDecoder().raw_decode(self.rest)
            except ValueError:
                self.wrong("a quote is missing", 'write rows("my posterior.csv")')
            self.at += length
        else:
            found = re.compile(r"[^()\"]*").match(self.text, self.at)
            file = found[0].strip() if found else ""
            self.at += len(found[0]) if found else 0
        self.closing()
        try:
            return Rows(file)
        except InvalidArgument as error:
            raise self.located(error.problem, error.hint, error.code) from error

    def range(self, form: str, *, infinite: bool = False) -> tuple[float, float]:
        low = self.number(form, infinite=infinite)
        if not self.taken(r"\s*\.\.\s*"):
            self.wrong("a range has two dots", f"write {form}")
        return low, self.number(form, infinite=infinite)

    def number(self, form: str, *, infinite: bool = False) -> float:
        self.blanks()
        if infinite and (found := self.taken(r"[+-]?inf\b")):
            return float(found)
        found = self.taken(NUMBER.pattern)
        if not found:
            what = shown(self.rest, 20)
            self.wrong(
                f"'{what}' is not a number"
                if self.rest.strip()
                else "a number is missing",
                _slip(self.rest, -1) or f"write {form}",
            )
        try:
            value = float(Fraction(found)) if "/" in found else float(found)
        except (ZeroDivisionError, OverflowError):
            value = inf
        if not isfinite(value):
            raise self.located(f"{found} is too large", "give a finite number")
        return value

    def closing(self, sign: str = ")") -> None:
        if not self.taken(r"\s*" + re.escape(sign)):
            hint = _slip(self.rest) or f"a {sign!r} is missing"
            self.wrong(f"'{shown(self.rest, 20)}' stands before any {sign!r}", hint)

    def blanks(self) -> None:
        self.taken(r"\s*")

    def taken(self, pattern: str) -> str:
        """Return what stands here if it fits, and go past it; else nothing."""
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]

    def wrong(self, problem: str, hint: str) -> NoReturn:
        raise self.located(problem, hint, SYNTAX)

    def located(
        self, problem: str, hint: str, code: str = BAD_VALUE
    ) -> InvalidArgument:
        """Return the error with the item and the character where it is."""
        near = (self.text[self.item :].split() or [""])[0]
        what = self.name if self.name and not near.startswith(self.name) else ""
        named = f"{what}={near}" if what else near
        return InvalidArgument(
            f"randomization, character {self.at + 1}, item '{shown(named, 40)}': "
            f"{problem}",
            hint=hint,
            code=code,
        )


def _no_sign(rest: str) -> str:
    word = rest.split(maxsplit=1)[0] if rest.split() else ""
    if re.fullmatch(r"\S+\.(csv|npz|toml|yaml|yml)", word):
        return f"a file stands alone, or as rows({shown(word)}) beside items"
    return "an item is name=0.5..2, name*=0.8..1.2 or name+=-1..1"


def _slip(rest: str, first: int | None = None) -> str:
    """Return the way out for what other languages write, or nothing."""
    for pattern, hint in SLIPS[:first]:
        if re.match(pattern, rest):
            return hint
    return ""


SLIPS = (
    (r"\s*#", "there are no comments here; write a TOML file for them"),
    (r"\s*[,;]\s*\S+\s*[*+]?=", "separate items by blanks, without commas"),
    (r"\s*,\s*\d", "write a decimal point, and a range as 0.5..2"),
    (r"\s*:", "a range is written 0.5..2"),
    (r"\s*-\s*\d", "a range is written 0.5..2"),
    (r"\s*…", "a range has two plain dots: 0.5..2"),
    (r"\s*\.(?!\.)", "write 0.5 and 2.0 with digits on both sides of the dot"),
    (r"\s*%", "write a share as a number: 50% is 0.5"),
    (r"\s*[\[(]", "a range is written 0.5..2, a choice {0.5, 2}"),
    (r"\s*(?i:loguniform|log_uniform|log10)", "write log(0.1..10)"),
    (r"\s*(?i:uniform)", "a uniform law is its range alone: 0.5..2"),
    (r"\s*(?i:gauss|norm|N\()", "write normal(1, sd=0.2, in=0.5..1.5)"),
    (r"\s*(?i:choice|one_of)", "a choice is written {-1, 1}"),
    (r"\s*(?i:nan|[+-]?inf)", "give a finite number"),
    (r"\s*=", "write one sign: =, *= or +="),
    (r"\s*[A-Za-zµ°]", "leave out the unit: numbers are in the simulator's own"),
)  # the last one is for what follows a number
