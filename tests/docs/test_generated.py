"""The pages that are written from the code."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import sweep.theory
from sweep.equations.parsing import parse
from sweep.file import keys as file_keys
from tests.command import Run
from tests.docs.blocks import blocks
from tests.docs.site import ROOT

# Public functions that are imported from their modules.
ELSEWHERE = {
    "pictures.traces.plot_trace",
    "pictures.backbone.plot_backbone",
    "results.refined.on_grid",
}

HELPERS = {"in_order", "by_name"}  # of sweep.theory: no closed forms


@pytest.fixture
def generators(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    names = ("equations", "models", "programs", "sweep_files", "verification")
    return {name: importlib.import_module(f"generators.{name}") for name in names}


@pytest.mark.parametrize(
    ("line", "tex"),
    [
        ("m ÿ = −c ẏ − k y", r"m \ddot{y} = -c \dot{y} - k y"),
        ("|F| ≤ μ N(t)", r"|F| \le  μ N(t)"),
        ("κ = E*/G*, n² ½", r"κ = E^{\ast}/G^{\ast}, n^{2} \frac{1}{2}"),
        ("u_z(t) = d0 + Δz cos ωt", r"u_{z}(t) = d_{0} + Δz \cos  ωt"),
        ("√(k/m) + √π", r"\sqrt{k/m} + \sqrt{\pi }"),
        ("F = 0 while slipping", r"F = 0 \text{ while } \text{ slipping }"),
    ],
)
def test_equations_of_docstrings(generators: dict[str, ModuleType], line: str, tex: str) -> None:
    assert generators["equations"].tex_of_line(line) == tex


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("-a*(x + 1)**2/mass", r"\frac{-a \, \left(x + 1\right)^{2}}{m_{0}}"),
        ("x - (1 - x)", r"x - \left(1 - x\right)"),
        ("(x/2)**3", r"\left(\frac{x}{2}\right)^{3}"),
        ("abs(x) + sqrt(x)", r"\left|x\right| + \sqrt{x}"),
        ("where(x > 0, 1e-5, pi)",
         r"\begin{cases}10^{-5} & x > 0 \\ \pi & \text{otherwise}\end{cases}"),
        ("x*sum(i, y)", r"x \, \left(\sum_{i} y\right)"),
        ("sum(i, c[i + 1]*x)", r"\sum_{i} {\gamma}_{i + 1} \, x"),
        ("hypot(x, spring_force)", r"\operatorname{hypot}\left(x, \mathit{spring\_force}\right)"),
    ],
)  # fmt: skip
def test_equations_of_model_files(generators: dict[str, ModuleType], text: str, tex: str) -> None:
    symbols = {"mass": "m_{0}", "c[]": r"\gamma"}
    assert generators["equations"].tex_of(parse(text, is_indexed=True), symbols) == tex


def test_a_models_page_has_its_indices_switches_rests_and_holds(
    generators: dict[str, ModuleType],
) -> None:
    """With indices in place of a line for each element."""
    pages = generators["models"].model_pages()
    page = pages["vibro_impact"]
    for text in (
        "| `side` | left, right |",
        "| `barrier[side]` | `apart`, `rest` | `apart` |",
        r"once occurrences accumulate, ${\mathit{barrier}}_{\mathit{side}}$ becomes `rest`",
        r"| `between` | $\left\|x\right\| \le 1$ | the pendulum passed through a barrier |",
        "| `impacts[side]` | number of events `impact` |",
    ):
        assert text in page
    shape = r"\sum_{\mathit{mode}} {\mathit{shape}}_{\mathit{support}, \mathit{mode}}"
    assert shape in pages["tube"]
    assert r"\mathit{twist} - b & \mathit{mesh} = \mathit{drive}" in pages["gear"]


def test_a_models_page_has_all_that_the_command_prints(
    generators: dict[str, ModuleType], run: Run
) -> None:
    status, out, _ = run("models", "--json")
    assert status == 0
    pages = generators["models"].model_pages()
    shipped = [each for each in json.loads(out) if each["name"] in pages]
    assert len(shipped) == len(pages)
    for model in shipped:
        listed = [*model["parameters"], *model["outputs"], *model["methods"], *model["observables"]]
        listed += [p for each in model["parameter_sets"] for p in each["parameters"]]
        listed += [p for each in model["substitutes"] for p in each["parameters"]]
        listed += [p for each in model["methods"] for p in each["parameters"]]
        missing = {
            each["name"] for each in listed if f"`{each['name']}`" not in pages[model["name"]]
        }
        assert not missing, model["name"]


def test_the_reference_has_every_public_name_once_and_an_example_of_each_function() -> None:
    pages = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "docs" / "reference" / "python").glob("*.md")
    }
    directive = re.compile(r"^\.\. auto(?:function|class|exception):: sweep\.([\w.]+)$", re.M)
    everything = "\n".join(pages.values())
    names = [*directive.findall(everything), *re.findall(r"^\| `(\w+)` \|", everything, re.M)]
    assert sorted(names) == sorted({*sweep.__all__, *ELSEWHERE} - {"__version__"})
    for page in pages.values():
        for function in re.findall(r"^\.\. autofunction:: [\w.]+\.(\w+)$", page, re.M):
            section = page.partition(f"## `{function}`\n")[2].partition("\n## ")[0]
            examples = [each.text for each in blocks(section) if each.language == "python"]
            assert any(re.search(rf"\b{function}\(", each) for each in examples), function


def test_every_closed_form_has_an_example() -> None:
    page = (ROOT / "docs" / "reference" / "python" / "closed_forms.md").read_text(encoding="utf-8")
    used = "\n".join(each.text for each in blocks(page) if each.language == "python")
    packages = pkgutil.walk_packages(sweep.theory.__path__, "sweep.theory.")
    modules = {each.name for each in packages} - {"sweep.theory.elementary"}
    assert {*re.findall(r"^\.\. automodule:: ([\w.]+)$", page, re.M)} == modules
    for module in modules:
        functions = inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        for name, function in functions:
            if function.__module__ == module and not name.startswith("_") and name not in HELPERS:
                assert re.search(rf"\.{name}\(", used), f"{module}.{name}"


def test_keys_statuses_and_errata_are_complete(generators: dict[str, ModuleType]) -> None:
    documented = [*generators["sweep_files"].TABLES.values(), file_keys.SLURM]
    tables = [each for each in vars(file_keys).values() if isinstance(each, file_keys.TableKeys)]
    assert all(each in documented for each in tables)
    keys = generators["sweep_files"].sweep_file_page()
    assert all(f"`{name}`" in keys for name in file_keys.TOP_LEVEL)
    statuses = generators["programs"].exit_status_page()
    rows = re.findall(r"^\| `(\w+)` \|", statuses, re.MULTILINE)
    assert rows[:7] == ["0", "1", "2", "3", "70", "130", "143"]
    assert sorted(rows[7:]) == sorted(variables_that_are_read())
    records = {"a": "# A: title\n\ntable\n\n## Notes\n\n- The document errs.\n"}
    errata = generators["verification"].errata_page(records)
    assert "## A: title\n\n- The document errs.\n\n[All figures and checks](a.md)." in errata


def variables_that_are_read() -> set[str]:
    """Names in `os.environ` and `os.getenv` in sweep/, without PATH, which every program reads."""
    names: set[str] = set()
    for path in sorted((ROOT / "sweep").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"(?:environ(?:\.get\(|\[)|getenv\()\s*([^\s,\])]+)", text):
            if not name.isidentifier():
                names.add(name.strip("\"'"))
                continue
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            names.add(getattr(importlib.import_module(module.removesuffix(".__init__")), name))
    return names - {"PATH"}


def test_pages_that_are_gone_are_removed(
    generators: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert generators
    pages = importlib.import_module("generators.pages")
    old = tmp_path / "models" / "gone.md"
    old.parent.mkdir()
    old.write_text("# Gone")
    pages.write_pages(tmp_path, ROOT / "results" / "verification")
    assert not old.exists()
    assert (tmp_path / "models" / "belt.md").exists()
