"""Where the shipped kernels and sweep files lie, in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path


def kernels_folder() -> Path:
    """The folder of portable.h, models/ and schemes/."""
    return _folder("kernels")


def configs_folder() -> Path:
    """The folder of the shipped sweep files; its smoke/ holds their few-point twins."""
    return _folder("configs")


def shipped_configs() -> dict[str, Path]:
    """Every shipped sweep file by name (its stem), in the order of names."""
    return {path.stem: path for path in sorted(configs_folder().glob("*.toml"))}


def _folder(name: str) -> Path:
    """Beside the package in a checkout, which has a pyproject.toml there; inside it in a wheel."""
    package = Path(__file__).resolve().parent
    beside = package.parent / name
    in_checkout = (package.parent / "pyproject.toml").is_file() and beside.is_dir()
    return beside if in_checkout else package / name
