"""Expressions: what is read equals what Python reads, and whatever else is refused in time."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.equations.expressions import (
    Call,
    Expression,
    Name,
    Number,
    rational,
    text_of,
    walk,
)
from sweep.equations.functions import FUNCTIONS, OPERATORS
from sweep.equations.parsing import MAX_DEPTH, MAX_LENGTH, MAX_PARTS, parse
from sweep.errors import FaultError
from tests.oracles import expressions as oracle

VALUES = {"a": 0.7, "b": -1.3, "x": 2.5, "v_1": 1e-3, "t": 3.0, "pi": math.pi}
VALUES |= {"stick": True, "slip": False}
NO_VALUE = (ArithmeticError, ValueError, TypeError)


def tree_of(expression: Expression) -> Any:
    match expression:
        case Number(value):
            return value
        case Name(name):
            return name
        case Call(function, arguments):
            return (function, *map(tree_of, arguments))


def floats(tree: Any) -> Any:
    """The tree with its whole numbers as floats."""
    if isinstance(tree, tuple):
        return tuple(floats(part) for part in tree)
    return tree if isinstance(tree, str) else float(tree)


@settings(deadline=None)
@given(st.one_of(oracle.trees(), oracle.conditions()))
def test_a_text_is_read_as_the_tree_it_was_written_from(tree: Any) -> None:
    assert tree_of(parse(oracle.text_of(tree))) == floats(tree)


@settings(deadline=None)
@given(st.one_of(oracle.trees(), oracle.conditions()), st.randoms(use_true_random=False))
def test_operators_bind_as_in_python(tree: Any, rng: random.Random) -> None:
    text = oracle.text_of(floats(tree), lambda: rng.random() < 0.7)
    try:
        expected = oracle.python_value(text, VALUES)
    except SyntaxError:  # `a + not b`
        with pytest.raises(FaultError):
            parse(text)
        return
    except NO_VALUE:
        expected = None
    try:
        value = oracle.value_of(tree_of(parse(text)), VALUES)
    except NO_VALUE:
        return
    assert expected is not None
    assert value == expected or (math.isnan(value) and math.isnan(expected))


@settings(deadline=None)
@given(st.one_of(oracle.trees(), oracle.conditions()))
def test_an_expression_written_and_read_again_is_equal(tree: Any) -> None:
    expression = parse(oracle.text_of(tree))
    again = parse(text_of(expression))
    assert again == expression
    assert hash(again) == hash(expression)
    assert text_of(again) == text_of(expression)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a+b*c", "a + b*c"),
        ("(a+b)*c", "(a + b)*c"),
        ("a-(b-c)", "a - (b - c)"),
        ("(a-b)-c", "a - b - c"),
        ("a/(b*c)", "a/(b*c)"),
        ("a**b**c", "a**b**c"),
        ("(a**b)**c", "(a**b)**c"),
        ("-a**2", "-a**2"),
        ("(-a)**2", "(-a)**2"),
        ("a**-2", "a**-2"),
        ("+a", "a"),
        ("2.0 * x", "2*x"),
        ("1e3", "1000"),
        ("1.5E-7", "1.5e-07"),
        (".5", "0.5"),
        ("a < b < c", "a < b and b < c"),
        ("(a < b) == (b < c)", "(a < b) == (b < c)"),
        ("not (a < b)", "not a < b"),
        ("(a < b or c < a) and stick", "(a < b or c < a) and stick"),
        ("where( a<0 ,-a,a )", "where(a < 0, -a, a)"),
        ("min(a, b,\n\tc)", "min(a, b, c)"),
    ],
)
def test_equal_expressions_have_one_text(text: str, canonical: str) -> None:
    assert text_of(parse(text)) == canonical


def test_common_parts_are_equal_objects_whatever_their_place() -> None:
    product = parse("sin(x)*cos(t) + (sin(x) * cos(t))**2")
    assert isinstance(product, Call)
    first, second = product.arguments
    assert isinstance(second, Call)
    assert first == second.arguments[0]
    assert first.column != second.arguments[0].column
    assert {first, second.arguments[0]} == {first}


def test_columns_count_from_1() -> None:
    places = {text_of(part): part.column for part in walk(parse("a + sin(b*x)"))}
    assert places == {"a + sin(b*x)": 1, "a": 1, "sin(b*x)": 5, "b*x": 9, "b": 9, "x": 11}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_is_read(function: str) -> None:
    arguments = ", ".join(["x"] * FUNCTIONS[function].least)
    parsed = parse(f"{function}({arguments})")
    assert parsed == Call(function, (Name("x"),) * FUNCTIONS[function].least)
    assert set(OPERATORS).isdisjoint(FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", "2"), ("-0.5", "-1/2"), ("1/3", "1/3"), ("0.1", "1/10"), ("2*3-1", "5"), ("1/0", "None"),
     ("x", "None"), ("2**3", "8"), ("-2**2", "-4"), ("2**-2", "1/4"), ("2**2**3", "256"),
     ("(1/2)**(6/2)", "1/8"), ("0**0", "1"), ("0**-1", "None"), ("4**0.5", "None"),
     ("1/(2-2)", "None"), ("10**10**10", "None"), ("1e300*1e300", "None"),
     ("2**1000*2**1000", "None")],
)  # fmt: skip
def test_rational_numbers_are_exact(text: str, value: str) -> None:
    assert str(rational(parse(text))) == value


# (text, what is said about it)
# fmt: off
BROKEN = [
    ("", "empty"),
    ("  \n ", "empty"),
    ("x ^ 2", "column 3: '^' is not known in expressions; write **"),
    ("2x", "column 1: '2x' is not a number; to multiply, write 2*x"),
    ("3 x", "column 3: an operator is missing before 'x'"),
    ("(a)(b)", "column 4: an operator is missing before '('"),
    ("2sin(x)", "write 2*sin"),
    ("0x1F", "'0x1F' is not a number; write numbers in decimal"),
    ("007", "this is not an expression"),
    ("1_000", "'1_000' is not a number; write numbers without underscores"),
    ("3j", "'3j' is not a number; there are no complex numbers"),
    ("1e999", "column 1: the number is too large"),
    ("1.2.3", "'1.2.3' is not a number"),
    ("inf", None),
    ("()", "column 1: a comma stands only"),
    ("0,5", "column 2: a comma stands only between the arguments"),
    ("x = 2", "column 3: '=' is not known in expressions; write == to compare"),
    ("x := 2", "':=' is not known in expressions"),
    ("x // 2", "'//' is not known in expressions; write floor(a/b)"),
    ("x % 2", "'%' is not known in expressions; write a - b*floor(a/b)"),
    ("a | b", "'|' is not known in expressions; write or"),
    ("!a", "'!' is not known in expressions; write not"),
    ("x.real", "column 2: '.' is not known in expressions; a point stands only in numbers"),
    ("x[0]", "column 2: '[' is not known in expressions; only names with over"),
    ("{x}", "column 1: '{' is not known in expressions"),
    ('"x"', "there is no text"),
    ("lambda: 0", "'lambda' is not known in expressions"),
    ("x if a else b", "'if' is not known in expressions; write where(condition, a, b)"),
    ("True", "'True' is not known in expressions"),
    ("x; y", "';' is not known in expressions; write one expression"),
    ("x # a comment", "'#' is not known in expressions; write comments outside"),
    ("x \\\n y", "is not known in expressions"),
    ("x\x00y", r"'\x00' is not known in expressions"),
    ("2 × x", "'×' is not known in expressions; write *"),
    ("a − b", "'−' is not known in expressions; write -"),
    ("x²", "'²' is not known in expressions; write **2"),
    ("2*π", "'π' is not known in expressions; write pi"),
    ("a ≤ b", "'≤' is not known in expressions; write <="),
    ("größe", "column 3: 'ö' is not known in expressions"),
    ("x\u202ey", "is not known in expressions"),
    ("((a)", "column 1: '(' is not closed"),
    ("a)", "column 2: ')' without a '('"),
    ("a) + (b", "column 2: ')' without a '('"),
    ("a +", "this is not an expression; check its operators"),
    ("**a", "this is not an expression"),
    ("sin", "'sin' is a function; write sin(...)"),
    ("sin(a, b)", "sin takes 1 argument, not 2"),
    ("atan2(a)", "atan2 takes 2 arguments, not 1"),
    ("min(a)", "min takes 2 or more arguments, not 1"),
    ("where(a < b, a)", "where takes 3 arguments, not 2"),
    ("sinn(x)", "'sinn' is not a function; to multiply, write sinn*(...); did you mean 'sin'?"),
    ("k(x)", "'k' is not a function; to multiply, write k*(...); choose one of sin, cos"),
    ("sin(*a)", "this is not known in expressions"),
    ("sin(x=a)", "'=' is not known in expressions; write =="),
    ("max(a, b,, c)", "this is not an expression"),
    ("a +\n  b^2", "line 2, column 4: '^' is not known in expressions; write **"),
    ("(" * 60 + "a" + ")" * 60, "column 51: more than 50 parentheses deep"),
    ("-" * 1999 + "a", f"more than {MAX_PARTS:,} parts"),
    ("a**" * 400 + "a", f"column {3 * MAX_DEPTH - 2}: nested more than {MAX_DEPTH} deep"),
    ("a+" * 300 + "a", f"nested more than {MAX_DEPTH} deep"),
    ("max(" + "a," * 990 + "a) + a", None),
    ("a" * (MAX_LENGTH + 1), "2,001 characters; at most 2,000 are read"),
]
# fmt: on


@pytest.mark.parametrize(("text", "message"), BROKEN, ids=lambda each: repr(each)[:30])
def test_what_is_not_an_expression_is_refused(text: str, message: str | None) -> None:
    if message is None:  # only its names may be wrong
        parse(text)
        return
    with pytest.raises(FaultError) as error:
        parse(text)
    assert message in str(error.value)


PIECES = [
    "a", "x", "pi", "2", "0.5", "1e9", "0x", "_", "j", " ", "  ", "\n", "\t", "+", "-", "*", "/",
    "**", "//", "(", ")", "((", "))", ",", "<", "<=", "==", "!=", "=", ":=", "^", "%", "and", "or",
    "not", "if", "else", "lambda", "in", "is", "sin(", "where(", "min(", "hypot(", ".", "..", "[",
    "]", "{", "}", "'", '"', "'''", "\\", "#", "@", "~", "f'", "\x00", "é", "²", "\ud800", "e5",
    "1_", "__class__", "None", "\u2028", "；",
]  # fmt: skip


def random_text(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 40)))
    good = list("where(a < 0.5*x and not b >= 2, -a**2*sin(x + pi), (a - b)/max(a, 1e-3, x))")
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(good))
        good[place : place + rng.randrange(3)] = rng.choice(PIECES)
    return "".join(good) * rng.choice([1, 1, 1, 5])


def fuzz(count: int, seed: int) -> None:
    rng, slowest, read = random.Random(seed), 0.0, 0
    for _ in range(count):
        text = random_text(rng)
        start = time.perf_counter()
        try:
            expression = parse(text)
            read += 1
            assert parse(text_of(expression)) == expression
        except FaultError as error:
            assert len(str(error)) < 400
        slowest = max(slowest, time.perf_counter() - start)
    assert read > count / 100
    assert slowest < 2, "the time for a text is bounded"


def test_random_texts_are_read_or_refused() -> None:
    fuzz(5_000, seed=1)


@pytest.mark.broad
def test_many_random_texts_are_read_or_refused() -> None:
    fuzz(100_000, seed=2)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except FaultError as error:
        assert str(error)
