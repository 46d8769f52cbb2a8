"""Arrays of the stand-in device: NumPy's, kept apart from those of the host.

As on a GPU, get() is the only way to an array of NumPy, which cannot be an operand or an index;
scalars must be exactly of a type of Python or NumPy (no IntEnum); and results are arrays even where
NumPy returns a scalar. Rejected although a GPU accepts them: float() and int() of an array, which
make it wait, and two values for one element, of which either may remain.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCALARS = (bool, int, float, complex)
FROM_NUMPY = ("array", "asarray")
OPERATORS = """lt le eq ne gt ge neg pos abs invert add sub mul matmul truediv floordiv mod divmod
    pow and or xor lshift rshift radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rand
    ror rxor rlshift rrshift"""
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"


class DeviceArray:
    """A NumPy array that behaves as one of a device."""

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
        return _result(self._values[_argument(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        place = _argument(index)
        _refuse_twice(place)
        self._values[place] = _argument(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # by which NumPy would find its way into the array
            raise AttributeError(name)
        value = getattr(self._values, name)
        return functools.partial(_call, value) if callable(value) else _result(value)


def _operator(name: str) -> Any:
    def operate(self: DeviceArray, *others: Any) -> Any:
        return _result(getattr(self._values, name)(*map(_argument, others)))

    return operate


def _in_place(name: str) -> Any:
    def operate(self: DeviceArray, other: Any) -> DeviceArray:
        getattr(self._values, name)(_argument(other))
        return self

    return operate


for _name in OPERATORS.split():
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in IN_PLACE.split():
    setattr(DeviceArray, f"__{_name}__", _in_place(f"__{_name}__"))


class Library:
    """The functions of NumPy, of arrays of the device."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        if not callable(value) or isinstance(value, type):
            return value

        def call(*arguments: Any, **named: Any) -> Any:
            if name in FROM_NUMPY and isinstance(arguments[0], np.ndarray):
                return DeviceArray(value(*arguments, **named).copy())
            return _call(value, *arguments, **named)

        return call


def _call(function: Any, *arguments: Any, **named: Any) -> Any:
    values = {name: _argument(value) for name, value in named.items()}
    return _result(function(*map(_argument, arguments), **values))


def _argument(value: Any) -> Any:
    """An argument for NumPy; TypeError if a device would reject it."""
    if isinstance(value, DeviceArray):
        return value._values
    if isinstance(value, (tuple, list)):
        return type(value)(map(_argument, value))
    number = isinstance(value, (*SCALARS, np.ndarray)) and not isinstance(value, np.generic)
    if number and type(value) not in SCALARS:
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def _refuse_twice(index: Any) -> None:
    """ValueError if arrays of indices name one element twice: either value may remain."""
    several = index if isinstance(index, tuple) else (index,)
    arrays = [i for i in several if isinstance(i, np.ndarray) and i.dtype != np.bool_]
    if arrays:
        places = list(zip(*(each.flat for each in np.broadcast_arrays(*arrays)), strict=True))
        if len(set(places)) < len(places):
            raise ValueError("two values for one element: a device may keep either")


def _result(value: Any) -> Any:
    """A result of NumPy as a device returns it: scalars are arrays too."""
    if isinstance(value, (np.ndarray, np.generic)):
        return DeviceArray(np.asarray(value))
    if isinstance(value, (tuple, list)):
        parts = [_result(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
