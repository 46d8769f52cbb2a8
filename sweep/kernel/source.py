"""Assembles the complete C++ text of a kernel: generated structs, headers, entry.

Every compiler gets the same text; only the entry differs between CPU and GPU. Each header is
inserted once, where it is first included, after a #line that names its file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from sweep.equations.cpp_struct import DRAWN
from sweep.equations.model import pack_of
from sweep.equations.system_file import system_of_text
from sweep.equations.tabulated import table_text
from sweep.errors import SweepError
from sweep.model.elements import spelled
from sweep.model.installed import header_folder
from sweep.model.shipped import kernels_folder
from sweep.model.table import Method, Model, Output, Parameter, ParameterSet, Status, parameters_of
from sweep.model.time_series import TimeSeries
from sweep.request.sweeps import Sweep

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Target = Literal["cpu", "gpu", "trace"]

INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')
MISSING = "missing()"  # the initial value of what is computed
TOKEN_DIGEST = "tokens:"  # how a digest of tokens begins; earlier ones are of the raw text
TOKEN = re.compile(
    r"""(?P<blank>//[^\n]*|/\*.*?\*/|\\\n|[^\S\n]+)
    |\n
    |[A-Za-z_]\w*
    |\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*
    |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
    |<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#|[-+*/%&|^]=
    |.""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Everything that a kernel's text depends on; equal kernels have equal texts."""

    model: Model
    method: Method
    parameter_set: ParameterSet
    outputs: tuple[Output, ...]
    variants: tuple[str, ...] = ()
    table: TimeSeries | None = None

    def __hash__(self) -> int:
        outputs = tuple(output.name for output in self.outputs)
        chosen = (self.model.name, self.method.name, self.parameter_set.name)
        return hash((*chosen, outputs, self.variants))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the kernel's columns, in order; those of realisations are the last."""
        own = parameters_of(self.model, self.parameter_set, self.method)
        return (*own, *realisations(self.model))

    @property
    def pack(self) -> int:
        """SIMD vectors in flight on a CPU."""
        if not self.model.text:
            return self.method.pack
        outputs = [output.name for output in self.outputs]
        return pack_of(self.method.name, system_of_text(self.model.text), outputs)


def realisations(model: Model) -> tuple[Parameter, ...]:
    """Of each signal by draw, the address of a point's realisation, which backends make."""
    drawn = system_of_text(model.text).drawn if model.text else ()
    return tuple(
        Parameter(name=DRAWN + each.name, symbol="", unit="1", meaning="address of a table")
        for each in drawn
    )


def kernel_of(sweep: Sweep, variants: tuple[str, ...] = ()) -> Kernel:
    """The kernel that computes `sweep`, with the given compile-time variants."""
    sweep = sweep.of_kernel
    return Kernel(
        model=sweep.model,
        method=sweep.method,
        parameter_set=sweep.parameter_set,
        outputs=sweep.outputs,
        variants=variants,
        table=sweep.table,
    )


def kernel_text(kernel: Kernel, target: Target = "cpu") -> str:
    """The complete text that is compiled for `kernel`; SweepError if a header is missing."""
    seen: set[str] = set()
    parts = [
        "".join(_flatten("portable.h", seen)),
        _generated(kernel),
        *([table_text("excitation", kernel.table)] if kernel.table else []),
        "".join(_model(kernel, seen, target)),
        _method(kernel),
        _columns(kernel),
        *([_rows(kernel.model)] if target == "trace" else []),
        "".join(_flatten(f"entry_{target}{'_items' if kernel.method.items else ''}.h", seen)),
        *(_flatten("entry_forcing.h", seen) if realisations(kernel.model) else ()),
    ]
    return "\n".join(parts)


class KernelTexts:
    """Texts of kernels for one backend, all of the same code."""

    def __init__(self) -> None:
        self._digests: dict[Kernel, str] = {}  # by the kernel without variants

    def text(self, kernel: Kernel, target: Target = "cpu") -> str:
        """As `kernel_text`; SweepError if the code was edited since the method's first kernel."""
        text = kernel_text(kernel, target)
        without = replace(kernel, variants=())
        digest = _digest(kernel_text(without, target) if kernel.variants else text)
        if self._digests.setdefault(without, digest) != digest:
            raise SweepError(
                f"the kernel of method {kernel.method.name} of {kernel.model.name} was edited "
                "during this run. Finished chunks are kept: run the same sweep again to resume, "
                "with `accept_revision` if the edited kernel is to compute the rest"
            )
        return text


def _model(kernel: Kernel, seen: set[str], target: Target) -> Iterable[str]:
    """The header of the model: a file, or generated from the text of a model from a file."""
    if package := kernel.model.package:
        label = f"{package.replace('.', '/')}/kernels"
        folders = {label: header_folder(package), **_shipped()}
        return _flatten(f"{kernel.model.name}.h", seen, folders)
    if kernel.table and kernel.model.excitation:
        return _flatten(kernel.model.excitation.header, seen)
    if not kernel.model.text:
        return _flatten(f"models/{kernel.model.name}.h", seen)
    output_names = tuple(output.name for output in kernel.outputs)
    text = _written(kernel.model.text, output_names, kernel.method.name, traced=target == "trace")
    return _included(text, f"{kernel.model.name} (generated)", seen)


@lru_cache(maxsize=16)  # it takes long, and a run needs it several times
def _written(text: str, output_names: tuple[str, ...], method: str, *, traced: bool) -> str:
    """The header of a model from a file."""
    from sweep.equations.cpp_header import header_of  # only where there is such a model

    return header_of(system_of_text(text), output_names, method, traced=traced)


def kernel_digest(sweep: Sweep) -> str:
    """The digest of the tokens of the code that computes `sweep`, on a CPU or a GPU.

    Comments, white space and the files that the code stands in do not change it. Variants are left
    out. Raises SweepError where the text cannot be put together.
    """
    kernel = kernel_of(sweep)
    return _digest(kernel_text(kernel) + "\n" + kernel_text(kernel, "gpu"))


def is_token_digest(digest: object) -> bool:
    """Whether it can be compared with `kernel_digest`: earlier versions digested the raw text."""
    return isinstance(digest, str) and digest.startswith(TOKEN_DIGEST)


def flat_text(header: str) -> str:
    """A kernel header with all its includes, each once; SweepError if one is missing."""
    return "".join(_flatten(header, set()))


@lru_cache(maxsize=16)
def _digest(text: str) -> str:
    return TOKEN_DIGEST + hashlib.sha256("\0".join(_tokens(text)).encode()).hexdigest()


def _tokens(text: str) -> Iterator[str]:
    """The tokens of C++ code without comments and #line; the end of a directive is a token."""
    line: list[str] = []
    for match in TOKEN.finditer(text + "\n"):
        if match["blank"]:
            continue
        if match[0] != "\n":
            line.append(match[0])
            continue
        if line[:2] != ["#", "line"]:
            yield from line
            if line[:1] == ["#"]:
                yield "\n"
        line.clear()


def _shipped() -> dict[str, Traversable]:
    """The folder of the shipped headers, after its name in #line."""
    return {"kernels": kernels_folder()}


def _flatten(
    name: str, seen: set[str], folders: Mapping[str, Traversable] | None = None
) -> Iterable[str]:
    """The lines of a header in the first of the folders that has it; none if it has been seen.

    What it includes is not looked for in the folders before its own, so the shipped headers never
    include those of a package.
    """
    folders = folders or _shipped()
    label = next((each for each in folders if (folders[each] / name).is_file()), None)
    if label is None:
        places = " and ".join(map(str, folders.values()))
        raise SweepError(f"kernel header {name!r} is missing from {places}")
    if f"{label}/{name}" in seen:
        return
    seen.add(f"{label}/{name}")
    text = (folders[label] / name).read_text(encoding="utf-8")
    own = _shipped() if label == "kernels" else folders
    yield from _included(text, f"{label}/{name}", seen, own)


def _included(
    text: str, name: str, seen: set[str], folders: Mapping[str, Traversable] | None = None
) -> Iterable[str]:
    """The text of a file, with those of its includes in their place."""
    yield f'#line 1 "{name}"\n'
    for part, include, number in _cut_at_includes(text):
        yield part
        if include:
            yield from _flatten(include, seen, folders)
            yield f'#line {number + 1} "{name}"\n'


@lru_cache(maxsize=256)
def _cut_at_includes(text: str) -> list[tuple[str, str, int]]:
    """The text before each #include, the name of the header, if any, and the number of its line."""
    parts: list[tuple[str, str, int]] = []
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if include := INCLUDE.match(line):
            parts.append(("".join(lines), include[1], number))
            lines.clear()
        else:
            lines.append("\n" if line.strip() == "#pragma once" else line)
    return [*parts, ("".join(lines), "", 0)]


def _generated(kernel: Kernel) -> str:
    """The structs and flags that the header of the model uses."""
    model = kernel.model
    output_names = {output.name for output in kernel.outputs}
    output_flags = {model.prefix + o.name: o.name in output_names for o in model.outputs}
    variants = dict.fromkeys(v.name for method in model.methods for v in method.variants)
    sets = ", ".join(parameter_set.name for parameter_set in model.parameter_sets)
    lines = [
        '#line 1 "generated"',
        "// Every parameter of the model and its methods; those the sweep lacks are 0.",
        _struct("Parameters", dict.fromkeys(_fields(model), "")),
        "// What finish() returns, in SI units: missing, and failed, until it is written.",
        _outputs(model),
        "// What a trace shows at one moment, in SI units.",
        _struct("Observables", dict.fromkeys(["time", *_observables(model)], MISSING)),
        "// ... and of each item.",
        _struct("ItemObservables", dict.fromkeys(_observables(model, items=True), MISSING)),
        "// What a trace spans by default, in s.",
        _struct("Span", {"first": "", "last": ""}),
        f"enum class ParameterSet {{ {sets} }};",
        f"constexpr ParameterSet parameter_set = ParameterSet::{kernel.parameter_set.name};",
        _flags("wanted", output_flags),
        _flags("variant", {name: name in kernel.variants for name in variants}),
    ]
    return "\n".join(lines) + "\n"


def _method(kernel: Kernel) -> str:
    name = kernel.method.name
    if kernel.table is None:
        return f"namespace method = {name};\n"
    driven = f"{kernel.model.name}::Driven<{name}::Run>"
    return f"namespace tabulated {{\nMETHOD({driven})\n}}\nnamespace method = tabulated;\n"


def _columns(kernel: Kernel) -> str:
    """The code that maps a request's numbered arrays to the named fields of the structs."""
    names = _spelled(kernel.model, kernel.parameters)
    absent = [name for name in _fields(kernel.model) if name not in names]
    gathers = [f"p.{name} = points.gather({i});" for i, name in enumerate(names)]
    zeros = [f"p.{name} = 0.0;" for name in absent]
    scatters: list[str] = []
    n_outputs = 0
    for output in kernel.outputs:
        name, scatter = f"o.{kernel.model.prefix}{output.name}", f"points.scatter_{output.kind}"
        if output.count:  # a loop: of a call for each value, compilers take minutes
            loop = f"for (int i = 0; i < {output.count}; ++i)"
            scatters.append(f"{loop} {scatter}({n_outputs} + i, {name}[i]);")
        else:
            scatters.append(f"{scatter}({n_outputs}, {name});")
        n_outputs += output.count or 1
    lines = [
        '#line 1 "generated"',
        f"constexpr int n_columns = {len(names)};",
        f"constexpr int n_outputs = {n_outputs};",
        "template <class Points> HD Parameters gather_parameters(Points const& points) {",
        *("    " + line for line in ("Parameters p;", *gathers, *zeros, "return p;")),
        "}",
        "template <class Points> HD void scatter_outputs(Points const& points, Outputs const& o) {",
        *("    " + line for line in scatters),
        "}",
    ]
    if kernel.method.items:
        lines.append(f"HD real items_of(Parameters const& p) {{ return p.{kernel.method.items}; }}")
    return "\n".join(lines) + "\n"


def _rows(model: Model) -> str:
    """The code that writes the named observables to the rows of a trace, time first.

    The row of an item's observables is taken from one lane.
    """
    names = ["time", *_observables(model)]
    of_items = _observables(model, items=True)
    lines = [
        '#line 1 "generated"',
        f"namespace model = {'equations' if model.text else model.name};",
        f"constexpr int row_size = {len(names)};",
        f"constexpr int item_row_size = {len(of_items)};",
        "HD void write_row(double* row, Observables const& o) {",
        *(f"    row[{i}] = lane(o.{name}, 0);" for i, name in enumerate(names)),
        "}",
        "HD void write_item_row(double* row, ItemObservables const& o, int item) {",
        *(f"    row[{i}] = lane(o.{name}, item);" for i, name in enumerate(of_items)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _observables(model: Model, *, items: bool = False) -> list[str]:
    names = (name for each in model.observables_of(items=items) for name in each.recorded)
    return [spelled(model.prefix, name) for name in names]


def _spelled(model: Model, parameters: Iterable[Parameter]) -> list[str]:
    """The parameters' names in C++."""
    own = {each.name: each for each in model.parameters}
    return [
        spelled(model.prefix, each.name) if own.get(each.name) == each else each.name
        for each in parameters
    ]


def _fields(model: Model) -> list[str]:
    """The names of all parameters that a sweep of the model can have."""
    sets = [p for parameter_set in model.parameter_sets for p in parameter_set.parameters]
    controls = [p for method in model.methods for p in method.parameters]
    every = (*model.parameters, *sets, *controls, *realisations(model))
    return list(dict.fromkeys(_spelled(model, every)))


def _struct(name: str, fields: Mapping[str, str]) -> str:
    """A struct of reals, with the initial value of each field; "" for none."""
    lines = [f"    real {field}{value and f' = {value}'};\n" for field, value in fields.items()]
    return f"struct {name} {{\n{''.join(lines)}}};"


def _outputs(model: Model) -> str:
    """The struct of outputs: missing, and failed, until they are written."""
    several = {model.prefix + each.name: each.count for each in model.outputs if each.count}
    single = [model.prefix + each.name for each in model.outputs if not each.count]
    fields = {**dict.fromkeys(single, MISSING), "status": f"{Status.failed:d}.0"}
    arrays = dict.fromkeys((f"{name}[{n}]" for name, n in several.items()), "")
    # The kernels of files write every value; their text, and so their digest, does not change.
    fills = [f"for (real& each : {n}) each = {MISSING};" for n in several if not model.text]
    start = f"    HD Outputs() {{ {' '.join(fills)} }}\n" if fills else ""
    return _struct("Outputs", fields | arrays).removesuffix("};") + f"{start}}};"


def _flags(namespace: str, flags: dict[str, bool]) -> str:
    lines = [f"constexpr bool {name} = {str(on).lower()};" for name, on in flags.items()]
    return f"namespace {namespace} {{\n" + "\n".join(lines) + "\n}"
