"""Records from a document's files: CSV figures, columns and checks, and the template."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validation.comparison import (
    Ours,
    constants,
    csv_rows,
    figures,
    json_text,
    markdown,
    number,
    record_of,
    save,
)

FILES = {
    "columns.csv": """table,name,title,unit,digits,resolution,figure
powers,method,method,,,,
powers,ours,mean of N|v|,W,4,,
powers,theirs,theirs,W,6,,published
powers,difference,difference,W,3,1e-9,ours - theirs
powers,relative,relative,1,3,,ours / theirs
""",
    "checks.csv": """claim,cell,target,bound,unit,resolution
euler,powers|euler|relative,0,0.3,1,
all,powers|*|ours,1,0.4,W,
other,other,2,1e-12,W,1e-12
""",
    "record.md": """# A paper

An author,
2020

![A curve](paper.png)

## The powers

powers

## Notes

- Euler gives {powers|euler|ours:3} W,
  {powers|euler|relative:+.0%} off.
- Nothing {{braced}} but {other:.1f}.
""",
}
OURS = Ours(
    {
        "powers": [
            {"method": "euler", "ours": 1.23456, "published": 1.0, "unused": 3.0},
            {"method": "none", "ours": 0.5, "published": 0.0, "unused": None},
        ]
    },
    {"other": 2 + 4e-16},
    {"paper.png": lambda path: path.write_bytes(b"a picture")},
)
MARKDOWN = r"""# A paper

Source: An author, 2020.

1 of 3 checks do not hold.

![A curve](paper.png)

## The powers

| method | mean of N\|v\| (W) | theirs (W) | difference (W) | relative |
| --- | --: | --: | --: | --: |
| euler | 1.235 | 1 | 0.235 | 0.235 |
| none | 0.5 | 0 | 0.5 | – |

## Checks

| claim | found | bound | unit | holds |
| --- | --: | --: | --- | --- |
| euler | 0.23 | 0.3 | 1 | yes |
| all | 0.5 | 0.4 | W | NO |
| other | 0 | 1e-12 | W | yes |

## Notes

- Euler gives 1.23 W, +23% off.
- Nothing {braced} but 2.0.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paper").mkdir()
    for name, text in FILES.items():
        (tmp_path / "paper" / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_record_and_its_files(folder: Path) -> None:
    record = record_of("paper", OURS, folder)
    assert markdown(record) == MARKDOWN
    assert record["tables"][0]["rows"][0]["difference"] == 0.235
    save(record, OURS, folder)
    assert json.loads((folder / "paper.json").read_bytes()) == record
    assert (folder / "paper.md").read_bytes() == MARKDOWN.encode()
    assert (folder / "paper.png").read_bytes() == b"a picture"


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_figure_that_is_not_finite_fails(folder: Path, bad: float) -> None:
    rows = [{**row, "ours": bad} for row in OURS.rows["powers"]]
    with pytest.raises((ValueError, OverflowError)):
        json_text(record_of("paper", OURS._replace(rows={"powers": rows}), folder))


@pytest.mark.parametrize(
    "address",
    ["powers|heun|ours", "power|euler|ours", "powers|none|relative", "powers|euler|method", "it"],
)
def test_a_citation_of_no_number_fails(folder: Path, address: str) -> None:
    with (folder / "paper" / "checks.csv").open("a") as file:
        file.write(f"claim,{address},0,1,1,\n")
    with pytest.raises((KeyError, ValueError, TypeError)):
        record_of("paper", OURS, folder)


@pytest.mark.parametrize(
    "text", ["name,value\nm,1,0\n", "name,value\nm\n", "name,value\nm,\n", "name,value\nm,1\nm,2\n"]
)
def test_a_malformed_file_of_figures_fails(tmp_path: Path, text: str) -> None:
    (tmp_path / "figures.csv").write_text(text)
    with pytest.raises((ValueError, AssertionError)):
        figures(tmp_path / "figures.csv")


def test_comments_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "constants.csv"
    path.write_text("# SI units\nname,value\n# section 1\nmass,1\nspring,3e-5\n")
    assert constants(path) == {"mass": 1.0, "spring": 3e-5}
    assert csv_rows(path)[1] == {"name": "spring", "value": "3e-5"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (2.26326449113e-4, "2.26326449113e-4"),
        (15.2671, "15.2671"),
        (-6.2e-10, "-6.2e-10"),
        (9e6, "9000000"),
        (1.5e9, "1.5e9"),
        (100.0, "100"),
        (0.001, "0.001"),
    ],
)
def test_numbers_have_no_trailing_zeros(value: float, text: str) -> None:
    assert number(value) == text
