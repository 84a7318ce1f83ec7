"""Calls into libmaar and Vulkan: results become exceptions, messages warnings.

A call may run callbacks, and the garbage collector may run in those, or wherever Python allocates.
A finalizer that finds its thread inside a call, or inside `guarded`, leaves its work to the end of
that: Maar must not be called from its own callbacks, nor a lock be taken twice.
"""

import contextlib
import ctypes
import logging
import os
import threading
import warnings
from pathlib import Path

from . import _abi
from ._abi import C
from ._errors import LibraryError, MaarWarning, error_for

log = logging.getLogger("maar")


class _Thread(threading.local):
    def __init__(self):
        self.depth = 0
        self.messages = []
        self.later = []


_thread = _Thread()


def _leave():
    _thread.depth -= 1
    while _thread.depth == 0 and _thread.later:
        function, arguments = _thread.later.pop()
        function(*arguments)


@contextlib.contextmanager
def guarded():
    """Finalizers of this thread wait until the end."""
    _thread.depth += 1
    try:
        yield
    finally:
        _leave()


def run_or_defer(function, *arguments):
    """Run it now, or at the end of the call that this thread is in."""
    if _thread.depth:
        _thread.later.append((function, arguments))
    else:
        function(*arguments)


def _on_message(_user_data, message):
    severity = message.contents.severity
    sentence = message.contents.pText.decode("utf-8", "replace")
    if _thread.depth:
        _thread.messages.append((severity, sentence))
    else:  # a thread of somebody else's
        log.warning("%s", sentence)


# Never freed: drivers may speak until the process is gone.
MESSAGE_CALLBACK = _abi.MESSAGE_CALLBACK(_on_message)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(MESSAGE_CALLBACK))


def _deliver(failed):
    """Warns of what was said; returns what explains a failure."""
    messages, _thread.messages = _thread.messages, []
    errors = []
    for severity, sentence in messages:
        if severity == C.MAAR_MESSAGE_SEVERITY_INFO:
            log.info("%s", sentence)
        elif failed:
            errors.append(sentence)
        else:
            warnings.warn(sentence, MaarWarning, stacklevel=4)
    return errors


def checked(function, name):
    """A function that raises for a VkResult below zero, and returns any other."""
    is_result = _abi.PROTOTYPES[name][0] is ctypes.c_int

    def call(*arguments):
        _thread.depth += 1
        try:
            result = function(*arguments)
            failed = is_result and result < 0
            errors = _deliver(failed) if _thread.messages else ()
        finally:
            _leave()
        if failed:
            raise error_for(result, name, errors)
        return result

    call.__name__ = name
    return call


class Functions:
    """Functions by their C names, looked up when first used."""

    def __init__(self, lookup):
        self._lookup = lookup

    def __getattr__(self, name):
        result, parameters = _abi.PROTOTYPES[name]
        function = self._lookup(name, result, parameters)
        made = checked(function, name)
        setattr(self, name, made)
        return made


# What a distribution's package of the library installs. While the major version is 0, each minor version
# has interfaces of its own.
SYSTEM_LIBRARY = f"libmaar.so.{C.MAAR_VERSION_MAJOR or f'0.{C.MAAR_VERSION_MINOR}'}"


def _default_library():
    named = os.environ.get("MAAR_LIBRARY")
    if named:
        return named
    here = Path(__file__).parent
    own = [str(path) for pattern in ("libmaar.so*", "maar.dll", "libmaar.dll", "libmaar*.dylib")
           for path in sorted(here.glob(pattern))]
    return own[0] if own else SYSTEM_LIBRARY


_loaded = {}


def load_maar(path=None):
    """The functions of libmaar: of the file named, of $MAAR_LIBRARY, of the package's own or the system's."""
    path = os.fspath(path) if path else _default_library()
    if path in _loaded:
        return _loaded[path]
    try:
        library = _abi.load(path)
    except OSError as error:
        if path == SYSTEM_LIBRARY:
            raise LibraryError(
                "libmaar is neither part of this copy of the package nor installed in this system: "
                "install the package with pip, or set MAAR_LIBRARY to a libmaar.so that was built "
                "with BUILD_SHARED_LIBS=ON") from error
        raise LibraryError(f"{path} cannot be loaded as libmaar: {error}") from error

    def lookup(name, result, parameters):
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryError(f"{path} has no {name}: it is another version of libmaar, or none") \
                from None
        function.restype, function.argtypes = result, parameters
        return function

    functions = Functions(lookup)
    version = functions.maarGetVersion()
    if (version >> 22, version >> 12 & 0x3FF) != (C.MAAR_VERSION_MAJOR, C.MAAR_VERSION_MINOR):
        raise LibraryError(
            f"{path} is libmaar {version >> 22}.{version >> 12 & 0x3FF}, and this package is made "
            f"for {C.MAAR_VERSION_MAJOR}.{C.MAAR_VERSION_MINOR}")
    _loaded[path] = functions
    return functions
