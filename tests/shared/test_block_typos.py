"""Blocks of an example with a key and a value mistyped: what their author is told, word for word."""

from __future__ import annotations

import pytest

from tests.shared.typos import check

TYPOS = [
    # [[block]]
    (
        'design = "factorial"',
        'desing = "factorial"',
        "line 32, [block 0] desing: unknown key `desing`; allowed: design, samples, design_seed, "
        "second_order, num_levels, where, file, table_text, factors; did you mean 'design'?",
    ),
    (
        'design = "factorial"',
        'design = "full"',
        'line 32, [block 0] design: no such word, got the text \'full\'; allowed: "factorial", "zip", '
        '"random", "lhs", "table", "sobol", "saltelli", "morris"; did you mean \'factorial\'?',
    ),
    (
        'design = "factorial"',
        'design = "Latin Hypercube"',
        "line 31, [block 0] samples: a lhs design, as 'Latin Hypercube' is read, needs its number of samples; "
        "add a line such as samples = 100\n"
        'line 32, [block 0] design: no such word, got the text \'Latin Hypercube\'; allowed: "factorial", "zip", '
        '"random", "lhs", "table", "sobol", "saltelli", "morris"; did you mean \'lhs\'?',
    ),
    (
        'design = "factorial"',
        'design = "grid"',
        'line 32, [block 0] design: no such word, got the text \'grid\'; allowed: "factorial", "zip", '
        '"random", "lhs", "table", "sobol", "saltelli", "morris"; did you mean \'factorial\'?',
    ),
    (
        "samples = 40",
        "sample = 40",
        "line 41, [block 1] sample: unknown key `sample`; allowed: design, samples, design_seed, "
        "second_order, num_levels, where, file, table_text, factors; did you mean 'samples'?",
    ),
    (
        "samples = 40",
        "samples = 0",
        "line 41, [block 1] samples: no samples, got 0; allowed: at least 1",
    ),
    (
        "samples = 40",
        'samples = "40"',
        "line 41, [block 1] samples: not a whole number, got the text '40'; allowed: a whole "
        "number, 0 to 2^64 - 1; write samples = 40, without quotes",
    ),
    (
        "design_seed = 9",
        'design_seed = "nine"',
        "line 42, [block 1] design_seed: not a seed, got the text 'nine'; allowed: a whole number "
        "or a text of digits, 0 to 2^64 - 1",
    ),
    (
        "factors = [\n",
        "factor = [\n",
        "line 33, [block 0] factor: unknown key `factor`; allowed: design, samples, design_seed, "
        "second_order, num_levels, where, file, table_text, factors; did you mean 'factors'?",
    ),
    # a factor
    (
        'param = "inf',
        'parm = "inf',
        "line 34, [block 0.factors #1] parm: unknown key `parm`; allowed: param, action, values, "
        "range, levels; did you mean 'param'?",
    ),
    (
        'param = "infection_rate", range',
        'param = "infection_rat", range',
        "line 34, [block 0.factors #1] param: unknown parameter, got 'infection_rat'; allowed: "
        "grid_width, grid_height, infection_rate, recovery_rate, initial_infected_pct; did you mean "
        "'infection_rate'?",
    ),
    (
        'action = "second_wave", v',
        'action = "seed_outbreak", v',
        "line 36, [block 0.factors #3] action: unknown action name, got 'seed_outbreak'; allowed: second_wave",
    ),
    (
        'action = "second_wave", v',
        'actoin = "second_wave", v',
        "line 36, [block 0.factors #3] actoin: unknown key `actoin`; allowed: param, action, "
        "values, range, levels; did you mean 'action'?",
    ),
    (
        "values = [0.05",
        "value = [0.05",
        "line 35, [block 0.factors #2] value: unknown key `value`; allowed: param, action, values, "
        "range, levels; did you mean 'values'?",
    ),
    (
        "[0.05, 0.1, 0.2]",
        '["low", 0.1]',
        "line 35, [block 0.factors #2] values: parameter 'recovery_rate': not a number, got 'low'; allowed: 0 to 1",
    ),
    (
        "[0.05, 0.1, 0.2]",
        '"all"',
        "line 35, [block 0.factors #2] values: parameter 'recovery_rate': not a number, got 'all'; allowed: 0 to 1",
    ),
    (
        "[0.05, 0.1, 0.2]",
        "[]",
        "line 35, [block 0.factors #2] values: parameter 'recovery_rate' has no levels, got []; "
        "allowed: at least one value",
    ),
    (
        "values = [0.05, 0.1, 0.2]",
        'levels = "all"',
        "line 35, [block 0.factors #2] levels: parameter 'recovery_rate' is a number, got 'all'; "
        "allowed: a list of values, or a range",
    ),
    (
        "[20, 40]",
        "[20.5]",
        "line 36, [block 0.factors #3] values: action 'second_wave': not a tick, got 20.5; allowed: "
        "a whole tick, 0 to 2^64 - 1",
    ),
    # a range
    (
        "min = 0.02",
        "mini = 0.02",
        "line 34, [block 0.factors #1.range] mini: unknown key `mini`; allowed: min, max, step; did you mean 'min'?",
    ),
    (
        "max = 0.14",
        "max = 1.4",
        "line 34, [block 0.factors #1.range] max: parameter 'infection_rate': out of range, got 1.38; allowed: 0 to 1",
    ),
    (
        "max = 0.14",
        "max = 0.01",
        "line 34, [block 0.factors #1.range] max: parameter 'infection_rate': reversed range, min "
        "is above max, got min 0.02 and max 0.01; allowed: min not above max; swap them",
    ),
    (
        "step = 0.04",
        "step = 0",
        "line 34, [block 0.factors #1.range] step: parameter 'infection_rate': the range never "
        "ends, got 0; allowed: a step above 0",
    ),
    (
        ", step = 0.04",
        "",
        "line 34, [block 0.factors #1.range] step: parameter 'infection_rate': this design needs "
        "the step of a range; add one, such as step = 0.012",
    ),
    (
        "step = 0.04",
        'step = "0.04"',
        "line 34, [block 0.factors #1.range] step: not a number, got the text '0.04'; allowed: a "
        "number; write step = 0.04, without quotes",
    ),
    (
        "range = { min = 0.02, max = 0.14, step = 0.04 }",
        "range = [0.02, 0.14, 0.04]",
        "line 34, [block 0.factors #1] range: not a table, got a list; allowed: a table; write "
        "range = { min = 0.02, max = 0.14, step = 0.04 }",
    ),
    (
        "range = { min = 0.02, max = 0.14, step = 0.04 }",
        'range = "0.02:0.14:0.04"',
        "line 34, [block 0.factors #1] range: not a table, got the text '0.02:0.14:0.04'; allowed: "
        "a table; write range = { min = 0.02, max = 0.14, step = 0.04 }",
    ),
    # the table of a design
    (
        "infection_rate,act",
        "infection_rat,act",
        "line 47, [block 2] table_text: table header: unknown column, got 'infection_rat'; allowed: "
        "grid_width, grid_height, infection_rate, recovery_rate, initial_infected_pct, "
        "action.second_wave; did you mean 'infection_rate'?",
    ),
    (
        "0.2,40\n",
        "0.2\n",
        "line 47, [block 2] table_text: table row 3: wrong width, got 1 field; allowed: 2",
    ),
    (
        "0.2,40",
        '0.2,"40',
        "line 47, [block 2] table_text: table line 3: a quote that is never closed",
    ),
    (
        "0.2,40",
        "much,40",
        "line 47, [block 2] table_text: table row 3, column 'infection_rate': not a number, got "
        "'much'; allowed: 0 to 1",
    ),
    (
        "action.second",
        "action.secnd",
        "line 47, [block 2] table_text: table header: unknown column, got 'action.secnd_wave'; "
        "allowed: grid_width, grid_height, infection_rate, recovery_rate, initial_infected_pct, "
        "action.second_wave; did you mean 'action.second_wave'?",
    ),
    (
        "table_text",
        "table",
        "line 47, [block 2] table: unknown key `table`; allowed: design, samples, design_seed, "
        "second_order, num_levels, where, file, table_text, factors; did you mean 'table_text'?",
    ),
    (
        "\n0.1,20\n0.2,40",
        "",
        "line 47, [block 2] table_text: the table has 0 rows; allowed: one row a config below the header",
    ),
    (
        'design = "lhs"',
        'design = "table"',
        'line 39, [block 1]: a table design needs `file` or `table_text`; add file = "design.csv"\n'
        "line 41, [block 1] samples: a table design takes none, got 40; remove it, or write design "
        '= "lhs", "random", "sobol", "saltelli" or "morris"\n'
        "line 42, [block 1] design_seed: a table design takes none, got 9; remove it, or write "
        'design = "lhs", "random", "sobol", "saltelli" or "morris"\n'
        "line 43, [block 1] factors: a table design takes no factors; the header of the table names "
        "what varies; remove the factors",
    ),
]


@pytest.mark.parametrize(("right", "mistake", "message"), TYPOS, ids=[mistake for _, mistake, _ in TYPOS])
def test_a_typo_is_told_where_and_what_to_write_instead(right: str, mistake: str, message: str) -> None:
    check(right, mistake, message)
