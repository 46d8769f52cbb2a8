"""The keys of a sweep file's tables: what each takes, its default, and what the table is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from sweep.errors import FaultError
from sweep.points.chunking import MAX_SWEEP_POINTS
from sweep.request.options import MAX_WORKERS
from sweep.text.reader import (
    FLAG,
    Key,
    Keys,
    finite,
    is_mapping,
    is_text,
    one_of,
    whole_from,
    whole_key,
)
from sweep.text.wording import listed

MAX_SCRAMBLINGS = 4096
MAX_CORES = 4096  # of a job
A_TABLE = "a table"
AXIS_FORMS = ("linspace", "geomspace", "values", "file")


class TableKeys(NamedTuple):
    """What a table is for, and its keys."""

    meaning: str
    keys: Keys


def _whole(value: object) -> object:
    return value if type(value) is int else None


def _number(value: object) -> float | None:
    """The value as a float if it is a number, also an infinite one."""
    return float(value) if isinstance(value, float) else finite(value)


def _share(value: object) -> float | None:
    share = finite(value)
    return share if share is not None and 0 < share <= 1 else None


def _any_list(value: object) -> object:
    return cast("list[object]", value) if isinstance(value, list) else None


def _anything(value: object) -> object:
    return value


def _name_or_table(value: object) -> object:
    return is_text(value) or is_mapping(value)


def _number_or_text(value: object) -> object:
    return value if isinstance(value, str) else _number(value)


def _matching(pattern: str) -> Callable[[object], object]:
    return lambda value: value if isinstance(value, str) and re.fullmatch(pattern, value) else None


def _text(expected: str) -> Key:
    return Key(expected, is_text)


def _list(expected: str, item: Callable[[object], object] | None = None) -> Key:
    return Key(expected, _any_list, item=item)


_QUANTITY = Key("a number, or text with a unit", _anything)
_SPACED = _list("[first, last, count]")
MAX_SKIPPED = 10_000

CSV_FILE: Keys = {  # wherever a file is named
    "file": _text("the path of a CSV file, in quotes"),
    "decimal": Key('the decimal mark of the file: "." or ","', one_of(".", ",")),
    "skip": Key(
        f"the number of lines before the header of the file, from 0 to {MAX_SKIPPED:,}",
        whole_from(0, MAX_SKIPPED),
    ),
}
HOW_READ = ("decimal", "skip")

TOP_LEVEL: Keys = {
    "format": Key("the whole number 1", _whole),
    "model": Key("the name of a model or the path of its file, in quotes", _name_or_table),
    "method": _text("the name of a method, in quotes"),
    "outputs": _list('a list of names such as ["wear_power"]', is_text),
    "dtype": Key('"float64" or "float32"', one_of("float64", "float32"), "float64"),
}
TABLES = ("parameters", "axes", "sample", "derived", "reduce", "refine", "wear", "run")
AXIS = TableKeys(
    "Linspace, geomspace, values, or file with column.",
    {
        "linspace": _SPACED,
        "geomspace": _SPACED,
        "values": _list("a list of values"),
        **CSV_FILE,
        "column": _text("the name of a column of the file, in quotes"),
    },
)
EXCITATION = TableKeys(
    "File with columns, or times with values.",
    {
        **CSV_FILE,
        "time": _text("the name of the column with times, in quotes"),
        "column": _text("the name of the column with values, in quotes"),
        "times": _list("a list of times"),
        "values": _list("a list of values"),
        "interpolation": Key('"linear" or "cubic"', one_of("linear", "cubic"), "linear"),
    },
)
SAMPLE = TableKeys(  # all other keys are parameters
    "How points are drawn, or a file of them.",
    {
        "method": Key(
            '"sobol", "random" or "latin_hypercube"', one_of("sobol", "random", "latin_hypercube")
        ),
        "points": whole_key(1, MAX_SWEEP_POINTS),
        "seed": Key("a whole number from 0 to 2^53 - 1", whole_from(0, 2**53 - 1)),
        "scramblings": Key(
            f"a whole number: 1, or from 8 to {MAX_SCRAMBLINGS:,}", whole_from(1, MAX_SCRAMBLINGS)
        ),
        **CSV_FILE,
        "columns": _list("a list of names of parameters", is_text),
    },
)
DISTRIBUTION = TableKeys(
    "The distribution of a parameter in [sample].",
    {
        "uniform": _list("[least, greatest]"),
        "loguniform": _list("[least, greatest]"),
        "normal": _list("[mean, standard deviation]"),
        "lognormal": _list("[median, standard deviation of the logarithm]"),
        "truncated_normal": _list("[mean, standard deviation, least, greatest]"),
        "triangular": _list("[least, mode, greatest]"),
        "weibull": _list("[scale, shape]"),
    },
)
REDUCE = TableKeys(  # all other keys are outputs
    "Along which axes points are reduced, and how exactly.",
    {
        "over": _list('a list of axes such as ["point"]', is_text),
        "exact_quantiles": replace(FLAG, default=False),
        "quantile_bits": whole_key(8, 12),
    },
)
REFINE = TableKeys(
    "The outputs that decide where the grid is refined, and how finely.",
    {
        "output": Key("the name of an output, in quotes, or a list of them", is_text, item=is_text),
        "levels": whole_key(1, 20),
        "tolerance": Key("a number above 0 and at most 1: a share of the output range", _share),
    },
)
WEAR = TableKeys(
    "The law of wear, the scar, and the times; coefficients and sizes are read later.",
    {
        "law": _text("the name of a law of wear, in quotes"),
        "coefficient": _QUANTITY,
        "exponent": Key("a number", _anything),
        "decay": _QUANTITY,
        "slope": _QUANTITY,
        "years": Key("a list of numbers", _number_or_text, item=_number),
        "cycles": Key("a list of numbers", _number_or_text, item=_number),
        "power": Key(
            "the name of an output in W, in quotes, or a list of them", is_text, item=is_text
        ),
        "quantiles": Key("a list of numbers above 0 and below 1", _number_or_text, item=_number),
        "geometry": _text("the name of a geometry, in quotes"),
        "radius": _QUANTITY,
        "length": _QUANTITY,
        "angle": _QUANTITY,
        "hole_radius": _QUANTITY,
        "small": FLAG,
        "limit": _QUANTITY,
        "wall": _QUANTITY,
    },
)

# Values that sbatch and Dask accept.
_SIXTIETHS = "[0-5]?[0-9]"  # minutes or seconds after a larger unit
_WALLTIME = (
    f"[0-9]+|[0-9]+:{_SIXTIETHS}|[0-9]+:{_SIXTIETHS}:{_SIXTIETHS}"
    f"|[0-9]+-[0-9]+(:{_SIXTIETHS}){{0,2}}"
)
_MEMORY = r"([0-9]*[1-9][0-9]*(\.[0-9]*)?|[0-9]*\.[0-9]*[1-9][0-9]*) *([kKmMgGtTpP]i?[bB]?|[bB])"


def _word(value: object) -> object:
    """The value if it is text without blanks and control characters."""
    is_word = isinstance(value, str) and value.isprintable() and " " not in value
    return value if is_word and value else None


SLURM = TableKeys(
    "What each job of `--cluster slurm` requests.",
    {
        "queue": Key("a partition, in quotes, without spaces", _word),
        "account": Key("an account, in quotes, without spaces", _word),
        "walltime": Key(
            'a time in the format of SLURM: "02:00:00", "1-12" (a day and 12 hours), "90" '
            "(minutes), in quotes",
            _matching(_WALLTIME),
        ),
        "cores": whole_key(1, MAX_CORES),
        "memory": Key('an amount above 0 with its unit: "8 GB"', _matching(_MEMORY)),
        "jobs": whole_key(1, MAX_WORKERS),
        "extra": _list(
            'a list of options, without #SBATCH: ["--constraint=avx512"]',
            _matching(r"-[^\r\n]+"),
        ),
        "prologue": _list('a list of commands: ["module load gcc"]', is_text),
        "interface": Key("the name of a network, in quotes, without spaces", _word),
    },
)


def only_form(given: Mapping[str, Any], forms: Sequence[str], example: str) -> str:
    """The one of these keys that is given; FaultError if there is none, or several."""
    present = [form for form in forms if given.get(form) is not None]
    if len(present) != 1:
        what = f"{listed(present)} exclude each other" if present else "none of its forms is given"
        raise FaultError(what, f"give one of {listed(forms)}: {example}")
    return present[0]
