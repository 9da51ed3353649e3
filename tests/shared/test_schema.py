"""Schemas and their hash: pinned for the models, changed by what can change a result and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from henad_web.errors import ParamError
from henad_web.model.fnv import Fnv1a64, fnv1a64
from henad_web.model.params import Apply, Format, Param, boolean, choice, f32, u32
from henad_web.model.schema import Action, ModelSchema, ScheduledAction, Stat, schedule_of
from henad_web.models import example_models

PARAMS = (
    f32("rate", "Rate", 0.3, 0, 1, step=0.01),
    u32("count", "Count", 0, 0, 9),
    boolean("flag", "Flag", False),
    choice("mode", "Mode", ("a", "b"), 1),
)
SCHEMA = ModelSchema(
    model="toy",
    name="Toy",
    backend="cpu",
    params=PARAMS,
    stats=(Stat("Alive", (1, 2, 3, 255)),),
    actions=(Action("poke", "Poke"),),
)


def test_schemas_of_the_models_are_pinned() -> None:
    models = example_models()
    assert models["sir"].schema().schema_hash == "6ff1dc3971fd0a96"
    assert models["game_of_life"].schema().schema_hash == "aba7303a467b06bf"


@pytest.mark.parametrize(
    ("data", "hash"),
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_hashes_are_the_published_ones(data: bytes, hash: int) -> None:
    assert fnv1a64(data) == hash


@pytest.mark.parametrize("number", [0, 1, 255, 256, 0x0100000000000000, 0x00FF0000AB000000, 2**64 - 1])
def test_a_number_is_written_as_its_eight_bytes(number: int) -> None:
    assert Fnv1a64().u64(number).value_int == fnv1a64(number.to_bytes(8, "little"))


def test_typed_writes_are_the_bytes_they_stand_for() -> None:
    assert Fnv1a64().text("é").value_int == fnv1a64(b"\x02" + bytes(7) + "é".encode())
    assert Fnv1a64().f64(1.5).value_int == fnv1a64(bytes(6) + b"\xf8\x3f")
    assert Fnv1a64().value(PARAMS[0], 0.5).value_int == fnv1a64(b"\x00\x00\x00\x00\x3f" + bytes(4))
    assert Fnv1a64().value(PARAMS[1], 7).value_int == fnv1a64(b"\x01\x07" + bytes(7))
    assert Fnv1a64().value(PARAMS[2], True).value_int == fnv1a64(b"\x02\x01" + bytes(7))
    assert Fnv1a64().value(PARAMS[3], "b").value_int == fnv1a64(b"\x03\x01" + bytes(7))


def with_param(index: int, param: Param) -> ModelSchema:
    params = list(PARAMS)
    params[index] = param
    return replace(SCHEMA, params=tuple(params))


@pytest.mark.parametrize(
    "schema",
    [
        replace(SCHEMA, name="Other"),
        replace(SCHEMA, backend="gpu"),
        replace(SCHEMA, stats=(Stat("Alive", (9, 9, 9, 9)),)),
        replace(SCHEMA, actions=(Action("poke", "Prod"),)),
        with_param(0, replace(PARAMS[0], label="R", step=0.5, apply=Apply.RELOAD, format=Format.PERCENT)),
    ],
)
def test_what_changes_no_result_leaves_the_hash(schema: ModelSchema) -> None:
    assert schema.schema_hash == SCHEMA.schema_hash


@pytest.mark.parametrize(
    "schema",
    [
        replace(SCHEMA, model="toys"),
        replace(SCHEMA, stats=(Stat("Dead", (1, 2, 3, 255)),)),
        replace(SCHEMA, actions=()),
        replace(SCHEMA, actions=(Action("prod", "Poke"),)),
        replace(SCHEMA, params=PARAMS[::-1]),
        with_param(0, replace(PARAMS[0], max=2.0)),
        with_param(0, replace(PARAMS[0], default=0.5)),
        with_param(1, replace(PARAMS[1], min=1, default=1)),
        with_param(2, replace(PARAMS[2], default=True)),
        with_param(3, choice("mode", "Mode", ("a", "b"), 0)),
        with_param(3, choice("mode", "Mode", ("a", "b", "c"), 1)),
    ],
)
def test_what_can_change_a_result_changes_the_hash(schema: ModelSchema) -> None:
    assert schema.schema_hash != SCHEMA.schema_hash


def test_values_fill_defaults_in_schema_order() -> None:
    assert SCHEMA.defaults == (PARAMS[0].default, 0, False, "b")
    assert SCHEMA.values({"mode": "a", "count": "3"}) == (PARAMS[0].default, 3, False, "a")
    assert SCHEMA.index("flag") == 2
    assert SCHEMA.param("flag") is PARAMS[2]


def test_an_unknown_parameter_is_refused_with_what_was_probably_meant() -> None:
    with pytest.raises(ParamError) as caught:
        SCHEMA.values({"raet": 1})
    assert str(caught.value) == (
        "parameter 'raet': model 'toy' has no such parameter, got 'raet'; allowed: one of rate, count, flag, mode; "
        "did you mean 'rate'?"
    )


def test_the_document_tells_everything_with_shortest_numbers() -> None:
    document = SCHEMA.document(("Alive",))
    assert list(document) == [
        "schema_version",
        "model",
        "name",
        "backend",
        "schema_hash",
        "params",
        "stats",
        "stat_columns",
        "actions",
        "seed",
    ]
    assert document["params"] == [
        {
            "index": 0,
            "id": "rate",
            "label": "Rate",
            "kind": "f32",
            "apply": "live",
            "format": "plain",
            "default": 0.3,
            "min": 0.0,
            "max": 1.0,
            "step": 0.01,
        },
        {
            "index": 1,
            "id": "count",
            "label": "Count",
            "kind": "u32",
            "apply": "live",
            "format": "plain",
            "default": 0,
            "min": 0,
            "max": 9,
        },
        {
            "index": 2,
            "id": "flag",
            "label": "Flag",
            "kind": "bool",
            "apply": "live",
            "format": "plain",
            "default": False,
        },
        {
            "index": 3,
            "id": "mode",
            "label": "Mode",
            "kind": "choice",
            "apply": "live",
            "format": "plain",
            "default": "b",
            "options": ["a", "b"],
            "default_index": 1,
        },
    ]
    assert document["stats"] == [{"label": "Alive", "color": [1, 2, 3, 255]}]
    assert document["actions"] == [{"index": 0, "id": "poke", "label": "Poke"}]
    assert document["seed"] == {"type": "u64"}
    assert "stat_columns" not in SCHEMA.document()


def test_actions_of_one_tick_keep_their_order() -> None:
    given = [ScheduledAction(5, "b", "b"), ScheduledAction(0, "c", "c"), ScheduledAction(5, "a", "a")]
    assert [action.id for action in schedule_of(given)] == ["c", "b", "a"]
