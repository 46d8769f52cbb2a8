"""The keys of a sweep file's tables and the types of their values, checked by pydantic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sweep.config.problems import Check, Problem
from sweep.errors import MAX_FAULTS_SHOWN, FaultError
from sweep.options import MAX_WORKERS
from sweep.plan.chunking import MAX_SWEEP_POINTS
from sweep.wording import listed, nearest, shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


MAX_SCRAMBLINGS = 4096
MAX_CORES = 4096  # of a job
CSV_PATH = "the path of a CSV file, in quotes"
QUANTITY = "a number, or text with a unit"
Entries = dict[str, object]


class Table(BaseModel):
    """Keys and the types of their values; each description says what a message asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _key(description: str, default: Any = None, **limits: Any) -> Any:
    """A key that need not be given; `description` says, in messages, what it has to be."""
    return Field(default, description=description, **limits)


class TopLevel(Table):
    """The top level; parameters and axes are checked later, against the model's table."""

    format: int | None = _key("the whole number 1")
    model: str | Entries | None = _key("the name of a model or the path of its file, in quotes")
    method: str | None = _key("the name of a method, in quotes")
    outputs: list[str] | None = _key('a list of names such as ["wear_power"]')
    dtype: Literal["float64", "float32"] = _key('"float64" or "float32"', "float64")
    parameters: Entries = _key("a table", {})
    axes: Entries = _key("a table", {})
    sample: Entries | None = _key("a table")
    derived: Entries = _key("a table", {})
    reduce: Entries | None = _key("a table")
    refine: Entries | None = _key("a table")
    wear: Entries | None = _key("a table")
    run: Entries = _key("a table", {})


class AxisTable(Table):
    """An axis: linspace, geomspace, values, or file with column."""

    linspace: list[object] | None = _key("[first, last, count]")
    geomspace: list[object] | None = _key("[first, last, count]")
    values: list[object] | None = _key("a list of values")
    file: str | None = _key(CSV_PATH)
    column: str | None = _key("the name of a column of the file, in quotes")


class ExcitationTable(Table):
    """A table over time: file with columns, or times with values."""

    file: str | None = _key(CSV_PATH)
    time: str | None = _key("the name of the column with times, in quotes")
    column: str | None = _key("the name of the column with values, in quotes")
    times: list[object] | None = _key("a list of times")
    values: list[object] | None = _key("a list of values")
    interpolation: Literal["linear", "cubic"] = _key('"linear" or "cubic"', "linear")


class SampleTable(Table):
    """[sample] without its parameters: how points are drawn, or a file of them."""

    method: Literal["sobol", "random", "latin_hypercube"] | None = _key(
        '"sobol", "random" or "latin_hypercube"'
    )
    points: int | None = _key(
        f"a whole number from 1 to {MAX_SWEEP_POINTS:,}", ge=1, le=MAX_SWEEP_POINTS
    )
    seed: int | None = _key("a whole number from 0 to 2^53 - 1", ge=0, lt=2**53)
    scramblings: int | None = _key(
        f"a whole number: 1, or from 8 to {MAX_SCRAMBLINGS:,}", ge=1, le=MAX_SCRAMBLINGS
    )
    file: str | None = _key(CSV_PATH)
    columns: list[str] | None = _key("a list of names of parameters")


class DistributionTable(Table):
    """The distribution of a parameter in [sample]."""

    uniform: list[object] | None = _key("[least, greatest]")
    loguniform: list[object] | None = _key("[least, greatest]")
    normal: list[object] | None = _key("[mean, standard deviation]")
    lognormal: list[object] | None = _key("[median, standard deviation of the logarithm]")
    truncated_normal: list[object] | None = _key("[mean, standard deviation, least, greatest]")
    triangular: list[object] | None = _key("[least, mode, greatest]")
    weibull: list[object] | None = _key("[scale, shape]")


class RefineTable(Table):
    """[refine]: the outputs that decide where the grid is refined, and how finely."""

    output: str | list[str] | None = _key("the name of an output, in quotes, or a list of them")
    levels: int | None = _key("a whole number from 1 to 20", ge=1, le=20)
    tolerance: float | None = _key(
        "a number above 0 and at most 1: a share of the output range", gt=0, le=1
    )


class WearTable(Table):
    """[wear]: the law of wear, the scar, and the times; coefficients and sizes are read later."""

    law: str | None = _key("the name of a law of wear, in quotes")
    coefficient: object = _key(QUANTITY)
    exponent: object = _key("a number")
    decay: object = _key(QUANTITY)
    slope: object = _key(QUANTITY)
    years: list[float] | float | str | None = _key("a list of numbers")
    power: str | None = _key("the name of an output in W, in quotes")
    quantiles: list[float] | float | str | None = _key("a list of numbers above 0 and below 1")
    geometry: str | None = _key("the name of a geometry, in quotes")
    radius: object = _key(QUANTITY)
    length: object = _key(QUANTITY)
    angle: object = _key(QUANTITY)
    hole_radius: object = _key(QUANTITY)
    small: bool | None = _key("true or false")
    limit: object = _key(QUANTITY)


class ReduceTable(Table):
    """[reduce] without its outputs: along which axes points are reduced, and how exactly."""

    over: list[str] | None = _key('a list of axes such as ["point"]')
    exact_quantiles: bool = _key("true or false", False)


# Values that sbatch and dask-jobqueue accept.
SIXTIETHS = "[0-5]?[0-9]"  # minutes or seconds after a larger unit
Word = Annotated[str, Field(pattern=r"^[^\s\p{C}]+$")]
Walltime = Annotated[
    str,
    Field(
        pattern=f"^([0-9]+|[0-9]+:{SIXTIETHS}|[0-9]+:{SIXTIETHS}:{SIXTIETHS}"
        f"|[0-9]+-[0-9]+(:{SIXTIETHS}){{0,2}})$"
    ),
]
Amount = Annotated[
    str,
    Field(
        pattern=r"^([0-9]*[1-9][0-9]*(\.[0-9]*)?|[0-9]*\.[0-9]*[1-9][0-9]*) *"
        "([kKmMgGtTpP]i?[bB]?|[bB])$"
    ),
]
JobOption = Annotated[str, Field(pattern=r"^-[^\r\n]+$")]


class SlurmTable(Table):
    """[run.slurm]: what each job of `--cluster slurm` requests."""

    queue: Word | None = _key("a partition, in quotes, without spaces")
    account: Word | None = _key("an account, in quotes, without spaces")
    walltime: Walltime | None = _key(
        'a time in the format of SLURM: "02:00:00", "1-12" (a day and 12 hours), "90" '
        "(minutes), in quotes"
    )
    cores: int | None = _key(f"a whole number from 1 to {MAX_CORES:,}", ge=1, le=MAX_CORES)
    memory: Amount | None = _key('an amount above 0 with its unit: "8 GB"')
    jobs: int | None = _key(f"a whole number from 1 to {MAX_WORKERS:,}", ge=1, le=MAX_WORKERS)
    extra: list[JobOption] | None = _key(
        'a list of options, without #SBATCH: ["--constraint=avx512"]'
    )
    prologue: list[str] | None = _key('a list of commands: ["module load gcc"]')
    interface: Word | None = _key("the name of a network, in quotes, without spaces")


AnyTable = TypeVar("AnyTable", bound=Table)


def checked(shape: type[AnyTable], raw: Mapping[str, object]) -> tuple[AnyTable, dict[str, str]]:
    """The table without its faulty keys, and what is wrong with each of those."""
    try:
        return shape.model_validate(dict(raw)), {}
    except ValidationError as error:
        wrong = {
            str(detail["loc"][0]): _sentence(shape, detail, is_shown=i < MAX_FAULTS_SHOWN)
            for i, detail in enumerate(error.errors())
        }
    return shape.model_validate({key: raw[key] for key in raw if key not in wrong}), wrong


def correct(
    shape: type[AnyTable], raw: Mapping[str, object], table: str, key: str
) -> Check[AnyTable | None]:
    """The entry `key` of a table as a table itself; None, with problems, if it is faulty."""
    entry, messages = checked(shape, raw)
    for each, message in messages.items():
        yield Problem(table, key, f"{each}: {message}")
    return None if messages else entry


def only_form(table: Table, forms: Sequence[str], example: str) -> str:
    """The one of these keys that the table has; FaultError if it has none or several."""
    present = [form for form in forms if getattr(table, form) is not None]
    if len(present) != 1:
        fault = f"not {listed(present)} together" if present else "and none is given"
        raise FaultError(f"give one of {listed(forms)}, {fault}: {example}")
    return present[0]


def _sentence(shape: type[Table], detail: ErrorDetails, *, is_shown: bool) -> str:
    key = str(detail["loc"][0])
    if key in shape.model_fields:
        expected = shape.model_fields[key].description
        if len(detail["loc"]) > 1 and isinstance(detail["loc"][1], int):
            return f"{shown(detail['input'])} in the list is wrong; expected {expected}"
        return f"{shown(detail['input'])} is not {expected}"
    is_table = isinstance(detail["input"], dict)
    fields = shape.model_fields.items()
    known = [name for name, field in fields if (field.description == "a table") == is_table]
    cure = f"; {nearest(key, known or shape.model_fields)}" if is_shown else ""
    return f"there is no such {'table' if is_table else 'key'}{cure}"
