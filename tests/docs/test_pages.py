"""Every block of code in the documents runs, or is marked as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sweep.file import load
from sweep.model.shipped import configs_folder
from sweep.points.recipes import recipe
from sweep.store.layout import attributes
from tests.docs.blocks import NOT_CODE, blocks, run_page
from tests.docs.site import ROOT

FOLDERS = ("tutorials", "how_to", "explanation", "reference")
README = ROOT / "README.md"
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / "docs" / folder).rglob("*.md"))
PAGES += [README, ROOT / "docs" / "index.md"]
WITH_S3 = "choose_a_place_for_stores.md"
BROAD = (
    "choose_what_a_picture_shows.md", "clusters_and_gpus.md",  # many pictures, processes
    "your_own_model.md", "write_a_model_file.md", "write_a_sweep_file.md",  # kernels of their own
    "use_modes_of_a_structure.md", "from_modes_to_wear.md",
)  # fmt: skip


def _name(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


@pytest.mark.broad
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=_name(page), marks=[pytest.mark.broad] if page.name in BROAD else [])
        for page in PAGES
        if any(block.language not in NOT_CODE for block in blocks(page.read_text(encoding="utf-8")))
    ],
)
def test_the_code_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    if page.name == WITH_S3:
        request.getfixturevalue("s3")
    run_page(page, tmp_path)


def test_the_store_format_has_every_key_of_a_recipe_and_every_attribute() -> None:
    page = (ROOT / "docs" / "reference" / "store_format.md").read_text(encoding="utf-8")
    parameters = {
        "mass": 1, "friction": 0.1, "step": 1e-3, "window_start": 4, "window_end": 12,
        "base_acceleration": {"times": [0, 20], "values": [0, 1]},
    }  # fmt: skip
    axes, derived = {"gravity": {"values": [9, 10]}}, {"stiffness": "2*gravity*mass"}
    document = {"model": "friction_oscillator", "method": "moreau", "parameters": parameters}
    tabulated = load({**document, "axes": axes, "derived": derived}).sweep
    shipped = ("lorenz_peaks", "wear_uncertainty", "wear_power_refined")
    smoke = configs_folder() / "smoke"
    for sweep in (tabulated, *(load(smoke / f"{name}.toml").sweep for name in shipped)):
        for key in (*recipe(sweep), *attributes(sweep, {})):
            assert re.search(rf"^`.*\b{key}\b.*`$", page, re.MULTILINE), f"describe `{key}`"


@pytest.mark.parametrize("page", sorted({*PAGES, *ROOT.glob("*.md")}), ids=_name)
def test_code_is_fenced(page: Path) -> None:
    """Also in lists: code that is only indented is seen neither by a reader nor by these tests."""
    prose = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert not re.search(r"^ {4,}(?![-*\d ])\S", prose, re.MULTILINE)


def test_the_readme_is_one_screen_or_two() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 110


def test_the_runner_runs_code_and_writes_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```{code-block} toml\n:caption: a.toml\n\nx = 1\n```\n"
        "```python\nfrom pathlib import Path\nfound = Path('a.toml').read_text()\n```\n"
        "This is `b.toml`:\n\n```toml\ny = 2\n```\n"
        "```text\nnot run\n```\n```python\nassert found == 'x = 1\\n'\n```\n"
    )
    run_page(page, tmp_path)
    assert (tmp_path / "b.toml").read_text() == "y = 2\n"
    for wrong in ("```python\nassert False\n```\n", "```shell\nls\n```\n", "```\nx\n```\n"):
        page.write_text(wrong)
        with pytest.raises(AssertionError):
            run_page(page, tmp_path)
