"""Reading conditions: what binds what, what names stand for, and errors that point at the place."""

import pytest

from foresail.patterns.conditions import Attribute, parse_condition
from foresail.patterns.conditions.syntax import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Function,
    IsKnown,
    Literal,
    Membership,
    Negative,
    Not,
    Operator,
    Or,
    Register,
)
from foresail.patterns.conditions.text import text_of
from foresail.patterns.errors import ConditionTypeError, PatternError, PatternSyntaxError, Place

A, B, C, X = Attribute("a"), Attribute("b"), Attribute("c"), Attribute("x")


def less(left: Attribute | Literal, right: Attribute | Literal) -> Comparison:
    return Comparison(Operator.LESS, left, right)


LOWER_X = Call(Function.LOWER, (X,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("a or b and not c", Or((A, And((B, Not(C)))))),
        ("(a or b) and c", And((Or((A, B)), C))),
        ("a and b and c", And((A, B, C))),
        ("not a and b", And((Not(A), B))),
        ("not a < b", Not(less(A, B))),
        ("a = 1", Comparison(Operator.EQUAL, A, Literal(1))),
        ("1 < x < 9", And((less(Literal(1), X), less(X, Literal(9))))),
        ("a + b * c < 1", less(Arithmetic("+", A, Arithmetic("*", B, C)), Literal(1))),
        ("a - b - c < 1", less(Arithmetic("-", Arithmetic("-", A, B), C), Literal(1))),
        ("-a * -2 < 1", less(Arithmetic("*", Negative(A), Literal(-2)), Literal(1))),
        ('x in ("a", \'b"\',)', Membership(X, (Literal("a"), Literal('b"')))),
        ("x not in (1, -2.5)", Not(Membership(X, (Literal(1), Literal(-2.5))))),
        ("x is known", IsKnown(X)),
        ("a / b is unknown", Not(IsKnown(Arithmetic("/", A, B)))),
        ("last.speed_kn < port.limit", less(Attribute("speed_kn", "last"), Attribute("limit", "port"))),
        ("seconds_since(last) < 1", less(Call(Function.SECONDS_SINCE, (Register("last"),)), Literal(1))),
        ("min(a, b, 1) < 1", less(Call(Function.MIN, (A, B, Literal(1))), Literal(1))),
        ("hour(time) < 1", less(Call(Function.HOUR, (Attribute("time"),)), Literal(1))),
        ("is_night(time, a, b) and c", And((Call(Function.IS_NIGHT, (Attribute("time"), A, B)), C))),
        ('starts_with(lower(x), lower("MS "))', Call(Function.STARTS_WITH, (LOWER_X, Literal("ms ")))),
        ("hour < lower", less(Attribute("hour"), Attribute("lower"))),
        ("`Speed (kn)` < `not`", less(Attribute("Speed (kn)"), Attribute("not"))),
        ("android < inside", less(Attribute("android"), Attribute("inside"))),
        ("known and distance_m", And((Attribute("known"), Attribute("distance_m")))),
        ("x < 1_000 # at most", less(X, Literal(1000))),
        ("x < .5\n  and a", And((less(X, Literal(0.5)), A))),
        (r'x == "\u00e9\"\\"', Comparison(Operator.EQUAL, X, Literal('é"\\'))),
        ("true", Literal(True)),
        ("x < 123456789012345678901", less(X, Literal(123456789012345678901))),
    ],
)
def test_a_text_is_read_as_its_tree(text: str, expected: object) -> None:
    assert parse_condition(text) == expected


def test_parameters_become_constants_and_named_conditions_are_put_in() -> None:
    slow = parse_condition("x < top", parameters={"top": 5})
    assert slow == less(X, Literal(5))
    assert parse_condition("slow and kind in (k)", named={"slow": slow}, parameters={"k": "tug"}) == And(
        (slow, Membership(Attribute("kind"), (Literal("tug"),)))
    )


def test_names_of_functions_are_not_reserved() -> None:
    named = {name: parse_condition(f"{name} > 1") for name in ("hour", "lower", "is_night", "floor")}
    found = parse_condition("hour and lower and not is_night and floor and hour(time) > hour_from", named=named)
    assert isinstance(found, And)
    assert [text_of(part) for part in found.parts] == [
        "hour > 1", "lower > 1", "not is_night > 1", "floor > 1", "hour(time) > hour_from",
    ]  # fmt: skip


def test_one_one_point_zero_and_true_are_three_literals() -> None:
    assert len({Literal(1), Literal(1.0), Literal(True)}) == 3


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("speed_kn > ", PatternSyntaxError, "port:3:24: the condition ends too early. Expected a value"),
        ("", PatternSyntaxError, "port:3:14: the condition is empty."),
        ("speed_kn > )", PatternSyntaxError, "port:3:25: unexpected ')'. Expected a value"),
        ("a b", PatternSyntaxError, "port:3:16: unexpected 'b'. Expected the end of the condition, `and`,"),
        ("and a", PatternSyntaxError, "port:3:14: unexpected 'and'. Expected a value"),
        ("a andb", PatternSyntaxError, "port:3:16: unexpected 'andb'."),
        ("x notin (1)", PatternSyntaxError, "port:3:16: unexpected 'notin'."),
        ("x in not", PatternSyntaxError, "port:3:19: unexpected 'not'. Expected '('."),
        ("a $ b", PatternSyntaxError, "port:3:16: unexpected '$'."),
        ("x is 5", PatternSyntaxError, "port:3:19: unexpected '5'. Expected `known` or `unknown`."),
        ("x == 'abc", PatternSyntaxError, "port:3:19: this ' is never closed."),
        ("x == 'a\\q'", PatternSyntaxError, "port:3:19: this text has an escape that is none."),
        ("angel(a, b) < 3", PatternSyntaxError, "port:3:14: there is no function 'angel'. Did you mean 'angle'?"),
        ("abs(a, b) < 3", PatternSyntaxError, "port:3:14: abs() takes 1 argument, not 2."),
        ("min(a) < 3", PatternSyntaxError, "port:3:14: min() takes at least 2 arguments, not 1."),
        ("x in (a, 2)", PatternSyntaxError, "port:3:20: only constants and parameters can be listed"),
        ("seconds_since(1) < 3", PatternSyntaxError, "port:3:28: seconds_since() takes the name of a register"),
        ("hour(5) < 3", PatternSyntaxError, "port:3:19: hour() takes a time here, such as the attribute `time`."),
        ("lower(5) == 'a'", PatternSyntaxError, "port:3:20: lower() takes a text here: an attribute such as `name`"),
        ("starts_with(a, b)", PatternSyntaxError, "port:3:29: starts_with() compares with a constant, such as"),
        ("is_night(time, a) ", PatternSyntaxError, "port:3:14: is_night() takes 3 arguments, not 2."),
        ("floor(a)", ConditionTypeError, "port:3:14: a value stands where a condition should."),
        ("1e999 < x", PatternSyntaxError, "port:3:14: this is not a number that can be held."),
        ("x == 1__0", PatternSyntaxError, "port:3:19: this is not a number that can be held."),
        ("speed_kn + 1", ConditionTypeError, "port:3:14: a value stands where a condition should."),
        ("a and 5", ConditionTypeError, "port:3:20: a value stands where a condition should."),
        ("(a < b) + 1 < 3", ConditionTypeError, "port:3:14: a condition stands where a value should."),
    ],
)
def test_an_error_names_the_place_and_the_way_out(text: str, kind: type[PatternError], message: str) -> None:
    with pytest.raises(kind) as caught:
        parse_condition(text, Place("port", 3, 14))
    assert str(caught.value).startswith(message)


def test_the_caret_stands_under_the_fault_on_its_line() -> None:
    with pytest.raises(PatternSyntaxError) as caught:
        parse_condition("a and\n  b <> 3", Place("port", 3, 14))
    assert str(caught.value).splitlines() == [
        "port:4:6: unexpected '>'. Expected a value (a number, a text in quotes, an attribute, `(`).",
        "      b <> 3",
        "         ^",
    ]
