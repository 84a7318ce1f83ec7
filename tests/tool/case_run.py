"""Runs the cases of a module, and prints what is skipped as scripts/skipped.py reads it."""

import unittest


def run(module, names):
    """Runs all cases, or those with the names. Returns the exit code: 77 if all were skipped."""
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for case, reason in result.skipped:
        print(f"skipped: {reason}\n[  SKIPPED ] {case.id().rpartition('.')[2]}")
    if not result.wasSuccessful():
        return 1
    return 77 if result.skipped and len(result.skipped) == result.testsRun else 0
