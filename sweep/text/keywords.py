"""Keywords that come from a table, written out in the signature of the function that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

Function = TypeVar("Function", bound=Callable[..., Any])


def spelled_out(keywords: type) -> Callable[[Function], Function]:
    """A decorator of a function with `**others: Unpack[keywords]`, a TypedDict.

    `inspect.signature`, the help and completion in a notebook then have each keyword, with the
    default None. Type checkers know them from the TypedDict.
    """
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in get_type_hints(keywords).items()
    ]

    def declared(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        vars(function)["__signature__"] = signature.replace(parameters=[*own, *added])
        return function

    return declared
