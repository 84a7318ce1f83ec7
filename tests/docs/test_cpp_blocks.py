"""The C of the documents is C++20, too, and their C++ is C++11: a reader may paste it into either.

test_cpp_blocks.py --root=ROOT --compiler=PROGRAM --vulkan=FOLDER [--hpp]

  --compiler=PROGRAM  a C++ compiler with the options of GCC
  --vulkan=FOLDER     holds vulkan/vulkan.h
  --hpp               and vulkan/vulkan.hpp: without it, C++ is not looked at

The C of all pages is one unit, in which each page has a namespace: its blocks in their order, behind what
BEFORE says. Nothing is linked or run: test_docs and others do that. C++ is compiled as C++11, and once more
with the handles of a 32-bit machine, which are integers there.
"""

import argparse
import pathlib
import subprocess
import sys

from markdown_blocks import blocks_of

HEADERS = ["vulkan/vulkan.h", "inttypes.h", "stdbool.h", "stdio.h", "stdlib.h", "string.h", "sys/mman.h"]

# Pages whose blocks stand in a function of the reader's, and what it knows.
INSIDE = {
    "README.md": "VkInstance instance, VkPhysicalDevice physicalDevice, VkDevice device",
    "docs/from-vma.md": "VkInstance instance, VkPhysicalDevice physicalDevice, VkDevice device",
    "docs/ranges.md": "",
    "docs/simulated-devices.md": "",
}

# What the blocks of a page need of the reader's program.
BEFORE = {
    "docs/cuda.md": "void launch_kernel(float* address, size_t count, MaarCudaStream stream);",
    "docs/findings.md": """
struct planted {
    bool forgets;
    bool forgets_buffers;
};
VkBuffer make_buffer(planted* p, VkDeviceSize size, VkBufferUsageFlags usage, VkMemoryRequirements* needs);
VkImage make_image(planted* p, uint32_t width, VkImageUsageFlags usage, VkMemoryRequirements* needs);
uint32_t find_type(planted* p, uint32_t bits, VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags unwanted);
VkDeviceMemory take(planted* p, VkDeviceSize size, uint32_t type);
void give(planted* p, VkDeviceMemory memory);
void expect_no_memory(planted* p, VkDeviceSize size, uint32_t type);
void bind_buffer(planted* p, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset);
void bind_image(planted* p, VkImage image, VkDeviceMemory memory, VkDeviceSize offset);
void end_buffer(planted* p, VkBuffer buffer);
void map(planted* p, VkDeviceMemory memory);
void wait_a_moment();""",
    "docs/sharing.md": "enum { SUCCESS };\nint otherImport(int fd);",
    "docs/streamed-textures.md": "void read_tile(const MaarTileUpload* upload);",
    "docs/threads.md": "void lock(void* mutex);\nvoid unlock(void* mutex);",
}

# Pages with C that is not C++20, and why it has to be so.
EXCEPTIONS = {}

OPTIONS = ["-fsyntax-only", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
           "-Wno-unused-variable", "-Wno-missing-field-initializers", "-x", "c++"]
OLD = ("-std=c++11",)
NUMBERS = ("-std=c++20", "-DVK_USE_64_BIT_PTR_DEFINES=0")

GOOD = """static VkResult trim(MaarAllocator allocator, void* user)
{
    const MaarAllocationCreateInfo how = {.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT, .priority = 1.0f};
    VkDeviceSize* released = (VkDeviceSize*)user;
    return how.priority > 0.0f ? maarTrim(allocator, VK_NULL_HANDLE, released) : VK_SUCCESS;
}
"""
# Each makes C of it that is no C++20.
PLANTED = {
    "designators in another order":
        (".flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT, .priority = 1.0f",
         ".priority = 1.0f, .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT"),
    "no cast": ("(VkDeviceSize*)user", "user"),
    "a structure without a name":
        ("how = {.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT, .priority = 1.0f}",
         "how = (MaarAllocationCreateInfo){.priority = 1.0f}"),
    "a keyword": ("how", "export"),
    "an index as a designator":
        ("    VkDeviceSize*", "    const int numbers[2] = {[1] = 2};\n    VkDeviceSize*"),
}
PLANTED_CPP = {
    "a conversion that 32-bit machines lack": (NUMBERS, """#include <vulkan/vulkan.hpp>
inline VkBuffer same(vk::Buffer buffer)
{
    return buffer;
}
"""),
    "what C++11 has not": (OLD, """inline int sum(const int (&of)[2])
{
    const auto& [a, b] = of;
    return a + b;
}
"""),
}


class Compiler:
    def __init__(self, options):
        self.options = options
        self.count = 0
        self.command = [options.compiler, *OPTIONS, f"-I{options.root / 'include'}",
                        f"-I{options.root / 'vma/include'}"]
        # As a system's folder it would come before the C++ library's own headers.
        if options.vulkan.resolve() != pathlib.Path("/usr/include"):
            self.command += ["-isystem", str(options.vulkan)]
        public = sorted(path.name for path in (options.root / "include/maar").glob("*.h"))
        self.headers = HEADERS + [f"maar/{name}" for name in public if name != "volk.h"] + ["maar/vma.h"]

    def complaint(self, source, *extra):
        self.count += 1
        done = subprocess.run([*self.command, *extra, "-"], input=source, capture_output=True, text=True,
                              check=False)
        return "" if done.returncode == 0 else f"{' '.join(extra)}\n{done.stderr}"

    def c_complaint(self, pages):
        """pages: the text of each."""
        lines = [f"#include <{name}>" for name in self.headers]
        for number, (page, text) in enumerate(pages.items()):
            lines += [f"namespace page_{number} {{", BEFORE.get(page, "")]
            if page in INSIDE:
                lines.append(f"VkResult inside({INSIDE[page]});\nVkResult inside({INSIDE[page]})\n{{")
            for block in blocks_of(page, text):
                if block.language == "c":
                    lines += [f'#line {block.line} "{page}"', *block.lines]
            if page in INSIDE:
                lines.append("return result;\n}")
            lines.append("}")
        return self.complaint("\n".join(lines) + "\n", "-std=c++20")

    def cpp_complaint(self, page, text):
        blocks = [block for block in blocks_of(page, text) if block.language == "cpp"]
        if not blocks:
            return ""
        source = "".join(f'#line {block.line} "{page}"\n{block.text}' for block in blocks)
        return self.complaint(source, *OLD) or self.complaint(source, *NUMBERS)


def planted(compiler):
    """Mistakes that must be found."""
    wrong = []
    if compiler.c_complaint({"planted": f"```c\n{GOOD}```\n"}):
        wrong.append("planted: C++20 that is right is rejected")
    for name, (old, new) in PLANTED.items():
        if not compiler.c_complaint({"planted": f"```c\n{GOOD.replace(old, new)}```\n"}):
            wrong.append(f"planted: {name}: is not noticed")
    if not compiler.options.hpp:
        return wrong
    for name, (way, source) in PLANTED_CPP.items():
        if not compiler.complaint(source, *way):
            wrong.append(f"planted: {name}: is not noticed")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--vulkan", type=pathlib.Path, required=True)
    parser.add_argument("--hpp", action="store_true")
    options = parser.parse_args()
    compiler = Compiler(options)
    wrong = planted(compiler)
    texts = {path.relative_to(options.root).as_posix(): path.read_text(encoding="utf-8") for path in
             [options.root / "README.md", *sorted(options.root.glob("docs/**/*.md"))]}
    with_c = {page: text for page, text in texts.items() if "\n```c\n" in text}
    found = [compiler.c_complaint({page: text for page, text in with_c.items() if page not in EXCEPTIONS})]
    found += [compiler.cpp_complaint(page, text) for page, text in texts.items() if options.hpp]
    wrong += [one for one in found if one]
    wrong += [f"EXCEPTIONS: {page} is C++20" for page in EXCEPTIONS
              if not compiler.c_complaint({page: texts.get(page, "")})]
    wrong += [f"there is no C in {page}" for page in [*INSIDE, *BEFORE, *EXCEPTIONS] if page not in with_c]
    print("\n".join(wrong))
    print(f"{len(with_c)} pages with C, {len(EXCEPTIONS)} with an exception; {compiler.count} times compiled"
          + ("" if options.hpp else "; C++ left out, since there is no vulkan.hpp"))
    return 1 if wrong or len(with_c) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
