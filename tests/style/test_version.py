"""One version everywhere: test_version.py ROOT PROJECT_VERSION SOVERSION [FILE.pc...]

include/maar/base.h is its home. CMake's, Meson's, pkg-config's, the amalgamation's, the changelog's last
release and the one that docs name for users must be the same; nothing may be newer than it.
maarGetVersion() is compared by the consumers of tests/package. The shared libraries of two versions have one
name only if programs of the one run with the other: while the major version is 0, within a minor version.
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
sys.path.insert(0, str(root / "tools"))
import amalgamate  # noqa: E402


def read(path):
    return (root / path).read_text(encoding="utf-8")


def number(version):
    return tuple(int(part) for part in version.split("."))


version = ".".join(re.findall(r"^#define MAAR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
                              read("include/maar/base.h"), re.MULTILINE))
assert re.fullmatch(r"\d+\.\d+\.\d+", version), version
found = {"CMake": sys.argv[2], "the amalgamation": amalgamate.version_of(root),
         "meson.build": re.search(r"^    version: '(.*)',$", read("meson.build"), re.MULTILINE)[1]}
for path in sys.argv[4:]:
    found[path] = re.search(r"^Version: (.*)$", Path(path).read_text(), re.MULTILINE)[1]
for name, text in amalgamate.amalgamate(root).items():
    found[name] = re.match(r"/\*\n \* Maar (\S+): ", text)[1]

headings = re.findall(r"^## (.*)$", read("CHANGELOG.md"), re.MULTILINE)
assert headings[0] == "Unreleased", headings
for heading in headings[1:]:
    assert re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}", heading), heading
releases = [heading.split(" - ")[0] for heading in headings[1:]]
assert releases == sorted(releases, key=number, reverse=True), releases
# Between releases the header is the coming version, or still the last one.
assert releases and number(releases[0]) <= number(version), (releases, version)
for name, other in found.items():
    assert other == version, f"{name}: {other}, but include/maar/base.h: {version}"

for path in root.glob("include/maar/*.h"):
    for since in re.findall(r"@since (\S+)", path.read_text(encoding="utf-8")):
        assert number(since) <= number(version), f"{path.name}: @since {since} in {version}"
minor = ".".join(version.split(".")[:2])
assert sys.argv[3] == (minor if version.startswith("0.") else version.split(".", maxsplit=1)[0]), sys.argv[3]
asked = re.findall(r"find_package\(maar (\S+)", read("docs/building.md"))
assert asked and set(asked) == {minor}, asked
print(f"{version}, in {len(found)} places; {len(releases)} releases")
