"""Models of installed packages: an example is computed, and faulty ones are left out.

The oracle of the example is the motion with constant deceleration, in NumPy.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import sweep
from sweep.errors import SweepError
from sweep.kernel.source import kernel_digest
from sweep.model import installed
from tests.command import fresh_sweep_command
from tests.forked import CHECKOUT

EXAMPLE = Path(__file__).parents[1] / "plugin_example"
SWEEP_FILE = """
format = 1
model = "sliding_block"
[parameters]
gravity = 9.81
[axes]
friction = { linspace = [0.05, 1.0, 20] }
initial_speed = { linspace = [0.0, 3.0, 30] }
[run]
chunk_points = 100
"""
REQUEST = tomllib.loads(SWEEP_FILE)

METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: 2.0\n"

Install = Callable[..., None]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example, installed by pip."""
    folder = tmp_path_factory.mktemp("site")
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--no-compile")
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    subprocess.run([*pip, *offline, "--target", folder, EXAMPLE], check=True, timeout=120)
    return folder


@pytest.fixture
def here(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example can be imported in this process."""
    forget()
    monkeypatch.syspath_prepend(str(site))
    yield
    forget()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Makes packages for this process: a function of an entry point, its module and a header."""
    folder = tmp_path / "site"

    def make(package: str, point: str, table: str | None, header: str | None = "") -> None:
        metadata = folder / f"{package}-2.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(METADATA.format(package))
        (metadata / "entry_points.txt").write_text(f"[tribosweep.models]\n{point} = {package}\n")
        (folder / package / "kernels").mkdir(parents=True)
        if table is not None:
            (folder / package / "__init__.py").write_text(table)
        if header is not None:
            (folder / package / "kernels" / f"{point}.h").write_text(header)

    forget()
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.syspath_prepend(str(EXAMPLE))  # importable, but not installed: it offers nothing
    yield make
    forget()


def forget() -> None:
    """Forget every package of these tests, in this process."""
    installed.offers.cache_clear()
    for name in [name for name in sys.modules if name.startswith(("strange_", "tribosweep_"))]:
        del sys.modules[name]


def command(*arguments: str, folder: Path, site: Path) -> str:
    """What a command prints with the example installed."""
    path = os.pathsep.join([str(CHECKOUT), str(site)])
    done = fresh_sweep_command(*arguments, folder=folder, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.broad
def test_the_model_of_an_installed_package_is_computed_in_processes_with_the_same_bits(
    site: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(SWEEP_FILE)
    assert "block that slides to rest" in command("models", folder=tmp_path, site=site)
    listing = command("models", "sliding_block", "--json", folder=tmp_path, site=site)
    assert [each["name"] for each in json.loads(listing)] == ["sliding_block"]
    command("run", "a.toml", "-o", "threads.zarr", folder=tmp_path, site=site)
    processes = ("--cluster", "local", "--workers", "2")
    command("run", "a.toml", "-o", "processes.zarr", *processes, folder=tmp_path, site=site)
    files = [path for path in (tmp_path / "threads.zarr").rglob("*") if path.is_file()]
    assert len(files) > 6 * 3  # chunks of two outputs and the status
    for path in files:
        twin = tmp_path / "processes.zarr" / path.relative_to(tmp_path / "threads.zarr")
        assert twin.read_bytes() == path.read_bytes()


@pytest.mark.usefixtures("here")
def test_its_outputs_and_traces_are_those_of_the_closed_form() -> None:
    dataset = sweep.run(REQUEST, store=None)
    friction = np.linspace(0.05, 1.0, 20)[:, None]
    speed = np.linspace(0.0, 3.0, 30)
    time = speed / (friction * 9.81)
    assert not dataset["status"].any()
    np.testing.assert_allclose(dataset["stopping_time"], time, rtol=1e-15)
    np.testing.assert_allclose(dataset["stopping_distance"], speed * time / 2, rtol=1e-15)
    motion = sweep.trace(REQUEST, {"friction": 0.5, "initial_speed": 2.0})
    expected = np.maximum(2.0 - 0.5 * 9.81 * motion["time"].values, 0.0)
    np.testing.assert_allclose(motion["speed"], expected, atol=1e-15)


@pytest.mark.broad
def test_a_store_of_a_package_that_is_missing_is_read_but_not_continued(
    site: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(SWEEP_FILE)
    command("run", "a.toml", "-o", "a.zarr", folder=tmp_path, site=site)
    assert fresh_sweep_command("show", "a.zarr", folder=tmp_path).returncode == 0
    done = fresh_sweep_command("status", "a.zarr", folder=tmp_path)
    assert done.returncode == 2
    assert "no model 'sliding_block'" in done.stderr
    assert "install the package" in done.stderr


@pytest.mark.usefixtures("here")
def test_the_digest_of_a_kernel_covers_the_headers_of_the_package(
    site: Path, tmp_path: Path
) -> None:
    header = site / "tribosweep_sliding_block" / "kernels" / "sliding" / "braking.h"
    request = sweep.load(REQUEST)
    before, text = kernel_digest(request.sweep), header.read_text()
    try:
        header.write_text(text + "// a remark\n")
        assert kernel_digest(request.sweep) == before
        header.write_text(text.replace("p.friction * p.gravity", "p.gravity * p.friction"))
        assert kernel_digest(request.sweep) != before
    finally:
        header.write_text(text)


FAULTS = {
    "import": ("strange", "import nothing_of_that_name", "", "cannot be imported (ModuleNotFound"),
    "exit": ("strange", "raise SystemExit(3)", "", "cannot be imported (SystemExit: 3)"),
    "no module": ("strange", None, "", "has no `MODEL`"),  # a folder is a package too
    "no table": ("strange", "MODEL = 'block'", "", "has no `MODEL`"),
    "other name": ("strange", "from tribosweep_sliding_block import MODEL", "", "with the name"),
    "no header": ("sliding_block", "from {example} import MODEL", None, "kernels/sliding_block.h"),
    "shipped": ("mdr_contact", "", "", "'mdr_contact' is the name of a shipped model"),
    "shipped file": ("lorenz", "", "", "'lorenz' is the name of a shipped model"),
    "no name": ("a-b", "", "", "cannot be the name of a C++ namespace"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_package_is_left_out_and_the_reason_is_reported(
    install: Install, fault: str
) -> None:
    point, table, header, reason = FAULTS[fault]
    table = table and table.replace("{example}", "tribosweep_sliding_block")
    install("strange_package", point, table, header)
    (offer,) = installed.offers()
    assert (offer.name, offer.package, offer.model) == (point, "strange_package 2.0", None)
    assert reason in offer.problem
    if fault.startswith("shipped"):
        assert sweep.load("wear_power").sweep.model.name == "friction_oscillator"
    else:
        with pytest.raises(SweepError, match=r"strange_package 2\.0: ") as raised:
            sweep.load({**REQUEST, "model": point})
        assert reason in str(raised.value)


def test_two_packages_with_one_name_are_both_left_out(install: Install) -> None:
    for package in ("strange_one", "strange_two"):
        install(package, "sliding_block", "from tribosweep_sliding_block import MODEL")
    with pytest.raises(SweepError) as raised:
        sweep.load(REQUEST)
    for package in ("strange_one 2.0", "strange_two 2.0", "uninstall all but one"):
        assert package in str(raised.value)


@pytest.mark.broad
def test_models_and_doctor_name_the_package_that_is_left_out(site: Path, tmp_path: Path) -> None:
    metadata = tmp_path / "strange-2.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(METADATA.format("strange"))
    (metadata / "entry_points.txt").write_text("[tribosweep.models]\nslider = strange_slider\n")
    path = os.pathsep.join(map(str, (CHECKOUT, site, tmp_path)))
    done = fresh_sweep_command("models", "--json", folder=tmp_path, PYTHONPATH=path)
    assert (
        "warning: left out: slider of strange 2.0: strange_slider cannot be imported" in done.stderr
    )
    assert "sliding_block" in [each["name"] for each in json.loads(done.stdout)]
    done = fresh_sweep_command("doctor", "--json", folder=tmp_path, PYTHONPATH=path)
    report = json.loads(done.stdout)
    assert report["can_compute"]
    findings = {each["found"]: each["problem"] for each in report["findings"]}
    assert findings["sliding_block of tribosweep-sliding-block 1.0"] == ""
    assert "cannot be imported" in findings["slider of strange 2.0, left out"]


def test_headers_of_a_package_are_never_taken_for_those_of_the_entry(
    install: Install, tmp_path: Path
) -> None:
    own = EXAMPLE / "tribosweep_sliding_block" / "kernels"
    header = (own / "sliding_block.h").read_text() + '#include "block_cpu.h"\n'
    install("strange_one", "sliding_block", "from tribosweep_sliding_block import MODEL", header)
    kernels = tmp_path / "site" / "strange_one" / "kernels"
    (kernels / "sliding").mkdir()
    (kernels / "sliding" / "braking.h").write_text((own / "sliding" / "braking.h").read_text())
    (kernels / "block_cpu.h").write_text("constexpr int of_the_package = 1;\n")
    np.testing.assert_array_equal(sweep.run(REQUEST, store=None)["status"], 0)


def test_shipped_models_are_found_without_asking_for_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_lookup(**_: str) -> None:
        raise AssertionError("entry points were looked up")

    monkeypatch.setattr(importlib.metadata, "entry_points", no_lookup)
    installed.offers.cache_clear()
    assert sweep.load("wear_power").sweep.n_points == 524_288
    with pytest.raises(AssertionError):
        sweep.load(REQUEST)
