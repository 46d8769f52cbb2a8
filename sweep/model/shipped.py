"""The folders of the shipped kernels, sweep files and modules, in a checkout and in a wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path


def kernels_folder() -> Path:
    """The folder of portable.h, models/ and schemes/."""
    return _folder("kernels")


def configs_folder() -> Path:
    """The folder of the shipped sweep files; smoke/ has versions of them with few points."""
    return _folder("configs")


def shipped_configs() -> dict[str, Path]:
    """Every shipped sweep file by name (its stem), sorted."""
    return {path.stem: path for path in sorted(configs_folder().glob("*.toml"))}


def shipped_models() -> dict[str, Path]:
    """Every shipped model that is a file of equations, by name (its stem), sorted."""
    return {path.stem: path for path in sorted((configs_folder() / "models").glob("*.toml"))}


def modules_folder() -> Path:
    """The folder of the WebAssembly modules that a release has; a checkout has none."""
    return _package() / "modules"


@cache
def _folder(name: str) -> Path:
    """Next to the package in a checkout, which has a pyproject.toml; in the package in a wheel."""
    package = _package()
    beside = package.parent / name
    in_checkout = (package.parent / "pyproject.toml").is_file() and beside.is_dir()
    return beside if in_checkout else package / name


def _package() -> Path:
    return Path(__file__).resolve().parents[1]
