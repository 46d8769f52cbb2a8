"""The loops of machine code, on a listing that nvdisasm made of a kernel of ours.

Of `friction_oscillator euler` with all variants, for sm_90: the time loop whole, of the two loops
that square a matrix and of the loop over the budget their ends, and some of what follows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import sass

LISTING = (Path(__file__).parents[1] / "reference" / "euler_sm_90.sass").read_text(encoding="utf-8")
((ENTRY, SECTION),) = sass.SECTION.findall(LISTING)
CODE = sass.parsed(SECTION)
FIRST, LAST = 0xBA80, 0xC400  # the time loop, as read by eye


def test_every_line_of_an_instruction_is_read() -> None:
    assert ENTRY == "tribosweep_run"
    assert len(CODE) == LISTING.count("/*")
    assert sum("`" in text for _, text in CODE) == 0


def test_the_time_loop_is_the_one_in_the_loop_over_the_budget() -> None:
    """The two that square a matrix, of many doubles too, come before it."""
    inner = [loop for loop in sass.loops(CODE) if loop.innermost and loop.on_doubles]
    assert [loop.first for loop in inner] == [0x6A80, 0x73A0, FIRST]
    (time_loop,) = sass.time_loops(CODE)
    assert (time_loop.first, time_loop.last, time_loop.depth) == (FIRST, LAST, 1)


def test_what_a_turn_takes_is_counted() -> None:
    """Two steps: its counter, R128, goes down by 2, and is compared with 0."""
    (time_loop,) = sass.time_loops(CODE)
    lines = LISTING.splitlines()
    at = next(i for i, line in enumerate(lines) if f"/*{FIRST:04x}*/" in line)
    body = [line for line in lines[at:] if "/*" in line][: (LAST - FIRST) // 16 + 1]
    words = [line.split()[1] for line in body]
    doubles = sum(word.startswith(("DADD", "DMUL", "DFMA", "DSETP")) for word in words)
    assert (time_loop.instructions, time_loop.on_doubles) == (153, doubles) == (len(body), 49)
    assert (time_loop.counted, time_loop.writes, time_loop.local_memory) == (2, 0, 0)
    assert (time_loop.fewest_instructions, time_loop.fewest_on_doubles) == (153, 49)


def test_the_shortest_way_through_a_loop_is_counted() -> None:
    lines = [
        "DADD R2, R2, R4",
        "@P0 BRA P1, 0x50",  # past what is seldom needed
        "DMUL R4, R4, R4",
        "DMUL R6, R6, R6",
        "BRA 0x60",
        "MOV R8, R9",
        "@!P2 BRA 0x100",  # out of the loop
        "DFMA R2, R2, R4, R6",
        "@P3 BRA 0x0",
    ]
    (loop,) = sass.loops([(16 * i, text) for i, text in enumerate(lines)])
    assert (loop.instructions, loop.on_doubles) == (9, 4)
    assert (loop.fewest_instructions, loop.fewest_on_doubles) == (6, 2)


def test_a_write_counts_where_it_stands() -> None:
    assert sass.writes(CODE) == LISTING.count("STG") == 6
    for store, counted in (("STG.E.64 desc[UR4][R8.64]", (1, 0)), ("STL.64 [R1+0x8]", (0, 1))):
        inside = sass.parsed(SECTION.replace("DMUL R138, R30", store, 1))
        (time_loop,) = sass.time_loops(inside)
        assert (time_loop.writes, time_loop.local_memory, time_loop.on_doubles) == (*counted, 48)
        writes, local = counted
        assert [loop.writes for loop in sass.loops(inside)] == [0, 0, writes, writes, 0]
        assert [loop.local_memory for loop in sass.loops(inside)] == [0, 0, local, local, 0]


@pytest.mark.parametrize(
    ("count", "compare", "steps"),
    [
        ("IADD3 R9, R9, 0x1, RZ", "ISETP.GE.AND P0, PT, R9, R4, PT", 1),
        ("IADD3 R8, P4, PT, R8, -0x4, RZ", "ISETP.NE.U32.AND P0, PT, R8, RZ, PT", 4),
        ("UIADD3 UR4, UP0, UR4, 0x2, URZ", "UISETP.NE.U32.AND UP0, UPT, UR4, UR6, UPT", 2),
        ("VIADD R0, R0, 0x8", "ISETP.NE.AND P1, PT, R0, 0x1c, PT", 8),
        ("VIADD R0, R0, 0xfffffff0", "ISETP.GE.AND P1, PT, R0, 0x10, PT", 16),
        ("IADD.64 R4, R4, 0x3", "ISETP.NE.S64.AND P1, PT, R4, R6, PT", 3),
        ("IADD3 R9, R9, R8, RZ", "ISETP.GE.AND P0, PT, R9, R4, PT", None),
        ("IADD3 R9, R9, 0x1, RZ", "ISETP.GE.AND P0, PT, R90, R4, PT", None),
        ("IADD3 R9, R9, 0x1, RZ ;\n /*0010*/ VIADD R4, R4, 0x2",
         "ISETP.GE.AND P0, PT, R9, R4, PT", None),
    ],
)  # fmt: skip
def test_a_counter_is_what_is_added_to_and_compared(
    count: str, compare: str, steps: int | None
) -> None:
    text = f".L_x_1:\n /*0000*/ {count} ;\n /*0020*/ {compare} ;\n /*0030*/ @P0 BRA `(.L_x_1) ;"
    (loop,) = sass.loops(sass.parsed(text))
    assert loop.counted == steps


def test_spans_that_overlap_are_no_loops() -> None:
    lines = ["BRA 0x20", "NOP", "NOP", "@P0 BRA 0x10", "@P0 BRA 0x20"]
    code = [(16 * i, text) for i, text in enumerate(lines)]
    with pytest.raises(ValueError, match="0x10-0x30 and 0x20-0x40 overlap"):
        sass.loops(code)


def test_the_disassembler_of_cuda_is_found_off_the_path_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An image with CUDA in it need not have its folder on PATH."""
    monkeypatch.setattr(sass, "files", lambda _package: [])
    monkeypatch.setattr(sass, "CUDA", tmp_path / "no-cuda")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "cuda"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not sass.available()
    tool = tmp_path / "cuda" / "bin" / "nvdisasm"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert sass.nvdisasm() == tool
