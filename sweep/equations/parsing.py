"""Reads the text of an expression by Python's grammar, against a white list; runs nothing."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sweep.equations.expressions import Call, Expression, Name, Number
from sweep.equations.functions import FUNCTIONS, REDUCTIONS, SIZE, SUBSCRIPT, Function
from sweep.errors import FaultError
from sweep.text.reader import finite
from sweep.text.wording import SYNONYMS, nearest, written

MAX_LENGTH = 2000  # characters of an expression
MAX_PARENTHESES = 50  # nested
MAX_DEPTH = 100  # of an expression; a sum of n terms has depth n
MAX_PARTS = 1000  # numbers, names and calls

TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<strange>//|:=|->|<<|>>|=(?!=)|!(?!=)|[^-+*/(),<>=!])
    |(?P<operator>\*\*|<=|>=|==|!=|[-+*/(),<>])""",
    re.VERBOSE,
)
REST_OF_NUMBER = re.compile(r"[A-Za-z0-9_.]+")
WORDS = ("and", "or", "not")
PARTNERS = {")": "(", "]": "["}

CURES = {
    **dict.fromkeys(("if", "else"), "write where(condition, a, b)"),
    **dict.fromkeys("[]", 'only names with over = "INDEX" have elements'),
    **dict.fromkeys("\"'`", "there is no text in expressions"),
    **dict.fromkeys("!~", "write not"),
    **dict.fromkeys("×·⋅", "write *"),
    "^": "write ** for a power",
    "=": "write == to compare",
    "//": "write floor(a/b)",
    "%": "write a - b*floor(a/b)",
    "&": "write and",
    "|": "write or",
    ".": "a point stands only in numbers",
    ";": "write one expression",
    "#": "write comments outside the quotes",
    "÷": "write /",
    "−": "write -",
    "²": "write **2",
    "³": "write **3",
    "π": "write pi",
    "≤": "write <=",
    "≥": "write >=",
    "≠": "write !=",
    "√": "write sqrt(...)",
}

REDUCTION = Function(least=2, most=2)
BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: "and",
    ast.Or: "or",
}  # fmt: skip


def parse(
    text: str, functions: Mapping[str, Function] = FUNCTIONS, *, is_indexed: bool = False
) -> Expression:
    """The expression that a text stands for; FaultError if it is none.

    `is_indexed`: it may have subscripts and reductions, which `expansion` replaces. Nothing is
    evaluated. Time and memory are bounded, whatever the text. Whether its names are
    known and its parts of the right kind is checked elsewhere (`checks`).
    """
    if len(text) > MAX_LENGTH:
        raise FaultError(f"{len(text):,} characters", f"at most {MAX_LENGTH:,} are read")
    if not text.strip():
        raise FaultError("empty", "write an expression")
    _check_tokens(text, is_indexed=is_indexed)
    line = re.sub(r"[\t\r\n]", " ", text)
    try:
        tree = ast.parse(f"({line})", mode="eval").body
    except SyntaxError as error:
        column = min(max((error.offset or 2) - 1, 1), len(text))
        raise _error(text, column, "this is not an expression", "check its operators") from None
    except (MemoryError, RecursionError):
        raise FaultError("nested too deeply", "use [definitions]") from None
    if sum(isinstance(node, ast.expr) for node in ast.walk(tree)) > MAX_PARTS:
        raise FaultError(f"more than {MAX_PARTS:,} parts", "use [definitions]")
    return _Reader(text, functions, is_indexed).expression(tree, 1)


def _error(text: str, column: int, what: str, cure: str = "") -> FaultError:
    """The fault with its place, `column` counting from 1 in the whole text."""
    before = text[: column - 1]
    row = before.count("\n") + 1
    place = f"column {column - before.rfind(chr(10)) - 1}"
    return FaultError(f"{place if row == 1 else f'line {row}, {place}'}: {what}", cure)


def _check_tokens(text: str, *, is_indexed: bool) -> None:
    """Refuse what Python reads but expressions do not have, and parentheses without a partner."""
    before, opened = "", list[int]()
    for token in TOKEN.finditer(text):
        kind, word, column = token.lastgroup, token[0], token.start() + 1
        if kind == "blank":
            continue
        is_bracket = is_indexed and word in "[]"
        if (kind == "strange" and not is_bracket) or (
            keyword.iskeyword(word) and word not in WORDS
        ):
            what = f"{written(word)} is not known in expressions"
            raise _error(text, column, what, CURES.get(word, ""))
        if kind == "number" and (rest := REST_OF_NUMBER.match(text, token.end())):
            raise _error(text, column, *_broken_number(word, rest[0]))
        _check_neighbours(text, column, before, word)
        if word in PARTNERS.values():
            opened.append(column)
        elif word in PARTNERS and not opened:
            raise _error(text, column, f"{word!r} without a {PARTNERS[word]!r} before it")
        elif word in PARTNERS and text[opened[-1] - 1] != PARTNERS[word]:
            raise _error(text, opened[-1], f"{text[opened[-1] - 1]!r} is not closed")
        elif word in PARTNERS:
            opened.pop()
        if len(opened) > MAX_PARENTHESES:
            what = f"more than {MAX_PARENTHESES} parentheses deep"
            raise _error(text, column, what, "use [definitions]")
        before = word
    if opened:
        raise _error(text, opened[-1], f"{text[opened[-1] - 1]!r} is not closed")


def _broken_number(word: str, rest: str) -> tuple[str, str]:
    """What is wrong with a number that ends in `rest`, and the cure."""
    cure = ""
    if rest[0] in "xXoObB" and word == "0" and rest[1:2].isalnum():
        cure = "write numbers in decimal"
    elif "_" in rest and (word + rest).replace("_", "").isdigit():
        cure = "write numbers without underscores"
    elif rest in ("j", "J"):
        cure = f"there are no complex numbers; to multiply, write {word}*{rest}"
    elif rest[0].isalpha() or rest[0] == "_":
        cure = f"to multiply, write {word}*{rest[:20]}"
    return f"{written(word + rest)} is not a number", cure


def _check_neighbours(text: str, column: int, before: str, word: str) -> None:
    """Refuse two operands without an operator between them."""
    ends = before == ")" or (before not in WORDS and before[-1:] not in ("", *"+-*/(,<>=["))
    is_name = word[0].isalpha() or word[0] == "_"
    begins = word[0].isdigit() or word[0] in ".(" or (is_name and word not in WORDS)
    is_call = word == "(" and (before[:1].isalpha() or before[:1] == "_")
    if ends and begins and not is_call:
        what = f"an operator is missing before {written(word)}"
        raise _error(text, column, what, "to multiply, write *")


@dataclass(frozen=True)
class _Reader:
    """Turns a tree of Python's grammar into an expression."""

    text: str
    functions: Mapping[str, Function]
    is_indexed: bool

    def expression(self, node: ast.expr, depth: int) -> Expression:
        """The expression of a node at a depth."""
        text, column = self.text, node.col_offset  # the parenthesis in front: it counts from 1
        if depth > MAX_DEPTH:
            raise _error(text, column, f"nested more than {MAX_DEPTH} deep", "use [definitions]")

        def call(function: str, *parts: ast.expr) -> Call:
            return Call(function, tuple(self.expression(part, depth + 1) for part in parts), column)

        match node:
            case ast.Constant(value=int() | float() as value):
                number = finite(value)
                if number is None:
                    raise _error(text, column, "the number is too large")
                return Number(number, column)
            case ast.Name(id=name):
                if name in self.functions and self.functions[name].is_reserved:
                    raise _error(text, column, f"{name!r} is a function", f"write {name}(...)")
                return Name(name, column)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.expression(operand, depth + 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return call("negative", operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return call("not", operand)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in BINARY:
                return call(BINARY[type(operator)], left, right)
            case ast.BoolOp(op=operator, values=values):
                return call(BINARY[type(operator)], *values)
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = [left, *others]
                pairs = [
                    call(BINARY[type(operator)], *sides[i : i + 2])
                    for i, operator in enumerate(operators)
                ]
                return pairs[0] if len(pairs) == 1 else Call("and", tuple(pairs), column)
            case ast.Subscript(value=ast.Name() as name, slice=places) if self.is_indexed:
                parts = places.elts if isinstance(places, ast.Tuple) else [places]
                return call(SUBSCRIPT, name, *parts)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                self._check_call(name, arguments, column)
                return call(name, *arguments)
            case ast.Tuple(elts=elements):
                column = elements[0].end_col_offset or column if elements else column
                what = "a comma stands only between the arguments of a function"
                raise _error(text, column, what, "decimals are written 0.5")
            case _:
                raise _error(text, column, "this is not known in expressions")

    def _check_call(self, name: str, arguments: list[ast.expr], column: int) -> None:
        functions = self.functions
        if self.is_indexed:
            functions = {**functions, SIZE: Function(), **dict.fromkeys(REDUCTIONS, REDUCTION)}
        if name not in functions:
            known = SYNONYMS.get(name, name.lower())
            cure = f"to multiply, write {name[:20]}*(...); {nearest(name[:64], functions)}"
            cure = f"write {known}(...)" if known in functions else cure
            raise _error(self.text, column, f"{written(name)} is not a function", cure)
        least, most, count = functions[name].least, functions[name].most, len(arguments)
        if count < least or (most is not None and count > most):
            wanted = f"{least} or more" if most is None else str(least)
            wanted += " argument" if most == 1 else " arguments"
            what = f"{name} takes {wanted}, not {count}"
            cure = f"write {name}(index, ...)" if name in REDUCTIONS else ""
            raise _error(self.text, column, what, cure)
        is_of_index = self.is_indexed and name in (SIZE, *REDUCTIONS)
        if is_of_index and not isinstance(arguments[0], ast.Name):
            what = f"the first argument of {name} has to be an index"
            raise _error(self.text, arguments[0].col_offset, what, "name one of [indices]")
