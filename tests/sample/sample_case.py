"""What the tests of samples have in common: running the program, skipping, one class for each rig.

test_SAMPLE.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]
"""

import argparse
import os
import subprocess
import sys
import unittest

OPTIONS = None


def environment():
    values = dict(os.environ)
    values.update(item.split("=", 1) for item in OPTIONS.env)
    return values


def run(*arguments):
    return subprocess.run([OPTIONS.program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=600 if OPTIONS.slow else 170, env=environment(), check=False,
                          stdin=subprocess.DEVNULL)


def on_swiftshader():
    return OPTIONS.rig == "swiftshader"


def start(*arguments):
    """The program, running; to be used as a context."""
    return subprocess.Popen([OPTIONS.program, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment(),
                            stdin=subprocess.DEVNULL)


class SampleCase(unittest.TestCase):
    def skip(self, reason):
        """Skip in the words that scripts/skipped.py reads, which are one line."""
        reason = "; ".join(reason.strip().splitlines()) or "the program does not say why"
        name = self.id().rsplit(".", 1)[-1]
        print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
        self.skipTest(reason)

    def finished(self, code, *arguments):
        """A run that must end with this exit code, unless the machine cannot do it."""
        done = run(*arguments)
        if done.returncode == 77:
            self.skip(done.stderr.strip())
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def refused(self, pattern, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")

    def check_help(self, *options):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for option in options:
            self.assertIn(option, done.stdout)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([OPTIONS.program, "--help"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, env=environment(), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output cannot be written", done.stderr)


def kind_of(rig):
    """none and simulated as they are; of drivers, whether their commands execute."""
    family = rig.split(":")[0]
    if family in ("none", "simulated"):
        return family
    return "executing" if family in ("lavapipe", "swiftshader", "gpu") else "noop"


def main(cases):
    """cases: by kind_of(rig)."""
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--rig", default="none")
    parser.add_argument("--missing", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    OPTIONS = parser.parse_args()
    if OPTIONS.missing:
        print(f"skipped: {OPTIONS.missing}")
        return 77
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cases[kind_of(OPTIONS.rig)])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    if len(result.skipped) == result.testsRun:
        return 77
    return 0 if result.wasSuccessful() else 1
