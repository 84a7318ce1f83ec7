"""tools/check_includes.py finds each breach that it is there for: test_check_includes.py TOOLS"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import check_includes  # noqa: E402

HEADER = """/* A header. */
/**
 * Does it.
 *
 * @param count  how often
 * @return VK_SUCCESS
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDoIt(uint32_t count);
/** A thing. */
typedef struct MaarThing {
    /** its size */
    uint32_t size;
} MaarThing;
"""

# name: (path, text, what the finding says); text None stands for HEADER.
BREACHES = {
    "room": ("core/a.c", '/* A. */\n#include "support/trace.h"\n', "core may not include support"),
    "backend": ("backends/vulkan/a.c", '/* A. */\n#include "backends/simulated/sim.h"\n',
                "include each other"),
    "thread": ("core/a.c", "/* A. */\n#include <pthread.h>\n", "only core/port_"),
    "shader": ("core/a.c", '/* A. */\n#include "fill.spv.h"\n', "generated"),
    "volk": ("core/a.c", "/* A. */\n#include <volk.h>\n", "may not include volk"),
    "call": ("core/a.c", "/* A. */\nvoid f(void)\n{\n    vkFreeMemory(0, 0, 0);\n}\n", "table"),
    "layer_call": ("layer/a.c", "/* A. */\nvoid f(void)\n{\n    vkFreeMemory(0, 0, 0);\n}\n", "table"),
    "layer_print": ("layer/a.c", '/* A. */\nvoid f(void)\n{\n    puts("x");\n}\n',
                    "the layer may not call"),
    "layer_room": ("layer/a.c", '/* A. */\n#include "support/trace.h"\n',
                   "layer may not include support"),
    "malloc": ("core/a.c", "/* A. */\nvoid f(void)\n{\n    free(0);\n}\n", "only core/host_memory.h"),
    "print": ("interop/a.c", '/* A. */\nvoid f(void)\n{\n    puts("x");\n}\n', "may not call"),
    "windows": ("core/a.c", "/* A. */\nint near;\n", "a macro on Windows: near"),
    "integers": ("core/plan/a.c", "/* A. */\nVkBuffer f(void);\n", "may not use VkBuffer"),
    "file_name": ("support/other.c", "/* A. */\n", "file other.c exists in"),
    "static_name": ("core/b.c", "/* A. */\nstatic int helper(void)\n{\n    return 1;\n}\n",
                    "static function helper"),
    "inline_name": ("core/b.c", "/* A. */\nMAAR_INLINE int helper(void)\n{\n    return 1;\n}\n",
                    "static function helper"),
    "variable_name": ("core/b.c", "/* A. */\nstatic const int counts[2] = {1, 2};\n",
                      "variable counts"),
    "enumerator_name": ("core/b.c", "/* A. */\nenum { FIRST = 1, SECOND };\n", "enumerator SECOND"),
    "tag_name": ("core/b.c", "/* A. */\nenum part {\n    PART\n};\n", "tag part"),
    "macro_name": ("core/b.c", "/* A. */\n#define table 1\n", "macro table is a word"),
    "length": ("core/a.c", "/* A. */\n" + "\n" * 1000, "at most"),
    "purpose": ("core/a.c", "int a;\n", "comment about its purpose"),
    "todo": ("core/a.c", "/* TO" "DO */\n", "TODO"),
    "since": ("include/maar/a.h", HEADER.replace("@since", "since"), "maarDoIt lacks @since"),
    "return": ("include/maar/a.h", HEADER.replace("@return", "return"), "maarDoIt lacks @return"),
    "threads": ("include/maar/a.h", HEADER.replace("@threadsafety", "x"), "lacks @threadsafety"),
    "parameter": ("include/maar/a.h", HEADER.replace("@param count", "@param x"),
                  "lacks @param count"),
    "structure_name": ("include/maar/a.h", "/* A. */\nint MAAR_STRUCTURE_TYPE_X = 0x4D410000;\n",
                       "does not name X"),
    "undocumented": ("include/maar/a.h",
                     "/* A. */\nMAAR_API void VKAPI_CALL maarDoIt(void);\n", "is not documented"),
    "field": ("include/maar/a.h", HEADER.replace("    /** its size */\n", ""), "has no comment"),
}

SOUND = {
    "include/maar/sound.h": HEADER.replace("DoIt", "DoThat").replace("Thing", "Object"),
    "core/sound.c": '/* A: vkFreeMemory(x) in words. */\n#include "maar/sound.h"\n'
                    "static int helper(void)\n{\n    return table->vkFreeMemory(0);\n}\n"
                    "#define LOCAL 1\nstruct part {\n    int counts;\n};\n"
                    "enum { ZEROTH, SECOND };\nstatic int counts[LOCAL];\n",
    "core/host_memory.c": "/* A. */\nvoid f(void)\n{\n    free(0);\n}\n",
    "core/port_thread.h": "/* A. */\n#include <pthread.h>\n",
    "core/other.c": "/* A. */\n",
    "support/trace.h": "/* A. */\n",
    "support/trace.c": '/* A. */\n#include "trace.h"\n#include <volk.h>\n',
    "backends/simulated/sim.h": "/* A. */\n",
}


def findings(files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        return check_includes.Check(Path(folder)).run()


sound = findings(SOUND)
assert not sound, sound
for name, (path, text, said) in BREACHES.items():
    found = findings({**SOUND, path: text})
    assert len(found) == 1 and said in found[0], (name, found)
print(f"{len(BREACHES)} breaches found")
