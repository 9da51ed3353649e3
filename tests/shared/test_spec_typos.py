"""Every table of an example but its blocks, with a key and a value mistyped: what its author is told, word for word."""

from __future__ import annotations

import pytest

from tests.shared.typos import EXAMPLE, check, told


def test_the_example_has_nothing_wrong() -> None:
    assert told(EXAMPLE) == ""


TYPOS = [
    # top level
    (
        'model = "sir"',
        'modle = "sir"',
        "line 1, modle: unknown key `modle`; allowed: model, set, run, measure, seeds, action, "
        "block, search, execution; did you mean 'model'?",
    ),
    (
        'model = "sir"',
        "model = sir",
        'line 1, top level: not valid TOML: Invalid value at column 9; a text stands in quotes: model = "sir"',
    ),
    (
        'model = "sir"',
        "model = 3",
        'line 1, model: not a text, got the number 3; allowed: a text in quotes; write model = "3"',
    ),
    (
        'model = "sir"',
        'model = "srr"',
        "spec is for model 'srr', expected 'sir'; pass the entry of 'srr' or change `model` in the spec",
    ),
    (
        "[measure]",
        "[mesure]",
        "line 14, mesure: unknown key `mesure`; allowed: model, set, run, measure, seeds, action, "
        "block, search, execution; did you mean 'measure'?",
    ),
    (
        "[[block]]",
        "[[blocks]]",
        "line 31, blocks: unknown key `blocks`; allowed: model, set, run, measure, seeds, action, "
        "block, search, execution; did you mean 'block'?",
    ),
    (
        "[[action]]",
        "[action]",
        "line 26, action: not a list, got a table; allowed: a list; write [[action]] with double "
        "brackets, or a list of tables",
    ),
    (
        "[seeds]",
        "[seed]",
        "line 22, seed: unknown key `seed`; allowed: model, set, run, measure, seeds, action, block, search, "
        "execution; did you mean 'seeds'?",
    ),
    # [set]
    (
        "grid_width = 64",
        "grid_widht = 64",
        "line 4, [set] grid_widht: unknown parameter, got 'grid_widht'; allowed: grid_width, "
        "grid_height, infection_rate, recovery_rate, initial_infected_pct; did you mean 'grid_width'?",
    ),
    (
        "grid_width = 64",
        "grid_width = 64.5",
        "line 4, [set] grid_width: not a whole number, got 64.5; allowed: 1 to 10000",
    ),
    (
        "grid_width = 64",
        'grid_width = "wide"',
        "line 4, [set] grid_width: not a whole number, got 'wide'; allowed: 1 to 10000",
    ),
    (
        "grid_width = 64",
        "grid_width = [32, 64]",
        "line 4, [set] grid_width: not a value, got a list; allowed: a number, true or false, or a "
        "text; what varies belongs in the factors of a [[block]]",
    ),
    (
        "= 0.005",
        '= "0,005"',
        "line 5, [set] initial_infected_pct: not a number, got '0,005'; allowed: 0 to 1; did you mean '0.005'?",
    ),
    (
        "= 0.005",
        "= 5",
        "line 5, [set] initial_infected_pct: out of range, got 5; allowed: 0 to 1",
    ),
    (
        "= 0.005",
        "= true",
        "line 5, [set] initial_infected_pct: not a number, got true; allowed: 0 to 1",
    ),
    # [run]
    (
        "steps = 300",
        "step = 300",
        "line 8, [run] step: unknown key `step`; allowed: steps, warmup, replicates, stop, "
        "timeout_s, order; did you mean 'steps'?",
    ),
    (
        "steps = 300",
        'steps = "300"',
        "line 8, [run] steps: not a whole number, got the text '300'; allowed: a whole number, 0 to "
        "2^64 - 1; write steps = 300, without quotes",
    ),
    (
        "steps = 300",
        "steps = 300.0",
        "line 8, [run] steps: not a whole number, got the number 300.0; allowed: a whole number, 0 "
        "to 2^64 - 1; write steps = 300",
    ),
    (
        "steps = 300",
        "steps = -3",
        "line 8, [run] steps: below 0, got the number -3; allowed: a whole number, 0 to 2^64 - 1",
    ),
    (
        "warmup = 10",
        "warm_up = 10",
        "line 9, [run] warm_up: unknown key `warm_up`; allowed: steps, warmup, replicates, stop, "
        "timeout_s, order; did you mean 'warmup'?",
    ),
    (
        "replicates = 3",
        "replicate = 3",
        "line 10, [run] replicate: unknown key `replicate`; allowed: steps, warmup, replicates, "
        "stop, timeout_s, order; did you mean 'replicates'?",
    ),
    (
        "replicates = 3",
        "replicates = 0",
        "line 10, [run] replicates: no replicates, got 0; allowed: at least 1",
    ),
    (
        "replicates = 3",
        "repetitions = 3",
        "line 10, [run] repetitions: unknown key `repetitions`; allowed: steps, warmup, replicates, "
        "stop, timeout_s, order; did you mean 'replicates'?",
    ),
    (
        "timeout_s = 600",
        "timeout = 600",
        "line 11, [run] timeout: unknown key `timeout`; allowed: steps, warmup, replicates, stop, "
        "timeout_s, order; did you mean 'timeout_s'?",
    ),
    (
        "timeout_s = 600",
        'timeout_s = "10 min"',
        "line 11, [run] timeout_s: not a number, got the text '10 min'; allowed: a number of seconds",
    ),
    (
        "timeout_s = 600",
        "timeout_s = -1",
        "line 11, [run] timeout_s: the timeout is not a time, got -1; allowed: finite seconds from 0 "
        "on; leave it out for none",
    ),
    # run.stop
    (
        "stop = {",
        "stops = {",
        "line 12, [run] stops: unknown key `stops`; allowed: steps, warmup, replicates, stop, "
        "timeout_s, order; did you mean 'stop'?",
    ),
    (
        "condition =",
        "conditon =",
        "line 12, [run.stop] conditon: unknown key `conditon`; allowed: condition, min_tick; did you mean 'condition'?",
    ),
    (
        "min_tick",
        "min_tik",
        "line 12, [run.stop] min_tik: unknown key `min_tik`; allowed: condition, min_tick; did you mean 'min_tick'?",
    ),
    (
        "Infected <= 0",
        "Infectd <= 0",
        "line 12, [run.stop] condition: no such statistic, got 'Infectd'; allowed: Susceptible, "
        "Infected, Recovered; did you mean 'Infected'?",
    ),
    (
        "Infected <= 0",
        "Infected =< 0",
        "line 12, [run.stop] condition: not a condition, '=<' is not a comparator, got the text "
        "'Infected =< 0'; allowed: COLUMN CMP NUMBER with CMP one of < <= > >= == !=, such as "
        "'Infected <= 0'; write <= for =<",
    ),
    (
        "Infected <= 0",
        "Infected = 0",
        "line 12, [run.stop] condition: not a condition, '=' is not a comparator, got the text "
        "'Infected = 0'; allowed: COLUMN CMP NUMBER with CMP one of < <= > >= == !=, such as "
        "'Infected <= 0'; write == for =",
    ),
    (
        "Infected <= 0",
        "Infected",
        "line 12, [run.stop] condition: not a condition, no comparator found, got the text "
        "'Infected'; allowed: COLUMN CMP NUMBER with CMP one of < <= > >= == !=, such as 'Infected "
        "<= 0'",
    ),
    (
        "Infected <= 0",
        "Infected <= none",
        "line 12, [run.stop] condition: character 13 of the expression: no such statistic, got 'none'; allowed: "
        "Susceptible, Infected, Recovered",
    ),
    (
        "Infected <= 0",
        "Infected <= 0 and Recoverd > 1",
        "line 12, [run.stop] condition: character 19 of the expression: no such statistic, got 'Recoverd'; allowed: "
        "Susceptible, Infected, Recovered; did you mean 'Recovered'?",
    ),
    (
        "Infected <= 0",
        "Infected <= 0 && Recovered > 1",
        "line 12, [run.stop] condition: character 15 of the expression: not a word of an expression, got '&&'; did "
        "you mean 'and'?",
    ),
    (
        "Infected <= 0",
        "(Infected <= 0 or Recovered > 1",
        "line 12, [run.stop] condition: character 32 of the expression: `)` is missing at the end; allowed: such as "
        "'Infected <= 0 and (Recovered > 10 or \"Mean age\" < 3)'",
    ),
    (
        "min_tick = 41",
        'min_tick = "41"',
        "line 12, [run.stop] min_tick: not a whole number, got the text '41'; allowed: a whole "
        "number, 0 to 2^64 - 1; write min_tick = 41, without quotes",
    ),
    # [measure]
    (
        "stats_every",
        "stat_every",
        "line 15, [measure] stat_every: unknown key `stat_every`; allowed: stats_every, "
        "series_every, default_reducers, reducers, tables, tables_every; did you mean 'stats_every'?",
    ),
    (
        "stats_every = 2",
        "stats_every = 0",
        "line 15, [measure] stats_every: not a cadence, got 0; allowed: at least 1",
    ),
    (
        "series_every = 4",
        "series_every = 3",
        "line 16, [measure] series_every: not a multiple of stats_every, which is 2, got 3; allowed: "
        "0 for no series, or a multiple such as 2",
    ),
    (
        "default_reducers = true",
        'default_reducers = "yes"',
        "line 17, [measure] default_reducers: neither true nor false, got the text 'yes'; allowed: "
        "true or false, without quotes; write default_reducers = true",
    ),
    (
        "default_reducers = true",
        "default_reducers = 1",
        "line 17, [measure] default_reducers: neither true nor false, got the number 1; allowed: "
        "true or false, without quotes; write default_reducers = true",
    ),
    (
        "stats_every = 2",
        "steps = 2",
        "line 15, [measure] steps: unknown key `steps`; allowed: stats_every, series_every, "
        "default_reducers, reducers, tables, tables_every; `steps` belongs in [run]",
    ),
    # a reducer
    (
        'column = "Inf',
        'colum = "Inf',
        "line 19, [measure.reducers #1] colum: unknown key `colum`; allowed: column, kinds; did you mean 'column'?",
    ),
    (
        'column = "Infected"',
        'column = "Infeced"',
        "line 19, [measure.reducers #1] column: no such statistic, got 'Infeced'; allowed: "
        "Susceptible, Infected, Recovered; did you mean 'Infected'?",
    ),
    (
        "kinds = [",
        "kind = [",
        "line 19, [measure.reducers #1] kind: unknown key `kind`; allowed: column, kinds; did you mean 'kinds'?",
    ),
    (
        '"argmax"',
        '"agmax"',
        "line 19, [measure.reducers #1] kinds: no such reducer, the word is not one of them, got the "
        "text 'agmax'; allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, "
        "mean@START..END; did you mean 'argmax'?",
    ),
    (
        '"argmax"',
        '"median"',
        "line 19, [measure.reducers #1] kinds: no such reducer, the word is not one of them, got the "
        "text 'median'; allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, "
        "mean@START..END; did you mean 'mean'?",
    ),
    (
        '"first>=400"',
        '"first=>400"',
        "line 19, [measure.reducers #1] kinds: no such reducer, '=>' is not a comparator, got the "
        "text 'first=>400'; allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, "
        "mean@START..END; write >= for =>",
    ),
    (
        '"first>=400"',
        '"first"',
        "line 19, [measure.reducers #1] kinds: no such reducer, no comparator found, got the text "
        "'first'; allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, mean@START..END; "
        "write first<=10 or mean@200..600, with numbers of your own",
    ),
    (
        '"first>=400"',
        '"mean@9..2"',
        "line 19, [measure.reducers #1] kinds: no such reducer, the window is reversed: 9 is after "
        "2, got the text 'mean@9..2'; allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, "
        "mean@START..END",
    ),
    (
        '["argmax", "first>=400"]',
        '"argmax"',
        "line 19, [measure.reducers #1] kinds: not a list, got the text 'argmax'; allowed: a list; "
        'write kinds = ["argmax"]',
    ),
    (
        '"argmax"',
        "3",
        "line 19, [measure.reducers #1] kinds: no such reducer, not a text, got the number 3; "
        "allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, mean@START..END",
    ),
    # [seeds]
    (
        "root = 42",
        "rot = 42",
        "line 23, [seeds] rot: unknown key `rot`; allowed: root, scheme, list; did you mean 'root'?",
    ),
    (
        "root = 42",
        'root = "x"',
        "line 23, [seeds] root: not a seed, got the text 'x'; allowed: a whole number or a text of "
        "digits, 0 to 2^64 - 1",
    ),
    (
        "root = 42",
        "root = -1",
        "line 23, [seeds] root: not a seed, got the number -1; allowed: a whole number or a text of "
        "digits, 0 to 2^64 - 1",
    ),
    (
        "root = 42",
        "root = 1e3",
        "line 23, [seeds] root: not a seed, got the number 1000.0; allowed: a whole number or a text "
        "of digits, 0 to 2^64 - 1; write root = 1000",
    ),
    (
        '"common"',
        '"comon"',
        "line 24, [seeds] scheme: no such word, got the text 'comon'; allowed: \"common\", "
        "\"independent\"; did you mean 'common'?",
    ),
    (
        '"common"',
        "3",
        'line 24, [seeds] scheme: no such word, got the number 3; allowed: "common", "independent"',
    ),
    # [[action]]
    (
        'id = "seed',
        'ids = "seed',
        "line 27, [action #1] ids: unknown key `ids`; allowed: id, tick, name; did you mean 'id'?",
    ),
    (
        'id = "seed_outbreak"',
        'id = "seed_outbrake"',
        "line 27, [action #1] id: unknown action, got 'seed_outbrake'; allowed: seed_outbreak; did "
        "you mean 'seed_outbreak'?",
    ),
    (
        "tick = 40",
        "tik = 40",
        "line 29, [action #1] tik: unknown key `tik`; allowed: id, tick, name; did you mean 'tick'?",
    ),
    (
        "tick = 40",
        "tick = 4.5",
        "line 29, [action #1] tick: not a whole number, got the number 4.5; allowed: a whole number, 0 to 2^64 - 1",
    ),
    (
        'name = "second_wave"',
        'nam = "second_wave"',
        "line 28, [action #1] nam: unknown key `nam`; allowed: id, tick, name; did you mean 'name'?",
    ),
    (
        'name = "second_wave"',
        'name = ""',
        "line 28, [action #1] name: an empty name, got the text ''; leave it out to use the id",
    ),
    # [execution]
    (
        'concurrent = "auto"',
        'concurent = "auto"',
        "line 54, [execution] concurent: unknown key `concurent`; allowed: concurrent, memory, "
        "gpu_memory; did you mean 'concurrent'?",
    ),
    (
        'concurrent = "auto"',
        'concurrent = "all"',
        "line 54, [execution] concurrent: not a number of runs, got the text 'all'; allowed: \"auto\" "
        "or a whole number from 1 on",
    ),
    (
        "memory = 1000000",
        'memory = "1 GB"',
        "line 55, [execution] memory: not a whole number, got the text '1 GB'; allowed: a whole "
        "number of bytes, such as 2000000000",
    ),
    (
        "memory = 1000000",
        "memory = -1",
        "line 55, [execution] memory: below 0, got the number -1; allowed: a whole number of bytes, such as 2000000000",
    ),
]


@pytest.mark.parametrize(("right", "mistake", "message"), TYPOS, ids=[mistake for _, mistake, _ in TYPOS])
def test_a_typo_is_told_where_and_what_to_write_instead(right: str, mistake: str, message: str) -> None:
    check(right, mistake, message)


TEN_FAULTS = [
    ('model = "sir"', 'modell = "sir"'),
    ("initial_infected_pct = 0.005", "initial_infected_pct = [0.005]"),
    ("steps = 300", 'steps = "300"'),
    ("Infected <= 0", "Infected =< 0"),
    ("stats_every = 2", "stat_every = 2"),
    ('"argmax"', '"agmax"'),
    ("root = 42", "root = 4.2"),
    ("tick = 40", "tik = 40"),
    ("min = 0.02", "mni = 0.02"),
    ('concurrent = "auto"', 'concurrent = "all"'),
]


def test_ten_faults_are_told_together_in_the_order_of_their_lines() -> None:
    text = EXAMPLE
    for right, mistake in TEN_FAULTS:
        assert right in text
        text = text.replace(right, mistake, 1)
    assert told(text).replace("sweep.toml, ", "") == (
        "line 1, modell: unknown key `modell`; allowed: model, set, run, measure, seeds, action, "
        "block, search, execution; did you mean 'model'?\n"
        "line 5, [set] initial_infected_pct: not a value, got a list; allowed: a number, true or "
        "false, or a text; what varies belongs in the factors of a [[block]]\n"
        "line 8, [run] steps: not a whole number, got the text '300'; allowed: a whole number, 0 to "
        "2^64 - 1; write steps = 300, without quotes\n"
        "line 12, [run.stop] condition: not a condition, '=<' is not a comparator, got the text "
        "'Infected =< 0'; allowed: COLUMN CMP NUMBER with CMP one of < <= > >= == !=, such as "
        "'Infected <= 0'; write <= for =<\n"
        "line 15, [measure] stat_every: unknown key `stat_every`; allowed: stats_every, "
        "series_every, default_reducers, reducers, tables, tables_every; did you mean 'stats_every'?\n"
        "line 19, [measure.reducers #1] kinds: no such reducer, the word is not one of them, got the "
        "text 'agmax'; allowed: final, min, max, mean, argmax, argmin, first<=NUMBER, "
        "mean@START..END; did you mean 'argmax'?\n"
        "line 23, [seeds] root: not a seed, got the number 4.2; allowed: a whole number or a text of "
        "digits, 0 to 2^64 - 1\n"
        "line 29, [action #1] tik: unknown key `tik`; allowed: id, tick, name; did you mean 'tick'?\n"
        "line 34, [block 0.factors #1.range] mni: unknown key `mni`; allowed: min, max, step; did "
        "you mean 'min'?\n"
        "line 54, [execution] concurrent: not a number of runs, got the text 'all'; allowed: \"auto\" "
        "or a whole number from 1 on"
    )
