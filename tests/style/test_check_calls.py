"""tools/check_calls.py finds each circle and each hidden call: test_check_calls.py TOOLS"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import call_graph  # noqa: E402
import check_calls  # noqa: E402


def listed(pointer, callers, implementers, more='why = "a reason"'):
    def quoted(files):
        return "[" + ", ".join(f'"{file}"' for file in files) + "]"
    return (f'[[upcall]]\npointer = "{pointer}"\ncallers = {quoted(callers)}\n'
            f"implementers = {quoted(implementers)}\n{more}\n")


# A visitor: low/walk.c calls through it, and the other files pass functions of theirs.
WALK = {
    "core/low/walk.h": "typedef void (*maar_visit)(void* context, int count);\n"
                       "void maar_walk(maar_visit visit, void* context);\n",
    "core/low/walk.c": "void maar_walk(maar_visit visit, void* context)\n{\n"
                       "    visit(context, 1);\n}\n",
}


def visitor(function="see"):
    return (f"static void {function}(void* context, int count)\n{{\n}}\n"
            f"void maar_{function}_all(void)\n{{\n    maar_walk({function}, 0);\n}}\n")


class Calls(unittest.TestCase):
    def check(self, files, calls=(), upcalls="", arguments=(), unbuilt=()):
        """Findings in a tree: calls are triples of caller, callee and symbol."""
        symbols = {path: (set(), set()) for path in files
                   if path.endswith(".c") and path not in unbuilt}
        for caller, callee, symbol in calls:
            symbols.setdefault(caller, (set(), set()))[1].add(symbol)
            symbols.setdefault(callee, (set(), set()))[0].add(symbol)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {**files, check_calls.LIST: upcalls}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            options = check_calls.parse_options([str(root), str(root), *arguments])
            with contextlib.redirect_stdout(io.StringIO()):
                return check_calls.find_breaches(options, symbols)[0]

    def assert_found(self, words, findings):
        self.assertTrue(any(words in finding for finding in findings), findings)

    def test_two_files_of_a_room_may_call_each_other(self):
        calls = [("core/a/x.c", "core/a/y.c", "y"), ("core/a/y.c", "core/a/x.c", "x")]
        self.assertEqual(self.check({}, calls), [])

    def test_three_files_may_not(self):
        calls = [("core/a/x.c", "core/a/y.c", "y"), ("core/a/y.c", "core/a/z.c", "z"),
                 ("core/a/z.c", "core/a/x.c", "x")]
        self.assert_found("a circle of 3 files", self.check({}, calls))
        self.assertEqual(self.check({}, calls, arguments=["--most-files", "3"]), [])

    def test_two_files_of_two_rooms_may_not(self):
        calls = [("core/a/x.c", "core/b/y.c", "y"), ("core/b/y.c", "core/a/x.c", "x")]
        self.assert_found("a circle of files through core/a, core/b", self.check({}, calls))
        self.assert_found("a circle of 2 rooms", self.check({}, calls))

    def test_rooms_make_a_circle_through_different_files(self):
        calls = [("core/a/x.c", "core/b/y.c", "y"), ("core/b/z.c", "core/a/w.c", "w")]
        self.assertEqual(len(self.check({}, calls)), 1)
        self.assert_found("a circle of 2 rooms", self.check({}, calls))

    def test_exact_search_is_a_room(self):
        calls = [("core/plan/x.c", "core/plan/exact/y.c", "y"),
                 ("core/plan/exact/y.c", "core/plan/x.c", "x")]
        self.assert_found("a circle of 2 rooms", self.check({}, calls))

    def inline(self, head):
        """y.c calls x.c by an inline body alone, and x.c calls y.c."""
        files = {"core/a/x.h": head, "core/a/x.c": "", "core/b/y.c": "void y(void)\n{\n    fast(1);\n}\n"}
        return self.check(files, [("core/a/x.c", "core/b/y.c", "y")])

    def test_inline_body_belongs_to_its_header(self):
        self.assert_found("a circle of files", self.inline(
            "static inline int fast(int a)\n{\n    return a;\n}\n"))
        self.assert_found("a circle of files", self.inline(
            "MAAR_INLINE int fast(int a)\n{\n    return a;\n}\n"))

    def test_inline_body_leads_on(self):
        files = {"core/a/table.h": "static inline void fast(void)\n{\n    slow();\n}\n",
                 "core/a/x.c": "void x(void)\n{\n    fast();\n}\n", "core/a/y.c": ""}
        calls = [("core/a/other.c", "core/a/y.c", "slow"), ("core/a/y.c", "core/a/x.c", "x")]
        self.assert_found("a circle of 3 files", self.check(files, calls))

    def test_macro_that_calls_belongs_to_its_header(self):
        files = {"core/a/table.h": "#define FAST(a) \\\n    slow(a)\n#define TWICE(a) FAST(2 * (a))\n",
                 "core/a/x.c": "void x(void)\n{\n    TWICE(1);\n}\n", "core/a/y.c": ""}
        calls = [("core/a/other.c", "core/a/y.c", "slow"), ("core/a/y.c", "core/a/x.c", "x")]
        self.assert_found("a circle of 3 files", self.check(files, calls))

    def test_names_in_comments_and_strings_are_no_calls(self):
        head = "static inline int fast(int a)\n{\n    return a;\n}\n"
        files = {"core/a/x.h": head, "core/a/x.c": "",
                 "core/b/y.c": '/* fast(1) */\nconst char* y = "fast(1)";\n'}
        self.assertEqual(self.check(files, [("core/a/x.c", "core/b/y.c", "y")]), [])

    def test_pointer_must_be_listed(self):
        files = {**WALK, "core/high/see.c": visitor()}
        calls = [("core/high/see.c", "core/low/walk.c", "maar_walk")]
        self.assert_found("maar_visit is not in", self.check(files, calls))
        good = listed("maar_visit", ["core/low/walk.c"], ["core/high/see.c"])
        self.assertEqual(self.check(files, calls, good), [])

    def test_list_is_held_against_the_text(self):
        files = {**WALK, "core/high/see.c": visitor(), "core/high/idle.c": ""}
        calls = [("core/high/see.c", "core/low/walk.c", "maar_walk")]
        low, high = ["core/low/walk.c"], ["core/high/see.c"]
        for words, upcalls in (
                ("see.c is missing from its implementers", listed("maar_visit", low, [])),
                ("walk.c is missing from its callers", listed("maar_visit", [], high)),
                ("idle.c is not among its implementers",
                 listed("maar_visit", low, high + ["core/high/idle.c"])),
                ("idle.c is not among its callers",
                 listed("maar_visit", low + ["core/high/idle.c"], high)),
                ("no reason", listed("maar_visit", low, high, "")),
                ("no header of core declares", listed("maar_visit", low, high) +
                 listed("maar_gone", low, high))):
            found = self.check(files, calls, upcalls)
            self.assertEqual(len(found), 2, found)  # and how to mend it
            self.assert_found(words, found)

    def test_foreign_pointers_do_not_count(self):
        files = {"core/a/x.h": "typedef void (*maar_symbol)(void);\n", "core/a/x.c": ""}
        calls = [("core/a/x.c", "core/b/y.c", "y")]
        good = listed("maar_symbol", [], [], 'foreign = "the system"')
        self.assertEqual(self.check(files, calls, good, ["--most-upcalls", "0"]), [])
        self.assert_found("1 pointers; at most 0",
                          self.check(files, calls, listed("maar_symbol", [], []),
                                     ["--most-upcalls", "0"]))

    def test_pointers_of_others_need_no_list(self):
        files = {"core/device.h": "typedef void (*maar_door)(int a);\n",
                 "core/a/x.h": "typedef void(VKAPI_PTR* PFN_maarThing)(int a);\n", "core/a/x.c": ""}
        self.assertEqual(self.check(files, [("core/a/x.c", "core/b/y.c", "y")]), [])

    def test_pointers_of_every_shape_are_found(self):
        for name, head, call in (
                ("maar_ops.run", "struct maar_ops {\n    void (*run[2])(int a, bool b);\n};\n",
                 "void maar_do(struct maar_ops* ops)\n{\n    ops->run[1](1, true);\n}\n"),
                ("maar_do.run", "void maar_do(int n, void (*run)(int a, bool b));\n",
                 "void maar_do(int n, void (*run)(int a, bool b))\n{\n    run(1, true);\n}\n"),
                ("maar_run", "typedef void maar_run(int a, bool b);\nvoid maar_do(maar_run* run);\n",
                 "void maar_do(maar_run* run)\n{\n    run(1, true);\n}\n")):
            files = {"core/low/a.h": head, "core/low/a.c": call,
                     "core/high/b.c": "static void run_b(int a, bool b)\n{\n}\n"
                                      "void maar_b(void)\n{\n    maar_do(run_b);\n}\n"}
            calls = [("core/high/b.c", "core/low/a.c", "maar_do")]
            self.assert_found(f"{name} is not in", self.check(files, calls))
            good = listed(name, ["core/low/a.c"], ["core/high/b.c"])
            self.assertEqual(self.check(files, calls, good), [], name)

    def test_upcall_inside_a_room_is_an_edge(self):
        files = {path.replace("low", "a"): text for path, text in WALK.items()}
        files |= {"core/a/see.c": visitor(), "core/a/more.c": visitor("look")}
        calls = [("core/a/see.c", "core/a/walk.c", "maar_walk"),
                 ("core/a/more.c", "core/a/walk.c", "maar_walk")]
        good = listed("maar_visit", ["core/a/walk.c"], ["core/a/more.c", "core/a/see.c"])
        self.assert_found("a circle of 3 files", self.check(files, calls, good))

    def test_upcalls_lead_in_one_direction(self):
        member = "struct maar_hook {\n    void (*ring)(int a, int b, int c);\n};\n"
        files = {**WALK, "core/high/see.c": visitor(),
                 "core/high/hook.h": member,
                 "core/high/hook.c": "void maar_ring(struct maar_hook* h)\n{\n"
                                     "    h->ring(1, 2, 3);\n}\n",
                 "core/low/bell.c": "static void bell(int a, int b, int c)\n{\n}\n"
                                    "const struct maar_hook hook = {.ring = bell};\n"}
        calls = [("core/high/see.c", "core/low/walk.c", "maar_walk")]
        good = listed("maar_visit", ["core/low/walk.c"], ["core/high/see.c"]) + \
            listed("maar_hook.ring", ["core/high/hook.c"], ["core/low/bell.c"])
        found = self.check(files, calls, good)
        self.assertEqual(len(found), 1, found)
        self.assert_found("pointers in both directions between core/high, core/low", found)
        good = listed("maar_hook.ring", ["core/high/hook.c"], ["core/low/bell.c"])
        rest = {path: text for path, text in files.items() if path not in WALK and "see" not in path}
        self.assertEqual(self.check(rest, [("core/high/hook.c", "core/low/walk.c", "w")], good), [])

    def test_list_says_which_of_two_members_of_one_name_is_called(self):
        files = {"core/a/x.h": "struct maar_one {\n    void (*end)(int a);\n};\n"
                               "struct maar_two {\n    void (*end)(int a, int b);\n};\n",
                 "core/a/x.c": "void x(struct maar_one* one)\n{\n    one->end(1);\n}\n",
                 "core/a/y.c": "void y(struct maar_two* two)\n{\n    two->end(1, 2);\n}\n"
                               "static void first(int a)\n{\n}\n"
                               "const struct maar_one one = {.end = first};\n"}
        calls = [("core/a/x.c", "core/a/y.c", "y")]
        good = listed("maar_one.end", ["core/a/x.c"], ["core/a/y.c"]) + \
            listed("maar_two.end", ["core/a/y.c"], [])
        self.assertEqual(self.check(files, calls, good), [])

    def test_headers_are_small_and_name_two_files(self):
        prototypes = "void x(void);\nint y(int a,\n      int b);\nstatic inline int w(void)\n{\n" \
                     "    return y(1, 2);\n}\n"
        calls = [("core/a/x.c", "core/a/y.c", "y"), ("core/a/w.c", "core/a/x.c", "x"),
                 ("core/a/w.c", "core/a/z.c", "z")]
        self.assertEqual(self.check({"core/a/h.h": prototypes}, calls), [])
        self.assert_found("prototypes 3 files",
                          self.check({"core/a/h.h": prototypes + "void z(void);\n"}, calls))
        self.assertEqual(self.check({"core/a/h.h": "\n" * 250}, calls), [])
        self.assert_found("251 lines; at most 250", self.check({"core/a/h.h": "\n" * 251}, calls))

    def test_each_source_is_built(self):
        calls = [("core/a/x.c", "core/a/y.c", "y")]
        self.assert_found("core/a/z.c: no object",
                          self.check({"core/a/z.c": ""}, calls, unbuilt=["core/a/z.c"]))

    def test_components(self):
        edges = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["e"], "e": ["d"], "f": ["a", "d"]}
        self.assertEqual(call_graph.components(edges), [["a", "b", "c"], ["d", "e"]])

    def test_types_of_parameters(self):
        for text, types in (
                ("void", ("void",)), ("void* context, const struct x* y", ("void *", "struct x *")),
                ("const void*, uint32_t", ("void *", "uint32_t")), ("struct x* const y", ("struct x *",)),
                ("int (*f)(int, int), bool b", ("int * f int", "bool"))):
            self.assertEqual(len(call_graph.parameter_types(text)), len(types))
            if "(" not in text:
                self.assertEqual(call_graph.parameter_types(text), types)


if __name__ == "__main__":
    unittest.main(verbosity=2)
