"""Reads callgrind's profiles: the instructions of Maar in a timed run, without those of the driver.

The driver is the simulated one, and the stand-ins for CUDA and HIP. What it does is subtracted where
Maar, or a case, calls it: with everything below that call.
"""

import re

NAME = re.compile(r"\((\d+)\)(?: (.*))?")
DRIVER_FILES = "backends/simulated/"
DRIVER_OBJECTS = "libmaar_FAKE_"


class Names:
    """Names that callgrind writes out once and then abbreviates by a number."""

    def __init__(self):
        self.known = {}

    def read(self, text):
        number, name = NAME.fullmatch(text).groups()
        if name is not None:
            self.known[number] = name
        return self.known[number]


class Position:
    """The object and the file of a function."""

    def __init__(self):
        self.object = ""
        self.file = ""

    def is_driver(self):
        return DRIVER_FILES in self.file or DRIVER_OBJECTS in self.object


def read_profiles(paths):
    """Yields (all instructions, those of the driver) of each profile of one run of callgrind."""
    objects, files, functions = Names(), Names(), Names()
    for path in paths:
        yield read_profile(path, objects, files, functions)


def read_profile(path, objects, files, functions):
    whole = driver = 0
    caller, callee = Position(), Position()
    inside = False  # in a function of the driver
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                caller.object = objects.read(value)
                callee.object = caller.object
            elif key == "fl":
                caller.file = files.read(value)
                callee.file = caller.file
            elif key in ("fi", "fe"):
                files.read(value)
            elif key == "fn":
                functions.read(value)
                inside = caller.is_driver()
            elif key == "cob":
                callee.object = objects.read(value)
            elif key in ("cfi", "cfl"):
                callee.file = files.read(value)
            elif key == "cfn":
                functions.read(value)
            elif key == "calls":
                cost = int(next(lines).split()[1])
                driver += cost if callee.is_driver() and not inside else 0
                callee.object, callee.file = caller.object, caller.file
            elif line.startswith("summary:"):
                whole = int(line.split()[1])
    return whole, driver
