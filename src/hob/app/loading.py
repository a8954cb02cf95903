"""Loading a large part of the program."""

import gc
from importlib import import_module
from types import ModuleType


def load(name: str) -> ModuleType:
    """The module, loaded without looking for garbage meanwhile.

    What loading makes stays for good: to look through it again and again is a tenth of the time that it takes. Nor is
    it looked through afterwards (https://docs.python.org/3/library/gc.html#gc.freeze).
    """
    if not gc.isenabled():
        return import_module(name)
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()
