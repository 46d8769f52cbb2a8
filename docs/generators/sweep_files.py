"""The page of the keys of sweep files: from what checks them, so that none is missing."""

from __future__ import annotations

from generators.models import parameter_table
from generators.tables import code, plain, table
from sweep.file import keys as file_keys
from sweep.file.reduce_table import EXAMPLES, STATISTICS
from sweep.request.options import OPTIONS
from sweep.text.reader import Keys
from sweep.theory.wear.geometries import GEOMETRIES
from sweep.theory.wear.laws import LAWS

TABLES = {
    "axis": file_keys.AXIS,
    "excitation": file_keys.EXCITATION,
    "sample": file_keys.SAMPLE,
    "distribution": file_keys.DISTRIBUTION,
    "reduce": file_keys.REDUCE,
    "refine": file_keys.REFINE,
    "wear": file_keys.WEAR,
}
TITLES = {
    "axis": "An axis",
    "excitation": "A table over time in `[parameters]`",
    "distribution": "A distribution in `[sample]`",
}


def sweep_file_page() -> str:
    """Every key of a sweep file, with what it takes."""
    parts = [
        "# Keys of sweep files\n\nThis page is written from the tables that check sweep files. "
        "What the keys are for, with examples: "
        "[write a sweep file](../how_to/write_a_sweep_file.md).",
        "## Top level\n\n" + _keys(file_keys.TOP_LEVEL),
        "Numbers in `[parameters]` and in axes are in SI units; text may have a unit, such as "
        '`"50 turn/s"`.',
    ]
    for name, keys in TABLES.items():
        title = TITLES.get(name, f"`[{name}]`")
        parts.append(f"## {title}\n\n{plain(keys.meaning)}\n\n{_keys(keys.keys)}")
        if name == "reduce":
            parts.append(_statistics())
        if name == "wear":
            parts.append(_wear())
    parts.append(
        "## `[run]`\n\nHow to run it; no option changes a bit of a result.\n\n" + _options()
    )
    parts.append(f"## `[run.slurm]`\n\n{file_keys.SLURM.meaning}\n\n" + _keys(file_keys.SLURM.keys))
    return "\n\n".join(parts) + "\n"


def _keys(keys: Keys) -> str:
    rows = [(code(name), plain(key.expected), _default(key.default)) for name, key in keys.items()]
    return table(("key", "value", "default"), rows)


def _default(default: object) -> str:
    if not default and default is not False:
        return ""
    return code(str(default).lower() if isinstance(default, bool) else str(default))


def _statistics() -> str:
    listed = [(code(EXAMPLES.get(name, f'"{name}"')),) for name in STATISTICS]
    return "Every other key names an output; its value is a list of statistics:\n\n" + table(
        ("statistic",), listed
    )


def _wear() -> str:
    laws = [
        f"Law `{law.name}`:\n\n{parameter_table(tuple(law.coefficients.values()))}"
        for law in LAWS.values()
    ]
    scars = [
        f"Geometry `{scar.name}`:\n\n{parameter_table(tuple(scar.dimensions.values()))}"
        for scar in GEOMETRIES.values()
    ]
    return "\n\n".join([*laws, *scars])


def _options() -> str:
    rows = [
        (
            code(name),
            plain(option.expected),
            plain(option.meaning),
            "yes" if option.in_file else "",
            code(f"--{name.replace('_', '-')}") if option.on_command_line else "",
        )
        for name, option in OPTIONS.items()
    ]
    return table(
        ("option of `sweep.run`", "value", "meaning", "in `[run]`", "of `sweep run`"), rows
    )
