"""Pages of models, from their tables and from their files."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from generators.equations import GREEK, tex_of, tex_of_line, tex_of_symbol
from generators.tables import code, equations, plain, table
from sweep.equations.expressions import Expression, Name
from sweep.equations.functions import SUBSCRIPT
from sweep.equations.system import Choice, Event, Rule, System
from sweep.file.model_file import read_model, read_system_file
from sweep.model.shipped import shipped_models
from sweep.model.table import Model, Parameter
from sweep.model.tables import models


def model_pages() -> dict[str, str]:
    """The Markdown of each shipped model's page by name, those of tables first."""
    pages = {name: _page(model, _prose(name)) for name, model in models().items()}
    for name in sorted(shipped_models()):
        system = read_system_file(name, Path())
        prose = "\n".join(_equations(system.as_written))
        pages[name] = _page(read_model(name, Path()), prose)
    return pages


def index_page() -> str:
    """A table of the models, and their pages."""
    shipped = models()
    described = {**shipped, **{n: read_model(n, Path()) for n in sorted(shipped_models())}}
    rows = [
        (f"[`{n}`]({n}.md)", plain(m.title), ", ".join(code(e.name) for e in m.methods))
        for n, m in described.items()
    ]
    pages = "\n".join(described)
    return f"""# Models

These pages are written from the tables and files of the models when the site is built.
`sweep models NAME` prints the same tables, and `sweep models NAME --json` has them for programs.

{table(("model", "what it is", "methods"), rows)}

```{{toctree}}
:hidden:

{pages}
```
"""


def _prose(name: str) -> str:
    """The docstring of a model's module without its title; indented lines are equations."""
    text = importlib.import_module(f"sweep.model.tables.{name}").__doc__ or ""
    paragraphs = textwrap.dedent(text).strip().split("\n\n")[1:]
    return "\n\n".join(
        equations("&" + tex_of_line(part) for part in re.split(r"(?<=\S)\s{2,}|\n", each))
        if each.startswith("    ")
        else plain(each)
        for each in paragraphs
    )


def _page(model: Model, prose: str) -> str:
    only = model.parameter_sets[0] if len(model.parameter_sets) == 1 else None
    parts = [
        f"# `{model.name}`\n\n{_sentence(model.title)}. Source: {plain(model.source)}.",
        prose,
        "## Parameters\n\n" + parameter_table(model.parameters + (only.parameters if only else ())),
    ]
    parts += [
        f"Parameter set `{each.name}`:\n\n{parameter_table(each.parameters)}"
        for each in model.parameter_sets
        if not only
    ]
    if len(model.parameter_sets) > 1:
        parts.append("A sweep has the parameters of exactly one set.")
    for each in model.substitutes:
        others = ", ".join(map(code, each.derived))
        sets = " or ".join(map(code, each.parameter_sets))
        only = f" (with {sets})" if sets else ""
        parts.append(f"In place of {others}{only}:\n\n{parameter_table(each.parameters)}")
    if model.excitation is not None:
        methods = ", ".join(map(code, model.excitation.methods))
        parts.append(
            f"`{model.excitation.parameter}` may be [a table over time](../sweep_file.md), with "
            f"{methods}."
        )
    parts.append("## Methods\n\nThe first is the default.\n\n" + _methods(model))
    outputs = [
        (code(o.name), o.unit, plain(o.long_name), _values(o.flags), ", ".join(o.parameter_sets))
        for o in model.outputs
    ]
    header = ("output", "unit", "meaning", "values", "only with")
    parts.append(f"## Outputs\n\n{table(header, outputs)}")
    if model.observables:
        traced = [
            (code(o.name), o.unit, plain(o.long_name), _values(o.flags)) for o in model.observables
        ]
        parts.append(
            "## Motion of one point\n\nWhat `sweep trace` records over "
            f"{model.clock.long_name} ({model.clock.unit}):\n\n"
            + table(("quantity", "unit", "meaning", "values"), traced)
        )
    statuses = [(str(int(s)), code(s.name), plain(text)) for s, text in model.sentences.items()]
    parts.append(f"## Status of a point\n\n{table(('value', 'name', 'meaning'), statuses)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _methods(model: Model) -> str:
    """Methods and their summaries; then each parameter of any, with its methods."""
    rows = [(code(method.name), f"{_sentence(method.summary)}.") for method in model.methods]
    owners: dict[Parameter, list[str]] = {}
    for method in model.methods:
        for parameter in method.parameters:
            owners.setdefault(parameter, []).append(code(method.name))
    if not owners:
        return table(("method", "what it does"), rows)
    parameters = [
        (*_entry(each)[:2], f"{_entry(each)[2]} ({', '.join(names)})")
        for each, names in owners.items()
    ]
    header = ("parameter", "values", "meaning (methods)")
    return table(("method", "what it does"), rows) + "\n" + table(header, parameters)


def _sentence(text: str) -> str:
    """Markdown with a capital at the beginning."""
    return plain(text[0].upper() + text[1:])


def _values(flags: tuple[str, ...]) -> str:
    return ", ".join(f"{i}: {flag}" for i, flag in enumerate(flags))


def parameter_table(parameters: tuple[Parameter, ...]) -> str:
    """Names with symbols, ranges with units and defaults, and meanings."""
    if not parameters:
        return "None."
    return table(("parameter", "values", "meaning"), map(_entry, parameters))


def _entry(parameter: Parameter) -> tuple[str, str, str]:
    name = f"{code(parameter.name)} ${tex_of_symbol(parameter.symbol)}$"
    return name, _values_of(parameter), plain(parameter.meaning)


def _values_of(parameter: Parameter) -> str:
    """Range with its unit, and default: "above 0 kg, default 1"."""
    allowed = parameter.requirement or "any"
    if parameter.unit != "1" and not allowed.endswith(parameter.unit):
        allowed = f"{allowed} {parameter.unit}"
    return f"{allowed}, {_default(parameter)}"


def _default(parameter: Parameter) -> str:
    if parameter.derived:
        return f"default {code(parameter.derived)}"
    return "required" if parameter.default is None else f"default {parameter.default:g}"


def _equations(system: System) -> Iterator[str]:
    """The equations as the file has them; names with indices have them as subscripts."""
    symbols = _symbols(system)

    def tex(expression: Expression) -> str:
        return tex_of(expression, symbols)

    def name(of: str) -> str:
        return tex(Name(of))

    def indexed(of: str) -> str:
        over = system.over.get(of, ())
        return code(f"{of}[{', '.join(over)}]" if over else of)

    yield "## Equations\n"
    if system.indices:
        yield "Names over an index have one value for each of its values:\n"
        rows = [(code(each.name), ", ".join(each.places)) for each in system.indices]
        yield table(("index", "values"), rows)
    if system.tables:
        yield "Numbers from the file:\n"
        rows = [(indexed(each.name), each.unit) for each in system.tables]
        yield table(("table", "unit"), rows)
    for mode, rates in system.modes.items():
        if mode:
            start = ", in which the motion starts" if mode == system.start_mode else ""
            yield f"Mode `{mode}`{start}:\n"
        yield equations(
            rf"\frac{{d\,{name(state)}}}{{dt}} &= {tex(rate)}" for state, rate in rates.items()
        )
    if system.definitions:
        yield "with\n"
        yield equations(f"{name(d.name)} &= {tex(d.value)}" for d in system.definitions)
    yield "States, from $t = 0$ on:\n"
    states = [
        (indexed(s.name), s.unit, f"${tex(s.initial)}$", plain(s.meaning)) for s in system.states
    ]
    yield table(("state", "unit", "initial value", "meaning"), states)
    if system.switches:
        yield "Switches, which events change:\n"
        yield table(
            ("switch", "values", "start"),
            [
                (indexed(s.name), ", ".join(map(code, s.values)), _choice(s.start, symbols))
                for s in system.switches
            ],
        )
    if system.events:
        yield "Events, where an expression crosses zero:\n"
        yield table(
            ("event", "in", "expression", "direction", "what happens"),
            [
                (indexed(e.name), _inside(e, symbols), f"${tex(e.when)}$", e.direction,
                 _consequences(e, symbols))
                for e in system.events
            ],
        )  # fmt: skip
    if system.holds:
        yield "Conditions of a valid motion; a point that violates one is outside_validity:\n"
        rows = [(indexed(h.name), f"${tex(h.condition)}$", plain(h.meaning)) for h in system.holds]
        yield table(("condition", "expression", "violated"), rows)
    if system.period is not None:
        yield f"The period, in which cycles are counted, is ${tex(system.period)}$.\n"
    yield "Outputs are taken in the window:\n"
    rows = [(indexed(r.name), _rule(r, symbols)) for r in system.outputs]
    yield table(("output", "definition"), rows)


def _symbols(system: System) -> dict[str, str]:
    """The symbols of names in equations, and under `NAME[]` those that stand before brackets."""
    symbols = {each.name: tex_of_symbol(each.symbol) for each in system.parameters}
    bare = {f"{name}{SUBSCRIPT}": symbol for name, symbol in symbols.items()}
    for name, over in system.over.items():
        indices = ", ".join(tex_of(Name(index), {}) for index in over)
        plain_name = tex_of_symbol(name) if name in GREEK else tex_of(Name(name), {})
        symbols[name] = f"{{{symbols.get(name) or plain_name}}}_{{{indices}}}"
    return symbols | bare


def _inside(event: Event, symbols: dict[str, str]) -> str:
    if event.inside is not None:
        return f"${tex_of(event.inside, symbols)}$"
    return ", ".join(map(code, event.modes)) or "all modes"


def _choice(choice: Choice, symbols: dict[str, str]) -> str:
    """What a switch becomes: "`plus` if ..., else `minus`"."""
    return ", else ".join(
        code(value) + ("" if condition is None else f" if ${tex_of(condition, symbols)}$")
        for value, condition in choice.items()
    )


def _consequences(event: Event, symbols: dict[str, str]) -> str:
    words: list[str] = []
    if event.condition is not None:
        words.append(f"if ${tex_of(event.condition, symbols)}$")
    for state, value in event.sets.items():
        words.append(f"${tex_of(Name(state), symbols)}$ becomes ${tex_of(value, symbols)}$")
    if event.then is not None:
        words.append(f"mode `{event.then}` follows")
    for switch, choice in event.switches.items():
        words.append(f"${tex_of(Name(switch), symbols)}$ becomes {_choice(choice, symbols)}")
    for switch, choice in event.rest.items():
        becomes = f"${tex_of(Name(switch), symbols)}$ becomes {_choice(choice, symbols)}"
        words.append(f"once occurrences accumulate, {becomes}")
    if event.stop_after is not None:
        words.append(f"occurrence {event.stop_after} ends the motion")
    if event.at_entry:
        words.append("also where it is past zero at entry")
    return "; ".join(words) or "it is counted, or values are taken"


KINDS = {
    "share": "share of the time with", "final": "final value of",
    "values": "values of", "rms": "root mean square of", "rate": "mean rate of",
}  # fmt: skip


def _rule(rule: Rule, symbols: dict[str, str]) -> str:
    what = "" if rule.expression is None else f" ${tex_of(rule.expression, symbols)}$"
    if rule.kind == "count":
        return f"number of events `{rule.event}`"
    if rule.kind == "interval":
        return f"{rule.take} of the times between events `{rule.event}`"
    if rule.kind == "period":
        repeated = ", ".join(f"${tex_of(each, symbols)}$" for each in rule.repeats)
        return f"periods after which {repeated} repeat, 0 if more than {rule.most}"
    words = KINDS.get(rule.kind, f"{rule.kind} of") + what
    if rule.event and not rule.every:
        words += f" at events `{rule.event}`"
    if rule.every:
        where = "each period" if rule.every == "period" else f"each event `{rule.every}`"
        words += f" at {where}, the last {rule.keep}"
    return words
