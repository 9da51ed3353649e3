"""A reader who mistypes something is told where, what came, what is allowed and what to write instead."""

from __future__ import annotations

import msgspec
import pytest

from henad_web.errors import PlanError, Problem, SpecError
from henad_web.explore.spec_file import parse_spec, parse_spec_document
from tests.shared.schemas import SCHEMA

GOOD = """\
model = "study"

[set]
size = 64

[run]
steps = 20
stop = { condition = "Alive <= 0", min_tick = 2 }

[measure]
stats_every = 5
reducers = [
  { column = "Alive", kinds = ["argmax"] },
  { column = "Dead", kinds = ["max", "min"] },
]

[seeds]
root = 1
scheme = "common"

[[action]]
id = "pulse"
tick = 4

[[block]]
design = "factorial"
factors = [
  { param = "rate", range = { min = 0.1, max = 0.5, step = 0.1 } },
  { action = "pulse", values = [2, 4] },
  { param = "mode", levels = "all" },
]

[execution]
concurrent = "auto"
"""


def problems_in(text: str, name: str | None = "sweep.toml") -> tuple[Problem, ...]:
    """Return what is wrong with a spec of the study model, whoever finds it."""
    try:
        loaded = parse_spec(text, name=name)
    except SpecError as error:
        return error.problems
    try:
        loaded.spec.plan(SCHEMA)
    except PlanError as error:
        return loaded.locate(error.problems)
    return ()


def test_the_good_spec_is_good() -> None:
    assert problems_in(GOOD) == ()


MISTAKES = [
    ("model = ", "modle = ", "modle", "unknown key `modle`", "did you mean 'model'?"),
    ("[set]", "[sett]", "sett", "unknown key `sett`", "did you mean 'set'?"),
    ("size = 64", "szie = 64", "szie", "unknown parameter", "did you mean 'size'?"),
    ("size = 64", 'size = "64a"', "size", "not a whole number", None),
    ("size = 64", "size = 0", "size", "out of range", None),
    ("size = 64", "size = [1, 2]", "size", "not a value", "what varies belongs in the factors of a [[block]]"),
    ("steps = 20", "step = 20", "step", "unknown key `step`", "did you mean 'steps'?"),
    ("steps = 20", 'steps = "20"', "steps", "not a whole number", "write steps = 20, without quotes"),
    ("steps = 20", "steps = 20.5", "steps", "not a whole number", None),
    ("steps = 20", "steps = true", "steps", "not a whole number", None),
    ("steps = 20", "steps = -1", "steps", "below 0", None),
    ("steps = 20", "stats_every = 20", "stats_every", "unknown key `stats_every`",
     "`stats_every` belongs in [measure]"),
    ("steps = 20", "replicates = 0", "replicates", "no replicates", None),
    ("steps = 20", "timeout_s = inf", "timeout_s", "the timeout is not a time", None),
    ("Alive <= 0", "Aliv <= 0", "condition", "no such statistic", "did you mean 'Alive'?"),
    ("Alive <= 0", "Alive = 0", "condition", "not a condition, '=' is not a comparator", None),
    ("min_tick", "min_tik", "min_tik", "unknown key `min_tik`", "did you mean 'min_tick'?"),
    ('stop = { condition = "Alive <= 0", min_tick = 2 }', 'stop = "Alive <= 0"', "stop", "not a table",
     'write stop = { condition = "Alive <= 0" }'),
    ("stats_every = 5", "stats_evry = 5", "stats_evry", "unknown key `stats_evry`", "did you mean 'stats_every'?"),
    ("stats_every = 5", "stats_every = 0", "stats_every", "not a cadence", None),
    ("stats_every = 5", "stats_every = 5\nseries_every = 7", "series_every",
     "not a multiple of stats_every, which is 5", None),
    ("stats_every = 5", 'default_reducers = "no"', "default_reducers", "neither true nor false", None),
    ('["argmax"]', '["agmax"]', "kinds", "no such reducer, the word is not one of them", "did you mean 'argmax'?"),
    ('["argmax"]', '"argmax"', "kinds", "not a list", 'write kinds = ["argmax"]'),
    ('column = "Dead"', 'column = "Daed"', "column", "no such statistic", "did you mean 'Dead'?"),
    ("root = 1", "rot = 1", "rot", "unknown key `rot`", "did you mean 'root'?"),
    ("root = 1", "root = 1.5", "root", "not a seed", None),
    ("root = 1", 'root = "0x1"', "root", "not a seed", None),
    ('"common"', '"comon"', "scheme", "no such word", "did you mean 'common'?"),
    ('id = "pulse"', 'id = "plse"', "id", "unknown action", "did you mean 'pulse'?"),
    ("tick = 4", "tik = 4", "tik", "unknown key `tik`", "did you mean 'tick'?"),
    ("tick = 4", "tick = -4", "tick", "below 0", None),
    ('"factorial"', '"factoral"', "design", "no such word", "did you mean 'factorial'?"),
    ('design = "factorial"', "samples = 4", "samples", "a factorial design takes none",
     'remove it, or write design = "lhs", "random", "sobol", "saltelli" or "morris"'),
    ('param = "rate"', 'parm = "rate"', "parm", "unknown key `parm`", "did you mean 'param'?"),
    ('param = "rate"', 'param = "rat"', "param", "unknown parameter", "did you mean 'rate'?"),
    ('param = "rate"', 'param = "mode"', "range", "parameter 'mode' has options, not a range", 'write levels = "all"'),
    ("max = 0.5", "mx = 0.5", "mx", "unknown key `mx`", "did you mean 'max'?"),
    ("max = 0.5", 'max = "0.5"', "max", "not a number", "write max = 0.5, without quotes"),
    ("max = 0.5", f"max = 1{'0' * 400}", "max", "a number too large", None),
    ("max = 0.5", "max = 0.05", "max", "parameter 'rate': reversed range, min is above max", "swap them"),
    ("max = 0.5", "max = 5.0", "max", "parameter 'rate': out of range", None),
    ("step = 0.1", "step = 0", "step", "parameter 'rate': the range never ends", None),
    (", step = 0.1", "", "step", "parameter 'rate': this design needs the step of a range",
     "add one, such as step = 0.04"),
    ('action = "pulse", ', 'action = "pulze", ', "action", "unknown action name", "did you mean 'pulse'?"),
    ("values = [2, 4]", "values = []", "values", "action 'pulse' has no levels", None),
    ("values = [2, 4]", "values = [[2], 4]", "values", "not a value", None),
    ('levels = "all"', 'levels = "al"', "levels", "no such word", "for single levels write values = [..]"),
    ('"auto"', '"atuo"', "concurrent", "not a number of runs", None),
    ('"auto"', "0", "concurrent", "not a number of runs", None),
]  # fmt: skip


@pytest.mark.parametrize(("right", "mistake", "key", "wrong", "hint"), MISTAKES)
def test_a_mistake_is_told_with_its_line(right: str, mistake: str, key: str, wrong: str, hint: str | None) -> None:
    assert GOOD.count(right) >= 1
    text = GOOD.replace(right, mistake, 1)
    problem = next(problem for problem in problems_in(text) if problem.place.key == key)
    assert problem.wrong == wrong
    assert problem.place.file == "sweep.toml"
    if hint is not None:
        assert problem.hint == hint
    line = text.splitlines()[(problem.place.line or 0) - 1]
    assert key in line or right.strip(", ") == "step = 0.1"


def test_a_message_says_place_what_came_what_is_allowed_and_what_to_write() -> None:
    (problem,) = problems_in(GOOD.replace("steps = 20", "step = 20"))
    assert str(problem) == (
        "sweep.toml, line 7, [run] step: unknown key `step`; allowed: steps, warmup, replicates, stop, timeout_s, "
        "order; did you mean 'steps'?"
    )


def test_every_problem_of_a_file_is_reported_in_the_order_of_its_lines() -> None:
    text = GOOD
    for right, mistake in (
        ("[execution]", "[executon]"),
        ("tick = 4", 'tick = "4"'),
        ("steps = 20", "step = 20"),
        ('"common"', '"comon"'),
        ("min = 0.1", "mn = 0.1"),
    ):
        text = text.replace(right, mistake, 1)
    found = problems_in(text)
    assert [problem.place.key for problem in found] == ["step", "scheme", "tick", "mn", "executon"]
    lines = [problem.place.line for problem in found]
    assert lines == sorted(line for line in lines if line is not None)


def test_reducers_of_one_entry_share_its_place() -> None:
    problem = next(iter(problems_in(GOOD.replace('"Dead"', '"Daed"'))))
    assert problem.place.table == ("measure", "reducers", 1)
    assert problem.place.line == 14


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('model = "a"\n[run\nsteps = 3\n', 2, "Expected ']'"),
        ('model = "a"\n\nmodel = "b"\n', 3, "given twice"),
        ('model = "a"\n[run]\n[run]\n', 3, "given twice"),
        ('model = "a', 1, "not valid TOML"),
        ("model = sir\n", 1, "Invalid value"),
        (f"model = {'1' * 5000}\n", 1, "not valid TOML"),
        ("\n# \udc80\n", 2, "half of a surrogate pair, which is no character; write the character itself"),
        ('model = "a"\n# \udc80\n', 2, "half of a surrogate pair, which is no character; write the character itself"),
        (f"model = {'[' * 5000}{']' * 5000}\n", 1, "not valid TOML"),
    ],
)
def test_a_syntax_error_has_its_line(text: str, line: int, said: str) -> None:
    (problem,) = problems_in(text)
    assert problem.place.line == line
    assert said in str(problem)


@pytest.mark.parametrize(
    ("text", "key", "wrong"),
    [
        ("", "model", "missing key"),
        ('model = "a"\n[[action]]\nid = "x"\n', "tick", "missing key"),
        ('model = "a"\n[[action]]\ntick = 1\n', "id", "missing key"),
        ('model = "a"\n[run]\nstop = { min_tick = 1 }\n', "condition", "missing key"),
        ('model = "a"\n[measure]\nreducers = [{ kinds = ["max"] }]\n', "column", "missing key"),
        ('model = "a"\n[measure]\nreducers = [{ column = "A" }]\n', "kinds", "missing key"),
        ('model = "a"\n[[block]]\nfactors = [{ param = "x", range = { max = 1 } }]\n', "min", "missing key"),
        ('model = "a"\nrun = 3\n', "run", "not a table"),
        ('model = "a"\naction = 3\n', "action", "not a list"),
        ('model = "a"\n[block]\ndesign = "zip"\n', "block", "not a list"),
        ('model = "a"\nblock = [3]\n', None, "not a table"),
        ('model = "a"\n[[block]]\ndesign = "table"\n', None, "a table design needs `file` or `table_text`"),
        ('model = "a"\n[[block]]\ndesign = "lhs"\nfactors = [{ param = "x", values = 1 }]\n', "samples",
         "a lhs design needs its number of samples"),
        ('model = "a"\n[[action]]\nid = "x"\nname = " "\ntick = 1\n', "name", "an empty name"),
        ('model = "a"\n[searches]\nalgorithm = "random"\n', "searches", "unknown key `searches`"),
        ('model = "a"\n[set]\nx = 1979-05-27\n', "x", "not a value"),
    ],
)  # fmt: skip
def test_what_is_missing_or_of_another_kind_is_named(text: str, key: str | None, wrong: str) -> None:
    (problem,) = problems_in(text)
    assert (problem.place.key, problem.wrong) == (key, wrong)


@pytest.mark.parametrize(
    ("factor", "key", "came"),
    [
        ('{ param = "x" }', None, "none of them"),
        ('{ param = "x", values = [1], levels = "all" }', "levels", "values and levels"),
    ],
)
def test_a_factor_has_its_levels_once(factor: str, key: str | None, came: str) -> None:
    (problem,) = problems_in(f'model = "a"\n[[block]]\nfactors = [{factor}]\n')
    assert problem.wrong == "a factor has exactly one of `values`, `range` and `levels`"
    assert (problem.place.key, problem.came) == (key, came)


@pytest.mark.parametrize(
    ("factor", "key"), [("{ values = [1] }", None), ('{ param = "x", action = "y", values = [1] }', "action")]
)
def test_a_factor_in_a_file_names_one_thing(factor: str, key: str | None) -> None:
    (problem,) = problems_in(f'model = "a"\n[[block]]\nfactors = [{factor}]\n')
    assert (problem.wrong, problem.place.key) == ("a factor names exactly one of `param` and `action`", key)


@pytest.mark.parametrize(
    ("pieces", "write"),
    [
        ("[0.02, 0.14]", "min = 0.02, max = 0.14"),
        ("[0, 1, 0.5]", "min = 0, max = 1, step = 0.5"),
        ("[0, 1, 2, 3]", "min = .., max = .., step = .."),
        ("3", "min = .., max = .., step = .."),
    ],
)
def test_a_range_that_is_no_table_is_written_as_one(pieces: str, write: str) -> None:
    (problem,) = problems_in(f'model = "a"\n[[block]]\nfactors = [{{ param = "x", range = {pieces} }}]\n')
    assert problem.hint == f"write range = {{ {write} }}"


def test_a_document_of_another_structure_is_refused() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec_document(msgspec.json.decode(b'{"model": 3, "run": [], "blocks": []}'))
    assert [problem.place.key for problem in caught.value.problems] == ["blocks", "model", "run"]


def test_problems_of_a_plan_get_lines_in_any_layout() -> None:
    text = """\
# comment with [brackets] = "and quotes"
model = 'study'
run.replicates = 1 # = [[block]]
set = { "size" = 3, mode = '''fa
st''' }

[[block]] # first
factors = [
  # { param = "no" },
  { param = "size", values = [
      1, # ]
      2 ] },
]
[[block]]
[[block.factors]]
param = "rate"
values = [ "a\\"]b", 0.5 ]
[[block.factors]]
param = "loss"
[block.factors.range]
min = 0
max = 1
step = -1
"""
    found = [(problem.place.table, problem.place.key, problem.place.line) for problem in problems_in(text)]
    assert found == [
        (("set",), "mode", 4),
        (("block", 0, "factors", 0), "param", 10),
        (("block", 1, "factors", 0), "values", 17),
        (("block", 1, "factors", 1, "range"), "step", 23),
    ]


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("model = \u201csir\u201d", 1, 'line 1, column 9: \u201c (U+201C) is a quote of typography, write "'),
        ('model = "sir\u201d\n[run]', 1, 'line 1, column 13: \u201d (U+201D) is a quote of typography, write "'),
        ("[run]\nx = \u2018a\u2019", 2, "line 2, column 5: \u2018 (U+2018) is a quote of typography, write '"),
        ("[run]\nx = 'a\u2019\ny = 1", 3, "line 2, column 7: \u2019 (U+2019) is a quote of typography, write '"),
        ("x = 'a\u2019\ny = 1 # \u201d", 2, "line 1, column 7: \u2019 (U+2019) is a quote of typography, write '"),
        ("[run]\nsteps\u00a0= 5", 2, "line 2, column 6: a no-break space (U+00A0) stands there, write a plain one"),
        ("[run]\nsteps =\u202f5", 2, "line 2, column 8: a no-break space (U+202F) stands there, write a plain one"),
        ("x = [1,\u20032]", 1, "line 1, column 8: a blank of another kind (U+2003) stands there, write a plain one"),
        ("model\u200b = 1", 1, "line 1, column 6: an invisible character (U+200B) stands there, remove it"),
        ("\n\ufeffmodel = 1", 2, "line 2, column 1: an invisible character (U+FEFF) stands there, remove it"),
        ('{"model": \u201ca"}', 1, 'line 1, column 11: \u201c (U+201C) is a quote of typography, write "'),
        ('{"model":\u00a0"a"}', 1, "line 1, column 10: a no-break space (U+00A0) stands there, write a plain one"),
        ('model = "it\u2019s" x', 1, None),
        ('model = "it\u2019s"\nx', 2, None),
    ],
)
def test_an_odd_quote_or_blank_is_named_where_it_stands(text: str, line: int, hint: str | None) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    (problem,) = caught.value.problems
    assert "not valid" in problem.wrong
    assert (problem.place.line, problem.hint) == (line, hint)


def test_odd_quotes_and_blanks_are_fine_in_texts() -> None:
    text = "model = \"a\u201cb\u00a0c\" # \u201d\n[set]\nx = 'it\u2019s'\n"
    assert parse_spec(text).spec.model == "a\u201cb\u00a0c"


def test_an_odd_quote_in_an_expression_is_named() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec('model = "a"\n[[block]]\nwhere = "mode == \u2018fast\u2019"')
    assert caught.value.problems[0].hint == "\u2018 (U+2018) is a quote of typography, write '"
