"""What was probably meant by a command that cannot be read, and how it is written.

Everything here is a pair: the problem, which quotes the words given, and the way out,
which can be typed. Nothing heavy is imported unless a word might name a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simgap.text import nearest, suggestion

Told = tuple[str, str]  # the problem, the way out

OTHER_WORDS = {  # what people call a verb before they have read the list
    "verdict": "audit",
    "plan": "oracle",
    "compare": "gap",
    "simulate": "run",
    "convert": "export",
    "save": "export",
    "ls": "list",
    "instances": "list",
    "show": "info",
    "html": "report",
    "separation": "complexity",
    "theorems": "bounds",
    "claims": "reproduce",
}


def unknown_verb(arguments: Sequence[str], verbs: Iterable[str]) -> Told:
    """Return what to type instead of a first word that is no verb."""
    verb, known = arguments[0], tuple(verbs)
    problem = f"there is no verb {verb[:60]!r}"
    if verb.lower() in ("help", "version", "versions"):
        wanted = next((each for each in arguments[1:] if each in known), "")
        if verb.lower() != "help":
            return problem, "did you mean simgap --version?"
        return problem, f"did you mean simgap {wanted} --help?".replace("  ", " ")
    other = OTHER_WORDS.get(verb.lower(), "")
    near = suggestion(verb, known, cutoff=0.6, before="simgap ")
    if near or other:
        return problem, near or f"did you mean simgap {other}?"
    if _names_a_model(verb):
        return problem, f"a verb comes first: simgap info {_quoted(verb)}"
    near = suggestion(verb, known, cutoff=0.5, before="simgap ")
    return problem, near or f"the verbs are {', '.join(known)}; see simgap --help"


def misread(arguments: Sequence[str], command: Any) -> Told | None:
    """Return what is wrong with options that a parser would take for something else.

    `-H=5` would be the horizon '=5', `-H --json` the horizon '--json', and `-json` the
    flag -j and others. `command` is the verb as typer has it.
    """
    options = _options(command)
    at = 1
    while at < len(arguments) and arguments[at] != "--":
        word = arguments[at]
        name, sign, value = word.partition("=")
        if len(name) == 2 and sign and name in options:
            return f"{word[:60]!r} cannot be read", f"write {name} {value[:40]}"
        if re.fullmatch(r"-\w[\w-]+", name) and f"-{name}" in options:
            return f"no such option: {name}", f"did you mean -{name}?"
        if word in options and not options[word].is_flag:
            at += 1  # the next word is its value, whatever it looks like
            following = "".join(arguments[at : at + 1])
            if at == len(arguments) or following.partition("=")[0] in options:
                follows = f", and {following!r} follows" if following else ""
                problem = f"option {word!r} requires an argument{follows}"
                return problem, _usage(word, options[word])
        at += 1
    return None


def misused(
    error: Exception, arguments: Sequence[str], command: Any, verbs: Iterable[str]
) -> Told:
    """Return what to type after a usage error of typer or click.

    `command` is the verb as typer has it, or the whole program if there is no verb.
    """
    message = str(getattr(error, "format_message", lambda: error)()).strip()
    problem = (message[:1].lower() + message[1:]).rstrip(".")
    called = f"simgap {command.name}" if command.name in verbs else "simgap"
    options, kind = _options(command), type(error).__name__
    name = str(getattr(error, "option_name", ""))
    if kind == "NoSuchOption":
        later = next((each for each in arguments if each in verbs), "")
        if arguments[0].startswith("-") and later:
            return (
                f"no such option: {name[:60]} before the verb",
                f"options come after the verb: simgap {later} ... {name[:60]}",
            )
        return f"no such option: {name[:60]}", _near_option(name, called, options)
    if kind == "BadOptionUsage" and name in options:
        if options[name].is_flag:
            return problem, f"write {name} alone"
        return problem, _usage(name, options[name])
    if kind == "MissingParameter":
        example = _example(command)
        return (
            problem,
            f"for instance: {example}" if example else f"see {called} --help",
        )
    extra = re.fullmatch(r"got unexpected extra arguments? ?(?:\(s\) )?\((.*)\)",
                         problem, re.DOTALL)  # fmt: skip
    if extra:
        words = extra.group(1)[:60]
        return f"unexpected extra argument {words!r}", _without(words, called, command)
    return problem, f"see {called} --help"


def _options(command: Any) -> dict[str, Any]:
    """Return the options of a verb by every way to write them."""
    return {
        name: each
        for each in getattr(command, "params", ())
        if each.param_type_name == "option"
        for name in (*each.opts, *each.secondary_opts)
    }


def _near_option(name: str, called: str, options: Mapping[str, Any]) -> str:
    spelt = name.lower().replace("_", "-")
    long = [each for each in options if each.startswith("--")]
    near = nearest(spelt, long, cutoff=0.7)
    if not near and len(spelt) == 2:
        near = [each for each in options if each.lower() == spelt]
    if near:
        return f"did you mean {near[0]}? see {called} --help"
    if called == "simgap":
        return "a verb comes first; see simgap --help"
    shown = [_shortest(each) for each in dict.fromkeys(options.values())]
    return f"{called} takes {', '.join(shown)}; see {called} --help"


def _shortest(option: Any) -> str:
    return str(min((*option.opts, *option.secondary_opts), key=len))


def _usage(name: str, option: Any) -> str:
    about = str(option.help or "").strip().rstrip(".")
    return f"write {name} {option.metavar or 'VALUE'}" + (
        f" ({about})" if about else ""
    )


def _example(command: Any) -> str:
    """Return the example of a verb's help, on one line."""
    _, mark, text = str(getattr(command, "help", "") or "").partition("Example:")
    return " ".join(text.split("\n\n")[0].split()) if mark else ""


def _without(words: str, called: str, command: Any) -> str:
    if re.fullmatch(r"\d[\d_.e+]*", words) and "-H" in _options(command):
        return f"did you mean -H {words}?"
    if words.endswith(".csv") and "--log" in _options(command):
        return f"did you mean --log {words}?"
    takes = [
        str(each.metavar or each.name).upper()
        for each in command.params
        if each.param_type_name == "argument"
    ]
    if not takes:
        return f"{called} takes options only; see {called} --help"
    return f"{called} takes {' '.join(takes)}; put quotes around spaces, & and ;"


def _names_a_model(word: str) -> bool:
    if word.endswith((".simgap", ".npz", ".npy")):
        return True
    if not re.match(r"[A-Za-z]", word):
        return False
    from simgap.instances import names  # builds nothing, but imports numpy

    offered = {each.lower() for each in names()}
    return word.lower().partition("?")[0] in offered


def _quoted(word: str) -> str:
    from shlex import quote

    return quote(word[:100])
