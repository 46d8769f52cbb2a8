"""Equations in TeX: of expressions in models from files, and of the plain text in docstrings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from sweep.equations.expressions import ATOM, NEGATIVE, PRECEDENCE, Call, Expression, Name, Number
from sweep.equations.functions import SUBSCRIPT

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda"),
    *("mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega"),
)
# What TeX has a command for; other functions are set in roman letters.
COMMANDS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "min", "max")
ARCS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
RELATIONS = {
    "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\neq",
    "+": "+", "-": "-", "*": r"\,", "and": r"\land", "or": r"\lor",
}  # fmt: skip
REDUCTIONS = {"sum": r"\sum", "product": r"\prod", "minimum": r"\min", "maximum": r"\max"}
SIGNS = {
    "−": "-", "≤": r"\le ", "≥": r"\ge ", "≠": r"\neq ", "·": r"\cdot ", "×": r"\times ",
    "½": r"\frac{1}{2}",
    "²": "^{2}", "³": "^{3}", "ⁿ": "^{n}", "π": r"\pi ", "∞": r"\infty ",
}  # fmt: skip
DOTS = {"\u0307": "dot", "\u0308": "ddot"}


def tex_of_symbol(symbol: str) -> str:
    """A symbol of a parameter such as "Delta_z", "a0" or "rtol"."""
    base, _, index = symbol.partition("_")
    if not index and (found := re.fullmatch(r"([A-Za-z]+)(\d+)", symbol)):
        base, index = found.groups()
    return _letters(base) + (f"_{{{_letters(index)}}}" if index else "")


def _letters(text: str) -> str:
    if text in GREEK:
        return rf"\{text}"
    escaped = text.replace("_", r"\_")
    return text if len(text) == 1 or text.isdigit() else rf"\mathrm{{{escaped}}}"


def tex_of(expression: Expression, symbols: Mapping[str, str]) -> str:
    """An expression of a model's file; names without a symbol are set as they are.

    A name before brackets has the symbol of `name[]`.
    """

    def operand(part: Expression, least: int) -> str:
        function = part.function if isinstance(part, Call) else ""
        text = tex_of(part, symbols)
        atoms = {"/": ATOM, **dict.fromkeys(REDUCTIONS, PRECEDENCE["*"])}
        binds = {**PRECEDENCE, **atoms}.get(function, ATOM)
        return text if binds >= least else rf"\left({text}\right)"

    match expression:
        case Number(value):
            return _number(value)
        case Name(name):
            return symbols.get(name) or _name(name)
        case Call("/", (above, below)):
            return rf"\frac{{{tex_of(above, symbols)}}}{{{tex_of(below, symbols)}}}"
        case Call("**", (base, exponent)):
            least = ATOM if not (isinstance(base, Call) and base.function == "/") else ATOM + 1
            return f"{operand(base, least)}^{{{tex_of(exponent, symbols)}}}"
        case Call("negative", (argument,)):
            return f"-{operand(argument, NEGATIVE)}"
        case Call("not", (argument,)):
            return rf"\neg {operand(argument, PRECEDENCE['not'])}"
        case Call("sqrt", (argument,)):
            return rf"\sqrt{{{tex_of(argument, symbols)}}}"
        case Call("abs", (argument,)):
            return rf"\left|{tex_of(argument, symbols)}\right|"
        case Call("where", (condition, first, second)):
            chosen = f"{tex_of(first, symbols)} & {tex_of(condition, symbols)}"
            other = rf"{tex_of(second, symbols)} & \text{{otherwise}}"
            return rf"\begin{{cases}}{chosen} \\ {other}\end{{cases}}"
        case Call(function, (Name(name), *places)) if function == SUBSCRIPT:
            inner = ", ".join(tex_of(each, symbols) for each in places)
            return rf"{{{symbols.get(name + SUBSCRIPT) or _name(name)}}}_{{{inner}}}"
        case Call(function, (index, body)) if function in REDUCTIONS:
            inner = operand(body, PRECEDENCE["*"])
            return rf"{REDUCTIONS[function]}_{{{tex_of(index, symbols)}}} {inner}"
        case Call(function, arguments) if function in RELATIONS:
            least = PRECEDENCE[function]
            first, *rest = arguments
            parts = [operand(first, least), *(operand(each, least + 1) for each in rest)]
            return f" {RELATIONS[function]} ".join(parts)
        case Call(function, arguments):
            inner = ", ".join(tex_of(each, symbols) for each in arguments)
            return rf"{_function(function)}\left({inner}\right)"


def _function(name: str) -> str:
    name = ARCS.get(name, name)
    known = name in COMMANDS or name in ARCS.values()
    return rf"\{name}" if known else rf"\operatorname{{{name}}}"


def _name(name: str) -> str:
    switch, equals, value = name.partition(" == ")
    if equals:  # a condition of a switch
        return f"{_name(switch)} = {_name(value)}"
    return r"\pi" if name == "pi" else tex_of_symbol(name) if len(name) <= 2 else _long(name)


def _long(name: str) -> str:
    escaped = name.replace("_", r"\_")
    return rf"\mathit{{{escaped}}}"


def _number(value: float) -> str:
    mantissa, _, exponent = f"{value:.15g}".partition("e")
    if not exponent:
        return mantissa
    factor = "" if mantissa == "1" else rf"{mantissa} \cdot "
    return rf"{factor}10^{{{int(exponent)}}}"


def tex_of_line(line: str) -> str:
    """A line of equations as docstrings have them: `m ÿ = −c ẏ,   κ = E*/G*`."""
    text = "".join(_dotted(line.strip()))
    text = _roots(text)
    text = re.sub(r"([A-Za-z])\*", r"\1^{\\ast}", text)
    text = re.sub(r"(?<![\\A-Za-z{])[A-Za-z]+\d*(_\w+)?|([α-ω])_(\w+)", _word, text)
    return "".join(SIGNS.get(sign, sign) for sign in text)


def _dotted(line: str) -> list[str]:
    """The characters, with letters that have dots above as commands."""
    found: list[str] = []
    for sign in unicodedata.normalize("NFD", line):
        if sign in DOTS:
            found[-1] = rf"\{DOTS[sign]}{{{found[-1]}}}"
        else:
            found.append(sign)
    return found


def _roots(text: str) -> str:
    """Roots of what stands in parentheses or of one letter."""
    while (start := text.find("√")) >= 0:
        end = start + 2
        if text[start + 1] == "(":
            depth = 1
            while depth:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
        inner = text[start + 1 : end]
        inner = inner[1:-1] if inner.startswith("(") else inner
        text = rf"{text[:start]}\sqrt{{{inner}}}{text[end:]}"
    return text


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if found[2]:
        return f"{found[2]}_{{{_letters(found[3])}}}"
    if word in ("sin", "cos", "max", "min"):
        return rf"\{word} "
    if word == "sgn":
        return r"\operatorname{sgn}"
    if "_" in word or re.search(r"\d$", word):
        return tex_of_symbol(word)
    if len(word) > 2:
        return rf"\text{{ {word} }}"
    return " ".join(word)
