"""What a reader probably meant: near misses, and the words that other tools use for the same thing.

Owns hints for keys and words of spec files. Knows no rule of what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from henad_web.errors import near_miss
from henad_web.model.decimals import MAX_U64

__all__ = ["comparator_hint", "meant", "number_hint", "odd_character", "whole_hint"]

_OTHER_WORDS = {
    "replicates": ("repetitions", "repeats", "iterations", "runs", "reps", "n_runs"),
    "steps": ("max_steps", "ticks", "time_limit", "timelimit", "length", "duration", "max_ticks"),
    "warmup": ("burn_in", "burnin", "spinup", "spin_up"),
    "stop": ("until", "exit_condition", "stop_condition"),
    "condition": ("when", "until"),
    "root": ("seed", "random_seed", "rng"),
    "set": ("constants", "fixed", "parameters", "params"),
    "block": ("blocks", "design", "experiment", "sweep"),
    "action": ("actions", "event", "events", "intervention"),
    "execution": ("parallel", "performance"),
    "concurrent": ("workers", "threads", "processes", "n_jobs", "jobs", "lanes"),
    "samples": ("n", "size", "count", "n_samples", "points"),
    "param": ("parameter", "variable", "name"),
    "values": ("list", "options"),
    "list": ("seeds", "values"),
    "min": ("low", "from", "start", "first", "lower"),
    "max": ("high", "to", "stop", "end", "last", "upper"),
    "step": ("by", "increment", "interval"),
    "column": ("metric", "statistic", "stat", "label"),
    "half_width": ("width", "halfwidth", "margin", "error", "precision"),
    "relative": ("relative_half_width", "relative_width", "relative_error", "share"),
    "confidence": ("level", "confidence_level", "ci"),
    "until": ("precision", "targets", "stop", "while"),
    "kinds": ("reducers", "functions"),
    "tick": ("at", "time"),
    "factorial": ("full", "grid", "full_factorial", "product", "cartesian"),
    "lhs": ("latin", "latin_hypercube", "hypercube"),
    "random": ("uniform", "monte_carlo", "sample"),
    "table": ("csv", "list", "file"),
    "argmax": ("time_of_max", "peak_time"),
    "final": ("last", "end"),
    "mean": ("average", "avg"),
}
"""Words of other tools for a key or word of ours."""


_COMPARATORS = {"=": "==", "=<": "<=", "=>": ">=", "<>": "!=", "===": "==", "!==": "!=", "!": "!="}
"""Comparators of other languages, by ours."""


_DIGITS = re.compile(r"[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
"""Numbers as TOML and JSON write them."""


_QUOTES = dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02", '"')
_QUOTES |= dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u00b4`\uff07", "'")
"""Quotes of typography, by the one that is meant."""
_UNSEEN = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
"""Characters of no width, which text copied from a page may hold."""


def odd_character(character: str) -> str | None:
    """Return what is odd about `character` where a plain quote or blank is meant; None for all others."""
    code = f"U+{ord(character):04X}"
    if character in _QUOTES:
        return f"{character} ({code}) is a quote of typography, write {_QUOTES[character]}"
    if character in _UNSEEN:
        return f"an invisible character ({code}) stands there, remove it"
    if character.isspace() and character not in " \t\r\n":
        name = "a no-break space" if character in "\u00a0\u202f\u2007" else "a blank of another kind"
        return f"{name} ({code}) stands there, write a plain one"
    return None


def meant(word: str, known: Iterable[str]) -> str | None:
    """Return the one of `known` that `word` is another spelling or another word of, None when there is none."""
    names = list(known)
    hint = near_miss(word, names)
    if hint is not None:
        return hint.removeprefix("did you mean '").removesuffix("'?")
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    return next((name for name in names if plain in _OTHER_WORDS.get(name, ())), None)


def comparator_hint(text: str) -> str | None:
    """Return which comparator to write for one in `text` that there is not, None when there is none like it."""
    for wrong, right in _COMPARATORS.items():
        if re.search(rf"(?<![<>=!]){re.escape(wrong)}(?![<>=!])", text):
            return f"write {right} for {wrong}"
    return None


def number_hint(key: str, value: object, least: float | None = None) -> str | None:
    """Return how to write `value` at `key` as a number not below `least`, None when it is no such number in quotes."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return None
    number = float(value)
    fits = abs(number) <= MAX_U64 and (least is None or number >= least)
    return f"write {key} = {value.strip()}, without quotes" if fits else None


def whole_hint(key: str, value: object, *, least: int = 0, multiple_of: int = 1) -> str | None:
    """Return how to write `value` at `key` as a whole number, None when it is none in disguise.

    Args:
        key: The key.
        value: What stands there.
        least: The least number that is allowed; the largest is 2^64 - 1.
        multiple_of: What it has to be a multiple of.
    """
    if isinstance(value, float) and value.is_integer():
        number, quotes = int(value), ""
    elif isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        number, quotes = int(value), ", without quotes"
    else:
        return None
    fits = least <= number <= MAX_U64 and number % multiple_of == 0
    return f"write {key} = {number}{quotes}" if fits else None
