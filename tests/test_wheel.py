"""The wheel alone, in an environment of its own and away from the checkout, computes a sweep.

That environment sees all packages of this one: a package that the wheel does not require is found
by reading what `sweep` imports.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import sweep
from tests.docs import site

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("sweep", "kernels", "configs")
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
EXTRAS = ("cuda12", "cuda13", "compiler", "s3", "parquet")  # of users
UNIMPORTED = {"cryptography", "h5netcdf", "h5py"}  # distributed and xarray import them
OF_MODULES = {"cupy": "cupy-cuda12x", "cupyx": "cupy-cuda12x"}  # and of cupy-cuda13x


def own_environment() -> dict[str, str]:
    """The environment without what leads to this checkout."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}


def call(*command: str | Path, cwd: Path, cache: Path | None = None) -> str:
    """What a command prints; where it fails, its output is the message."""
    own = own_environment() | ({"TRIBOSWEEP_CACHE_DIR": str(cache)} if cache else {})
    done = subprocess.run(command, cwd=cwd, env=own, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def shipped_copy(copy: Path) -> Path:
    """A copy of what the checkout ships, so that nothing is left in it."""
    for folder in SHIPPED:
        unshipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, copy / folder, ignore=unshipped)
    for name in BESIDE:
        shutil.copy(ROOT / name, copy / name)
    # A .gitignore says what hatchling leaves out, and may leave out too much.
    shutil.copy(ROOT / ".gitignore", copy / ".gitignore")
    return copy


def built(copy: Path) -> Path:
    """The wheel of a copy."""
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", ".", cwd=copy)
    (wheel,) = (copy / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what the checkout ships."""
    return built(shipped_copy(tmp_path_factory.mktemp("checkout")))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel."""
    return installed(wheel, tmp_path_factory.mktemp("environment"))


def installed(wheel: Path, folder: Path) -> Path:
    """The interpreter of an environment with the wheel, and this one's other packages.

    Those are seen through their folder: an editable install there is not, since a .pth file in a
    folder that a .pth file names is not read.
    """
    call(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ("install", "--quiet", "--no-deps", "--no-index", wheel)
    call(sys.executable, "-m", "pip", "--python", python, *install, cwd=folder)
    site = call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(site.strip(), "others.pth").write_text("\n".join(sorted(others)) + "\n")
    return python


def test_kernels_and_sweep_files_are_in_the_wheel_and_nothing_else_is(wheel: Path) -> None:
    expected = {
        ("" if top == "sweep" else "sweep/") + path.relative_to(ROOT).as_posix()
        for top in SHIPPED
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        entry_points = archive.read(
            next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        ).decode()
    assert sorted(names) == sorted(expected)
    assert {"sweep = sweep.cli:main", "tribosweep = sweep.cli:main"} <= set(
        entry_points.splitlines()
    )


@pytest.mark.broad
def test_what_is_imported_is_required_and_the_other_way_round() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {name for each in project["dependencies"] for name in _names(each)}
    extras = [project["optional-dependencies"][extra] for extra in EXTRAS]
    optional = {name for extra in extras for each in extra for name in _names(each)}
    plain, named = set[str](), set[str]()
    for path in (ROOT / "sweep").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        plain.update(_imported(tree))
        named.update(_imported_by_name(tree))
    assert _distributions(plain) - required == set()
    assert _distributions(named) - required - optional == set()
    assert required - _distributions(plain) == UNIMPORTED


def _names(requirement: str) -> list[str]:
    """A requirement's name and those of its extras: "dask[distributed]" requires both."""
    names = re.findall(r"[\w.-]+", re.split("[<>=!~; ]", requirement)[0])
    return [name.lower().replace("_", "-") for name in names]


def _distributions(modules: set[str]) -> set[str]:
    """Those that install the modules that are neither Python's nor this package's."""
    installed = packages_distributions()
    others = modules - sys.stdlib_module_names - {"sweep"}
    names = (OF_MODULES.get(each) or installed.get(each, [each])[0] for each in others)
    return {_names(name)[0] for name in names}


def _imported(tree: ast.AST) -> Iterator[str]:
    """The top-level modules of import statements, but for those that only a type checker runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        yield from _imported(node)


def _imported_by_name(tree: ast.AST) -> Iterator[str]:
    """The top-level modules of import_module("name")."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("import_module"), [ast.Constant(str(module)), *_]):
                yield module.partition(".")[0]
            case ast.Call(ast.Attribute(_, "import_module"), [ast.Constant(str(module)), *_]):
                yield module.partition(".")[0]
            case _:
                pass


WHERE = """
import json, sweep
from importlib.metadata import version
from sweep.model.shipped import configs_folder, kernels_folder
folders = [sweep.__file__, kernels_folder(), configs_folder()]
print(json.dumps([*map(str, folders), version("tribosweep")]))
"""


@pytest.mark.broad
def test_the_wheel_computes_away_from_the_checkout(python: Path, tmp_path: Path) -> None:
    package, kernels, configs, version = json.loads(call(python, "-c", WHERE, cwd=tmp_path))
    environment = python.parent.parent
    assert Path(package).is_relative_to(environment)
    assert Path(kernels) == Path(package).parent / "kernels"
    assert Path(configs) == Path(package).parent / "configs"
    assert version == sweep.__version__
    small = "friction={ geomspace = [0.01, 1.0, 3] }", "base_acceleration={ values = [1, 15] }"
    options = [word for each in small for word in ("--set", each)]
    call(python, "-m", "sweep", "run", "wear_power", *options, "-o", "w.zarr", cwd=tmp_path)
    output = call(python, "-m", "sweep", "status", "w.zarr", "--json", cwd=tmp_path)
    assert json.loads(output)["points_done"] == 6
    command = python.parent / ("sweep.exe" if os.name == "nt" else "sweep")
    assert "wear_power" in call(command, "example", cwd=tmp_path)


@pytest.mark.broad
def test_the_site_is_built_with_an_installed_wheel(python: Path, tmp_path: Path) -> None:
    """From a folder that has the documents, but no code to import."""
    site.build(python, site.copied(tmp_path), tmp_path / "html", own_environment())
    assert not site.broken_links(tmp_path / "html")


PAGES_WITHOUT_ZIG = """
import importlib.util, sys
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "ziglang" else known(name, *more)
from sweep.explorers import explore
for name in ("wear_power", "master_surface", "sdnd122"):
    print(explore(name, f"{name}.html"))
"""
RELEASE = """
from sweep.kernel import wasm
every = [*wasm.shipped_modules()]
wasm.shipped_modules = lambda: (each for each in every if each.kernel.method.name == "exact")
"""
REBUILT = """
import pathlib
names = {module.file_name: module for module in wasm.shipped_modules()}
assert {path.name for path in wasm.modules_folder().iterdir()} == {*names}
for name in sorted(names)[::6]:
    wasm.build(names[name], pathlib.Path("again.wasm"))
    assert pathlib.Path("again.wasm").read_bytes() == (wasm.modules_folder() / name).read_bytes()
"""


@pytest.mark.broad
def test_pages_of_a_release_need_no_compiler(tmp_path: Path) -> None:
    """Its modules, of exact methods alone here, have the same bytes if they are compiled again."""
    pytest.importorskip("ziglang")
    copy = shipped_copy(tmp_path / "checkout")
    shutil.rmtree(copy / "sweep" / "modules", ignore_errors=True)
    (copy / "release.py").write_text(f"{RELEASE}\nwasm.build_release()")
    call(sys.executable, "release.py", cwd=copy)
    environment = tmp_path / "environment"
    environment.mkdir()
    python = installed(built(copy), environment)
    call(python, "-c", PAGES_WITHOUT_ZIG, cwd=tmp_path, cache=tmp_path / "cache")
    assert (tmp_path / "wear_power.html").stat().st_size < 250_000
    assert not list((tmp_path / "cache").rglob("*.wasm"))
    call(python, "-c", RELEASE + REBUILT, cwd=tmp_path)
