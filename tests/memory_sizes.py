"""How much memory Python objects take, with all that they refer to."""

import gc
import sys
import types

# What all objects share.
_SHARED = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def deep_size(thing: object, counted: set[int]) -> int:
    """Bytes of the object and of what it refers to, without what was counted before."""
    size, left = 0, [thing]
    while left:
        one = left.pop()
        if id(one) in counted or isinstance(one, _SHARED):
            continue
        counted.add(id(one))
        size += sys.getsizeof(one)
        left.extend(gc.get_referents(one))
    return size
