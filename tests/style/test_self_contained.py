"""Nothing that builds, tests or measures Maar looks outside the sources by default: test_self_contained.py ROOT

No file of the build, tests, benchmarks, scripts or tools names a folder beside the sources, a user's
home folder, or a temporary file that another run would name too.
"""

import pathlib
import re
import sys

PLACES = ("CMakeLists.txt", "CMakePresets.json", "meson.build", ".ci/**/*", "backends/**/*", "bench/**/*",
          "cmake/**/*", "core/**/*", "data/**/*", "interop/**/*", "layer/**/*", "samples/**/*",
          "scripts/**/*", "support/**/*", "tests/**/*", "tools/**/*", "vma/**/*")
OUTSIDE = (
    (r"\.\./shared\b|\bshared/data\b", "data beside the sources"),
    (r"(?:PROJECT|CMAKE|MAAR)_SOURCE_DIR\}? ?\"? ?\"?/\.\.|\$root/\.\.|\broot\.parent\b|_DATA \"/\.\.",
     "a folder beside the sources"),
    (r"(?<![\w/.}$])/(?:work|home|Users)/[\w.]", "a folder of one machine"),
    (r"\.home\(\)|expanduser|\$\{?HOME\b(?![\"'}]?\S*=)|(?<![\w/.])~/\w", "a home folder"),
    # A name with a part of its own, by mkstemp or the number of the process, is nobody else's.
    (r"/tmp/(?![^\"'\s]*(?:XXXXXX|%))[\w.-]+", "a temporary file of a fixed name"),
)
# (file, part of the line): why it is left alone.
KNOWN = {
    ("tests/docs/test_first_hour.py", "build/library and an installation in $HOME"):
        "says what the page does; the test gives it a folder of its own",
}


def complaints(name, text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in OUTSIDE:
            match = re.search(pattern, line)
            if match and not any(name == file and part in line for file, part in KNOWN):
                found.append(f"{name}:{number}: {what}: {match[0]}")
    return found


def files_of(root):
    for place in PLACES:
        for path in sorted(root.glob(place)):
            name = path.relative_to(root).as_posix()
            if path.is_file() and "/corpus/" not in name and path.name != pathlib.Path(__file__).name:
                try:
                    yield name, path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    pass


def main():
    root = pathlib.Path(sys.argv[1])
    found = []
    count = 0
    for name, text in files_of(root):
        count += 1
        found += complaints(name, text)
    planted = ('set(data ${PROJECT_SOURCE_DIR}/../shared)', 'root.parent / "data"',
               'path = "/tmp/maar.csv"', 'pathlib.Path.home()', 'open("/home/user/x")',
               'MAAR_BENCH_DATA "/../data"', 'cp "$root/../data"', "cat ../shared/data/x")
    found += [f"not noticed: {line}" for line in planted if not complaints("planted", line)]
    for line in ('snprintf(path, 9, "/tmp/maar-%d", 1)', '"/tmp/maar_XXXXXX"', "$folder/root/maar"):
        found += complaints("allowed", line)
    print("\n".join(found))
    print(f"{count} files")
    return 1 if found or count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
