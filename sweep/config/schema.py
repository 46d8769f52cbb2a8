"""The shapes of a sweep file's tables, checked by pydantic, its findings in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sweep.plan import MAX_SWEEP_POINTS
from sweep.wording import nearest, shown

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails


class Table(BaseModel):
    """Keys with the types they take; a field's description says what is expected there."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Document(Table):
    """The top of a sweep file; parameters and axes are read later, against the model's table."""

    format: int | None = Field(None, description="the whole number 1")
    model: str | None = Field(None, description="the name of a model, in quotes")
    method: str | None = Field(None, description="the name of a method, in quotes")
    outputs: list[str] | None = Field(None, description='a list of names such as ["wear_power"]')
    dtype: Literal["float64", "float32"] = Field("float64", description='"float64" or "float32"')
    parameters: dict[str, object] = Field({}, description="a table")
    axes: dict[str, object] = Field({}, description="a table")
    sample: dict[str, object] | None = Field(None, description="a table")
    refine: dict[str, object] | None = Field(None, description="a table")
    run: dict[str, object] = Field({}, description="a table")


class AxisTable(Table):
    """What stands behind an axis: one of linspace, geomspace, values, or file with column."""

    linspace: list[object] | None = Field(None, description="[first, last, count]")
    geomspace: list[object] | None = Field(None, description="[first, last, count]")
    values: list[object] | None = Field(None, description="a list of values")
    file: str | None = Field(None, description="the path of a CSV file, in quotes")
    column: str | None = Field(None, description="the name of a column of the file, in quotes")


class SampleTable(Table):
    """What stands in [sample] beside its parameters: how points are drawn, or a file of them."""

    method: Literal["sobol", "random", "latin_hypercube"] | None = Field(
        None, description='"sobol", "random" or "latin_hypercube"'
    )
    points: int | None = Field(
        None,
        ge=1,
        le=MAX_SWEEP_POINTS,
        description=f"a whole number from 1 to {MAX_SWEEP_POINTS:,}",
    )
    seed: int | None = Field(None, ge=0, lt=2**53, description="a whole number from 0 to 2^53 - 1")
    file: str | None = Field(None, description="the path of a CSV file, in quotes")
    columns: list[str] | None = Field(None, description="a list of names of parameters")


class MarginTable(Table):
    """What stands behind a parameter in [sample]: one of uniform and loguniform."""

    uniform: list[object] | None = Field(None, description="[least, greatest]")
    loguniform: list[object] | None = Field(None, description="[least, greatest]")


class RefineTable(Table):
    """What stands in [refine]: which outputs are looked at, and how fine it gets."""

    output: str | list[str] | None = Field(
        None, description="the name of an output, in quotes, or a list of them"
    )
    levels: int | None = Field(None, ge=1, le=20, description="a whole number from 1 to 20")
    tolerance: float | None = Field(
        None, gt=0, le=1, description="a number above 0 and at most 1: a share of what it spans"
    )


# As sbatch and dask-jobqueue read them.
MINOR = "[0-5]?[0-9]"  # minutes and seconds, behind a larger unit
Word = Annotated[str, Field(pattern=r"^[^\s\p{C}]+$")]
Walltime = Annotated[
    str,
    Field(
        pattern=f"^([0-9]+|[0-9]+:{MINOR}|[0-9]+:{MINOR}:{MINOR}|[0-9]+-[0-9]+(:{MINOR}){{0,2}})$"
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
    """What each job of `--cluster slurm` asks for."""

    queue: Word | None = Field(None, description="a partition, in quotes, without spaces")
    account: Word | None = Field(None, description="an account, in quotes, without spaces")
    walltime: Walltime | None = Field(
        None,
        description='a time as SLURM has it: "02:00:00", "1-12" (a day and 12 hours), "90" '
        "(minutes), in quotes",
    )
    cores: int | None = Field(None, ge=1, le=4096, description="a whole number from 1 to 4,096")
    memory: Amount | None = Field(None, description='an amount above 0 with its unit: "8 GB"')
    jobs: int | None = Field(None, ge=1, le=4096, description="a whole number from 1 to 4,096")
    extra: list[JobOption] | None = Field(
        None, description='a list of options, without #SBATCH: ["--constraint=avx512"]'
    )
    prologue: list[str] | None = Field(None, description='a list of commands: ["module load gcc"]')
    interface: Word | None = Field(
        None, description="the name of a network, in quotes, without spaces"
    )


AnyTable = TypeVar("AnyTable", bound=Table)


def checked(shape: type[AnyTable], raw: Mapping[str, object]) -> tuple[AnyTable, dict[str, str]]:
    """The table with its faulty keys left out, and what is wrong with each of those."""
    try:
        return shape.model_validate(dict(raw)), {}
    except ValidationError as error:
        wrong = {str(detail["loc"][0]): _sentence(shape, detail) for detail in error.errors()}
    return shape.model_validate({key: raw[key] for key in raw if key not in wrong}), wrong


def _sentence(shape: type[Table], detail: ErrorDetails) -> str:
    key = str(detail["loc"][0])
    if key in shape.model_fields:
        asked = shape.model_fields[key].description
        if len(detail["loc"]) > 1 and isinstance(detail["loc"][1], int):  # of a list
            return f"{shown(detail['input'])} in it: this is to be {asked}"
        return f"{shown(detail['input'])} is not {asked}"
    kind = "table" if isinstance(detail["input"], dict) else "key"
    known = [name for name, field in shape.model_fields.items() if _kind(field) == kind]
    return f"there is no such {kind}; {nearest(key, known or shape.model_fields)}"


def _kind(field: FieldInfo) -> str:
    return "table" if field.description == "a table" else "key"
