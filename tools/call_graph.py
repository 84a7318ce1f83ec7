"""Which file of core calls which: read from object files' symbols, headers and function pointers.

A node of the graph is a file without its suffix: core/time/retire stands for retire.c and for
retire.h beside it. A header without an implementation is a node of its own. There are three kinds of
edges:

- Symbols. What A's object file leaves undefined and B's defines, a function or data, leads from A to B.
- Inline bodies. A function with a body in a header, or a macro of a header that names a function,
  belongs to its header: whoever names it leads there, and what it names leads on from there.
- Function pointers (see find_pointers).
"""

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import measure_code

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'", re.DOTALL)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?((?:[^\\\n]|\\.)*)",
                   re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\.)*", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")
# A pointer to a function: (*name)(, (VKAPI_PTR* name)(, or an array of them, (*name[2])(.
POINTER = re.compile(r"\(\s*(?:VKAPI_PTR\s*)?\*\s*(?:const\s+)?(\w+)\s*(?:\[[^\]]*\]\s*)*\)\s*\(")
# A type of functions, which pointers may have: typedef void name(int a);
FUNCTION_TYPE = re.compile(r"\btypedef\s+[^;(){}]*?\b(\w+)\s*\((?!\s*[\w\s]*\*\s*\w+\s*\)\s*\()")
NOT_OURS = re.compile(r"PFN_\w+")
# The door to Vulkan: its table is the driver's.
DOOR = ("core/device.h", "core/device_win32.h")


def node_of(path):
    return re.sub(r"\.[ch]$", "", path)


def room_of(node):
    """The folder below core; the folders of plan are rooms of their own, and so is core itself."""
    parts = node.split("/")
    if parts[1] == "plan" and len(parts) > 3:
        return "/".join(parts[:3])
    return "/".join(parts[:2]) if len(parts) > 2 else "core"


def without_noise(text):
    """The text with comments and strings blanked, its lines kept."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


@dataclass
class Source:
    """One file: its text without comments and strings, and the functions that it defines."""
    path: str
    text: str
    functions: dict = field(default_factory=dict)  # name: body
    macros: dict = field(default_factory=dict)     # name: body
    heads: dict = field(default_factory=dict)      # name: the text before the body

    names: set = field(default_factory=set)        # every identifier


def read_source(path, text):
    text = without_noise(text)
    source = Source(path, text)
    for match in MACRO.finditer(text):
        source.macros[match[1]] = match[3]
    code = DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    lines = code.split("\n")
    reader = measure_code.CReader(path, code)
    for function in reader.read():
        source.functions[function.name] = function.body
        head = "\n".join(lines[function.line - 1:function.line + function.length - 1])
        source.heads[function.name] = head.split("{")[0]
    source.text = code
    source.names = set(NAME.findall(code))
    return source


def prototypes(source):
    """The functions that a header declares; some other names of a declaration may be among them."""
    text, bodies = None, source.text
    while text != bodies:
        text, bodies = bodies, re.sub(r"\{[^{}]*\}", ";", bodies)
    return set(re.findall(r"\b(\w+)\s*\((?=[^;]*\)[^;{]*;)", bodies)) - set(source.functions)


def read_sources(root, rooms=("core",)):
    sources = {}
    for room in rooms:
        for path in sorted((root / room).rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            sources[name] = read_source(name, path.read_text(encoding="utf-8"))
    return sources


def read_objects(root, build, nm="nm"):
    """{source: (defined symbols, undefined symbols)} of the library's objects in a build folder."""
    folder = Path(build) / "CMakeFiles" / "maar.dir"
    objects = {}
    for path in sorted(folder.rglob("*.o")):
        source = path.relative_to(folder).as_posix()[:-2]
        # Objects of files that have moved stay in the folder.
        if (root / source).is_file():
            objects[source] = path
    if not objects:
        return {}
    printed = subprocess.run([nm, "-A", "-P"] + [str(path) for path in objects.values()],
                             capture_output=True, text=True, check=True).stdout
    names = {str(path): source for source, path in objects.items()}
    symbols = {source: (set(), set()) for source in objects}
    for line in printed.splitlines():
        file, _, rest = line.partition(": ")
        symbol, kind = rest.split()[:2]
        if kind in "Uvw":
            symbols[names[file]][1].add(symbol)
        elif kind.isupper():
            symbols[names[file]][0].add(symbol)
    return symbols


@dataclass
class Pointer:
    """A type of function pointers, or a member that is one."""
    name: str
    header: str
    member: bool
    parameters: tuple
    implementers: dict = field(default_factory=lambda: defaultdict(set))  # file: functions
    callers: set = field(default_factory=set)


class Graph:
    """The calls inside core: edges[A][B] holds the names by which A reaches B."""

    def __init__(self, sources, symbols):
        self.sources = sources
        self.symbols = symbols
        self.edges = defaultdict(lambda: defaultdict(set))
        self.home = {}  # the file that defines a symbol
        for file, (defined, _) in symbols.items():
            self.home.update(dict.fromkeys(defined, file))
        self.inline = {}  # a function or macro of a header: the header and the body
        self.add_symbols()
        self.add_inline_bodies()

    @property
    def core(self):
        return {path: source for path, source in self.sources.items() if path.startswith("core/")}

    def rooms(self):
        """{room: {other room: names}} of the calls between rooms."""
        rooms = defaultdict(lambda: defaultdict(set))
        for start, ends in self.edges.items():
            for end, names in ends.items():
                if room_of(start) != room_of(end):
                    rooms[room_of(start)][room_of(end)] |= names
        return rooms

    def add(self, caller, callee, name):
        start, end = node_of(caller), node_of(callee)
        if start != end and start.startswith("core/") and end.startswith("core/"):
            self.edges[start][end].add(name)

    def add_symbols(self):
        for file, (_, undefined) in self.symbols.items():
            for symbol in undefined:
                if symbol in self.home:
                    self.add(file, self.home[symbol], symbol)

    def add_inline_bodies(self):
        headers = {path: source for path, source in self.core.items() if path.endswith(".h")}
        macros = {}
        for path, source in headers.items():
            self.inline.update((name, (path, body)) for name, body in source.functions.items())
            macros.update((name, (path, body)) for name, body in source.macros.items())
        # A macro counts when it names a function, or a macro that counts.
        known = set(self.home) | set(self.inline)
        while True:
            more = {name: value for name, value in macros.items()
                    if name not in known and known & set(NAME.findall(value[1]))}
            if not more:
                break
            self.inline.update(more)
            known |= set(more)
        for name, (path, body) in self.inline.items():
            self.add_names(path, set(NAME.findall(body)) - {name})
        for path, source in self.core.items():
            if path.endswith(".c"):
                self.add_names(path, source.names - set(source.functions), self.inline)

    def add_names(self, path, names, homes=None):
        """Edges from a file to whatever defines these names; homes None: symbols and inline bodies."""
        for name in names:
            if name in self.inline:
                self.add(path, self.inline[name][0], name)
            elif homes is None and name in self.home:
                self.add(path, self.home[name], name)


def closing(text, place):
    """The place behind the parenthesis that closes the one before this place."""
    depth = 1
    while depth and place < len(text):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
    return place


def parameter_types(text):
    """The types of a list of parameters, without the names of the parameters."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text + ","):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    types = []
    for part in parts:
        words = re.findall(r"\w+|\*", part)
        words = [word for word in words if word != "const"]
        if len(words) > 1 and words[-1] != "*" and words[-2] not in ("struct", "enum", "unsigned"):
            words.pop()
        types.append(" ".join(words))
    return tuple(types)


def find_pointers(sources):
    """The function pointers that headers of core declare: types, members and parameters.

    The door to Vulkan is left out, and so are PFN_ types: theirs is the driver's code, or a
    program's. A pointer that a .c file declares stays in this file, where no other can name it.
    """
    pointers = []
    for path, source in sources.items():
        if path.startswith("core/") and path.endswith(".h") and path not in DOOR:
            pointers += declared_pointers(source)
    values = function_values(sources)
    for pointer in pointers:
        find_uses(pointer, sources, values)
    return sorted(pointers, key=lambda pointer: (pointer.header, pointer.name))


def declared_pointers(source):
    found = [(match, True) for match in POINTER.finditer(source.text)]
    found += [(match, False) for match in FUNCTION_TYPE.finditer(source.text)]
    for match, is_pointer in found:
        if not NOT_OURS.fullmatch(match[1]):
            before = re.split(r"[;}]", source.text[:match.start()])[-1]
            member = is_pointer and "typedef" not in before
            listed = source.text[match.end():closing(source.text, match.end()) - 1]
            yield Pointer(owner_of(source, match, before) + match[1] if member else match[1],
                          source.path, member, parameter_types(listed))


def owner_of(source, match, before):
    """The structure that a member belongs to, or the function that a parameter belongs to."""
    outer = re.search(r"(\w+)\s*\(", before.rsplit("{", 1)[-1])
    if outer:
        return f"{outer[1]}."
    tags = re.findall(r"\bstruct\s+(\w+)\s*\{", source.text[:match.start()])
    return f"{tags[-1]}." if tags else ""


@dataclass
class Value:
    """A function that a file names without calling it."""
    name: str
    home: str  # the file that defines it
    user: str  # the file that names it
    parameters: tuple


def function_values(sources):
    """Every use of a function as a value: assigned, passed, or written into a table."""
    homes = {}
    for path, source in sources.items():
        homes.update((name, path) for name in source.functions)
    values = []
    for path, source in sources.items():
        named = source.names & set(homes)
        for name in sorted(named):
            if re.search(rf"(?:[=(),?:{{&]|return)\s*{name}\s*[,;)}}:]", source.text):
                home = path if name in source.functions else homes[name]
                head = sources[home].heads[name]
                if home != path and re.match(r"\s*(?:static|MAAR_NOINLINE)\b", head):
                    continue  # a variable of the same name
                found = re.search(rf"\b{name}\s*\(", head)
                if found:
                    listed = head[found.end():closing(head, found.end()) - 1]
                    values.append(Value(name, home, path, parameter_types(listed)))
    return values


def find_uses(pointer, sources, values):
    for value in values:
        if value.parameters == pointer.parameters:
            pointer.implementers[value.home].add(value.name)
    members = carriers(pointer, sources)
    for path, source in sources.items():
        if calls_through(source, pointer, members):
            pointer.callers.add(path)


def carriers(pointer, sources):
    """The members that hold such a pointer."""
    if pointer.member:
        return {pointer.name.split(".")[-1]}
    declaration = re.compile(rf"\b{pointer.name}(?:\s+const\s|[\s*])+(\w+)\s*[;\[]")
    return {name for source in sources.values() if pointer.name in source.names
            for name in declaration.findall(source.text)}


def calls_through(source, pointer, members):
    name = pointer.name.split(".")[-1]
    if any(member in source.names and
           re.search(rf"(?:\.|->)\s*{member}\s*(?:\[[^\]]*\]\s*)?\(", source.text)
           for member in members):
        return True
    if pointer.member:
        # A parameter of a function that this file defines.
        local = {name} if pointer.name.split(".")[0] in source.functions else set()
    elif name in source.names:
        local = set(re.findall(rf"\b{name}(?:\s+const\s|[\s*])+(\w+)\s*[,)=;]", source.text))
    else:
        return False
    return any(re.search(rf"(?<![\w.>]){other}\s*\(", source.text) for other in local)


def components(edges):
    """The strongly connected components of {node: nodes} that have two nodes or more (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            members = stack[at:]
            del stack[at:]
            on_stack.difference_update(members)
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda members: (-len(members), members))
