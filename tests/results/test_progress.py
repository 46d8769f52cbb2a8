"""The progress that `sweep.run` shows: where somebody looks, or on request."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stderr
from pathlib import Path

import pytest

import sweep
from sweep.kernel.compiler import Compiler, run_compiler
from sweep.model.shipped import configs_folder
from sweep.results import progress
from tests.command import CHECKOUT, Terminal, sweep_command

SMOKE = configs_folder() / "smoke" / "wear_power.toml"


def test_where_nobody_looks_lines_are_printed_on_request_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep.run(SMOKE, store=None)
    assert capsys.readouterr() == ("", "")
    sweep.run(SMOKE, store=None, progress=True)
    assert "of 35 points" in capsys.readouterr().err


@pytest.mark.parametrize("requested", [None, True, False])
def test_a_terminal_has_a_bar_and_says_that_kernels_are_compiled(requested: bool | None) -> None:
    reported: list[object] = []
    report = reported.append if requested else None
    with redirect_stderr(Terminal()) as terminal:
        sweep.run(SMOKE, store=None, progress=requested, report=report)
    text = terminal.getvalue()
    assert ("compiling" in text) == ("computing" in text) == (requested is not False)
    assert bool(reported) == (requested is True)


@pytest.mark.parametrize(("takes", "note"), [(0.4, "compiling ...\n"), (0.0, "")])
def test_a_line_says_once_that_compiling_takes_long(
    takes: float,
    note: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BEFORE_NOTE", 0.1)
    slow = Compiler(("sh", "-c", f'sleep {takes}; touch "$2"', "-"), "")
    with progress.shown():
        run_compiler("", slow, (), tmp_path / "kernel.so")
        time.sleep(0.2)
    assert capsys.readouterr() == ("", note)


def test_a_report_of_ones_own_replaces_the_bar() -> None:
    with redirect_stderr(Terminal()) as terminal:
        sweep.run(SMOKE, store=None, report=lambda _: None)
    assert terminal.getvalue() == ""


def test_a_notebook_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    from sweep.results.progress import somebody_looks

    assert not somebody_looks()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert somebody_looks()


def test_the_shell_completes_commands() -> None:
    words = {"COMP_WORDS": "sweep sho", "COMP_CWORD": "1", "_SWEEP_COMPLETE": "complete_bash"}
    assert sweep_command(folder=CHECKOUT, **words).stdout.split() == ["show"]
