"""Arrays that compute with NumPy and reject what CuPy rejects, for methods of kind "array".

The names and arguments of CuPy are listed in reference/cupy.txt, which `python -m
tests.backends.device_arrays` writes on a machine with CuPy; no GPU is needed. As in CuPy, scalars
must be exactly of a type of Python or NumPy (no IntEnum), NumPy arrays cannot be operands, get() is
the only way to one, and solving a singular matrix is no error.

Rejected although CuPy accepts them: float() and int() of an array, which make the GPU wait; lists
and NumPy arrays as indices; NumPy functions of its arrays. So is what CuPy leaves undefined: two
values for one element.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RECORD = Path(__file__).parents[1] / "reference" / "cupy.txt"
VERSION, *LINES = RECORD.read_text(encoding="utf-8").splitlines()
CUPY = {name: rest for name, _, rest in (line.partition(" ") for line in LINES)}

SCALARS = (bool, int, float, complex)
FROM_NUMPY = ("array", "asarray")
OF_UFUNCS = {"out", "dtype", "casting"}
OPERATORS = """lt le eq ne gt ge neg pos abs invert add sub mul matmul truediv floordiv mod divmod
    pow and or xor lshift rshift radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rand
    ror rxor rlshift rrshift"""
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"


class DeviceArray:
    """A NumPy array that behaves as one of CuPy."""

    __array_ufunc__ = None  # NumPy's operators then defer to those of this class
    __hash__: Any = None  # like an array, which == compares element by element

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def get(self) -> NDArray[Any]:
        return self._values.copy()

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise TypeError("an array of the device becomes one of NumPy through get() only")

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __getitem__(self, index: Any) -> DeviceArray:
        return _result(self._values[_index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        place = _index(index)
        _refuse_twice(place)
        self._values[place] = _argument(value)

    def __getattr__(self, name: str) -> Any:
        if f"ndarray.{name}" not in CUPY:
            raise AttributeError(f"an array of {VERSION} has no {name}")
        value = getattr(self._values, name)
        return functools.partial(_call, value) if callable(value) else _result(value)


def _operator(name: str) -> Any:
    def operate(self: DeviceArray, *others: Any) -> Any:
        return _result(getattr(self._values, name)(*map(_operand, others)))

    return operate


def _in_place(name: str) -> Any:
    def operate(self: DeviceArray, other: Any) -> DeviceArray:
        getattr(self._values, name)(_operand(other))
        return self

    return operate


for _name in OPERATORS.split():
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in IN_PLACE.split():
    setattr(DeviceArray, f"__{_name}__", _in_place(f"__{_name}__"))


class Library:
    """The functions of NumPy that CuPy has; `within` is "", "fft." or "linalg."."""

    def __init__(self, module: Any = np, within: str = "") -> None:
        self._module = module
        self._within = within

    def __getattr__(self, name: str) -> Any:
        if not self._within and name in ("fft", "linalg"):
            return Library(getattr(np, name), f"{name}.")
        how = CUPY.get(self._within + name)
        if how is None:
            raise AttributeError(f"{VERSION} has no {self._within}{name}")
        value = _solve if self._within + name == "linalg.solve" else getattr(self._module, name)
        if how == "value":
            return value
        accept = _only_of_ufuncs if how == "ufunc" else _signature(how)

        def call(*arguments: Any, **named: Any) -> Any:
            accept(*arguments, **named)
            if name in FROM_NUMPY and isinstance(arguments[0], np.ndarray):
                return DeviceArray(value(*arguments, **named).copy())
            return _call(value, *arguments, **named)

        return call


@functools.cache
def _signature(text: str) -> Any:
    """A function that takes the arguments in `text` and does nothing."""
    return eval(f"lambda {text[1:-1]}: None")


def _only_of_ufuncs(*_: Any, **named: Any) -> None:
    if named.keys() - OF_UFUNCS:
        raise TypeError(f"a ufunc of {VERSION} takes {', '.join(sorted(OF_UFUNCS))} by name")


def _solve(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """The matrices solved one by one, like cuBLAS' batched solver: NaN where one is singular."""
    if right.ndim != 1 and matrix.shape[:-1] != right.shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K)")
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        if matrix.ndim == 2:
            return np.full(right.shape, np.nan)
        each = [_solve(m, r) for m, r in zip(matrix, right, strict=True)]
        return np.stack(each)


def _call(function: Any, *arguments: Any, **named: Any) -> Any:
    values = {name: _argument(value) for name, value in named.items()}
    return _result(function(*map(_argument, arguments), **values))


def _argument(value: Any) -> Any:
    """An argument for NumPy; TypeError if CuPy would reject it."""
    if isinstance(value, DeviceArray):
        return value._values
    if isinstance(value, (tuple, list)):
        return type(value)(map(_argument, value))
    number = isinstance(value, (*SCALARS, np.ndarray)) and not isinstance(value, np.generic)
    if number and type(value) not in SCALARS:
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def _operand(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        raise TypeError(f"Unsupported type {type(value)}")
    return _argument(value)


def _index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    if isinstance(index, list):
        raise TypeError("an index cannot be a list: make it an array of the device")
    return _argument(index)


def _refuse_twice(index: Any) -> None:
    """ValueError if arrays of indices name one element twice: either value may remain."""
    several = index if isinstance(index, tuple) else (index,)
    arrays = [i for i in several if isinstance(i, np.ndarray) and i.dtype != np.bool_]
    if arrays:
        places = list(zip(*(each.flat for each in np.broadcast_arrays(*arrays)), strict=True))
        if len(set(places)) < len(places):
            raise ValueError("two values for one element: CuPy does not say which one remains")


def _result(value: Any) -> Any:
    """A result of NumPy as CuPy returns it: scalars are arrays of the device too."""
    if isinstance(value, (np.ndarray, np.generic)):
        return DeviceArray(np.asarray(value))
    if isinstance(value, (tuple, list)):
        parts = [_result(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _record() -> str:
    """The names of CuPy: a line "name ufunc", "name (arguments)" or "name value" each."""
    cupy: Any = importlib.import_module("cupy")
    rooms = {"": cupy, "fft.": cupy.fft, "linalg.": cupy.linalg, "ndarray.": cupy.ndarray}
    lines = [f"CuPy {cupy.__version__}"]
    for room, module in rooms.items():
        for name in filter(lambda name: name[0] != "_", dir(module)):
            how = "value" if room == "ndarray." else _how(getattr(module, name), cupy)
            lines += [f"{room}{name} {how}"] if how else []
    return "\n".join(lines) + "\n"


def _how(value: Any, cupy: Any) -> str:
    if isinstance(value, cupy.ufunc):
        return "ufunc"
    if not callable(value) or (isinstance(value, type) and issubclass(value, np.generic)):
        return "" if inspect.ismodule(value) else "value"
    if not inspect.isfunction(value):
        return ""
    signature = inspect.signature(value)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return re.sub(r"<[^>]*>", "None", text)  # defaults that are types


if __name__ == "__main__":
    RECORD.write_text(_record(), encoding="utf-8")
    sys.exit(0)
