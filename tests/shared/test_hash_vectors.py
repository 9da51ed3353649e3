"""Hashes byte for byte: what is written, in which order, spelled out once more and pinned."""

from __future__ import annotations

import struct

import pytest

import henad_web as hw
from henad_web.explore.plan import Plan
from henad_web.explore.spec_file import parse_spec
from tests.shared.schemas import SCHEMA

PLAIN = 'model = "study"\n'
STOP = """\
model = "study"
[run]
steps = 40
warmup = 3
replicates = 2
stop = { condition = "Alive <= 0.5", min_tick = 7 }
[measure]
stats_every = 2
series_every = 4
default_reducers = false
reducers = [{ column = "Alive", kinds = ["max", "first <= 10"] }]
[seeds]
root = 9007199254740993
scheme = "independent"
"""
ACTIONS = """\
model = "study"
[set]
size = 12
wrap = false
[[action]]
id = "pulse"
tick = 4
[[action]]
id = "pulse"
name = "later"
tick = 9
[[block]]
factors = [
  { param = "rate", range = { min = 0.1, max = 0.3, step = 0.1 } },
  { action = "later", values = [20, 40] },
]
"""
TABLE = """\
model = "study"
[[action]]
id = "clear"
tick = 1
[[block]]
design = "table"
table_text = "mode,loss,action.clear\\nexact,-1.5,3\\nfast,2,5\\n"
"""
LHS = """\
model = "study"
[[block]]
design = "lhs"
samples = 5
factors = [{ param = "rate", range = { min = 0, max = 1 } }, { param = "size", range = { min = 1, max = 9 } }]
[[block]]
design = "random"
samples = 3
design_seed = 77
factors = [{ param = "mode", levels = "all" }]
"""


def plan_of(text: str) -> Plan:
    return parse_spec(text).spec.plan(SCHEMA)


class Bytes(bytearray):
    """The bytes that a hash is made of; writes chain."""

    def byte(self, byte: int) -> Bytes:
        self.append(byte)
        return self

    def numbers(self, *numbers: int) -> Bytes:
        for number in numbers:
            self.extend(struct.pack("<Q", number))
        return self

    def texts(self, *texts: str) -> Bytes:
        for text in texts:
            self.numbers(len(text.encode())).extend(text.encode())
        return self

    def double(self, number: float) -> Bytes:
        self.extend(struct.pack("<d", number))
        return self

    def singles(self, *numbers: float) -> Bytes:
        for number in numbers:
            self.extend(struct.pack("<f", number) + bytes(4))
        return self

    def fnv(self) -> str:
        value = 0xCBF29CE484222325
        for byte in self:
            value = (value ^ byte) * 0x100000001B3 % 2**64
        return f"{value:016x}"


def write_config(data: Bytes, plan: Plan, config_id: int) -> Bytes:
    config = plan.configs[config_id]
    size, rate, loss, wrap, mode = config.params
    data.numbers(5).byte(1).numbers(int(size)).byte(0).singles(float(rate)).byte(0).singles(float(loss))
    data.byte(2).numbers(int(wrap)).byte(3).numbers(("fast", "slow", "exact").index(str(mode)))
    return data.numbers(len(config.action_ticks), *config.action_ticks)


def after(name: str, before: str) -> Bytes:
    return Bytes().texts(name).numbers(int(before, 16))


def test_the_schema_byte_for_byte() -> None:
    data = Bytes().texts("henad.schema.1", "study").numbers(5)
    data.texts("size").byte(1).numbers(1, 1000, 8)
    data.texts("rate").byte(0).singles(0.0, 1.0, 0.3)
    data.texts("loss").byte(0).singles(-5.0, 5.0, 0.05)
    data.texts("wrap").byte(2).numbers(1)
    data.texts("mode").byte(3).numbers(3).texts("fast", "slow", "exact").numbers(1)
    data.numbers(4).texts("Alive", "Dead", "Drift", "Ages").numbers(2).texts("pulse", "clear")
    assert SCHEMA.schema_hash == data.fnv() == "b8f5e77ec02025f4"


def test_a_fingerprint_with_a_stop_byte_for_byte() -> None:
    data = after("henad.results.2", SCHEMA.schema_hash).numbers(3, 40)
    data.byte(1).texts("Alive", "<=").double(0.5).numbers(7)
    data.numbers(2, 4).byte(0)
    data.numbers(2).texts("Alive", "max", "Alive", "first<=10").numbers(0)
    assert plan_of(STOP).results_fingerprint == data.fnv()


def test_a_fingerprint_with_actions_byte_for_byte() -> None:
    data = after("henad.results.2", SCHEMA.schema_hash).numbers(0, 1000).byte(0)
    data.numbers(1, 1).byte(1).numbers(0)
    data.numbers(2).texts("pulse", "pulse")
    assert plan_of(ACTIONS).results_fingerprint == data.fnv()


@pytest.mark.parametrize("text", [PLAIN, STOP, ACTIONS, TABLE, LHS])
def test_run_keys_byte_for_byte(text: str) -> None:
    plan = plan_of(text)
    for run in plan.runs():
        data = write_config(after("henad.run.2", plan.results_fingerprint), plan, run.config_id)
        assert plan.run_key(run) == data.numbers(run.seed).fnv()


@pytest.mark.parametrize(
    ("text", "root", "scheme", "names", "blocks"),
    [
        (PLAIN, 0, "common", (), (("factorial", None),)),
        (STOP, 9007199254740993, "independent", (), (("factorial", None),)),
        (ACTIONS, 0, "common", ("pulse", "later"), (("factorial", None),)),
        (TABLE, 0, "common", ("clear",), (("table", None),)),
        (LHS, 0, "common", (), (("lhs", 11629814477949246596), ("random", 77))),
    ],
)
def test_plan_hashes_byte_for_byte(
    text: str, root: int, scheme: str, names: tuple[str, ...], blocks: tuple[tuple[str, int | None], ...]
) -> None:
    plan = plan_of(text)
    data = after("henad.plan.2", plan.results_fingerprint).numbers(root).texts(scheme)
    data.numbers(len(names)).texts(*names).numbers(len(blocks))
    for design, seed in blocks:
        data.texts(design).byte(0 if seed is None else 1)
        data.numbers(*(() if seed is None else (seed,)))
    data.numbers(plan.config_count)
    for config in plan.configs:
        write_config(data.numbers(config.block), plan, config.config_id)
    assert plan.plan_hash == data.fnv()


@pytest.mark.parametrize(
    ("text", "fingerprint", "first_key", "plan_hash", "spec_hash"),
    [
        (PLAIN, "4ae671673099c8cf", "998eb25cf5819c68", "818d85ffb5231ab8", "65993cf66929abb1"),
        (STOP, "bfd8e6d89ab959e2", "f1e99af4db4ee81f", "04d49869c6fe6812", "8190f48c769c4b84"),
        (ACTIONS, "63cbe9c69d4c8a9d", "1090905c76347126", "5e2dec22a9b0964a", "1dee662b62094faf"),
        (TABLE, "04e6aa1d5b97ae14", "fc121e12f2a39677", "aec71602b7daa30c", "ee4ee14cf04aba55"),
        (LHS, "4ae671673099c8cf", "cb4384fc65fc2f1a", "79d03ec02ecdc409", "3ff4766c75e20179"),
    ],
)
def test_recorded_hashes(text: str, fingerprint: str, first_key: str, plan_hash: str, spec_hash: str) -> None:
    plan = plan_of(text)
    found = (plan.results_fingerprint, plan.run_key(plan.run(0)), plan.plan_hash, hw.spec_hash(plan.spec))
    assert found == (fingerprint, first_key, plan_hash, spec_hash)
