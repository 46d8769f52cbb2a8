"""The public functions have signatures that completion knows, of types that are public too."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_type_hints

import pytest

import sweep
from sweep.request.options import RunKeywords

FUNCTIONS = (
    "run", "trace", "wear", "fit", "compare", "export", "explore", "open_results", "load",
)  # fmt: skip
# Types of Python, NumPy and xarray.
OTHERS = {
    "str", "int", "float", "bool", "object", "None", "Path", "Mapping", "Sequence", "Literal",
    "auto", "Event", "ArrayLike", "xr", "Dataset", "Unpack",
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_argument_has_a_name_and_a_type(name: str) -> None:
    for each in inspect.signature(getattr(sweep, name)).parameters.values():
        assert each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL), each
        assert each.annotation is not each.empty, each


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_type_in_a_signature_is_public(name: str) -> None:
    annotations: dict[str, str] = getattr(sweep, name).__annotations__
    names = {word for text in annotations.values() for word in re.findall(r"[A-Za-z_]\w*", text)}
    assert names - OTHERS <= {*sweep.__all__}


@pytest.mark.parametrize(("name", "keywords"), [("run", RunKeywords), ("wear", sweep.WearKeywords)])
def test_keywords_of_a_table_are_written_out(name: str, keywords: Any) -> None:
    parameters = inspect.signature(getattr(sweep, name)).parameters
    expected = get_type_hints(keywords)
    own = {key: parameters[key] for key in expected}
    assert {key: each.annotation for key, each in own.items()} == expected
    assert {each.kind for each in own.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert {each.default for each in own.values()} == {None}
