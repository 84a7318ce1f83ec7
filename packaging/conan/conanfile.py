"""Maar for Conan 2, from the tree that this file lies in: conan create MAAR/packaging/conan"""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.1"

# What the libraries are built from; tools/check_recipes.py compares it with CMakeLists.txt.
SOURCES = ("backends", "cmake", "core", "data", "include", "interop", "vma")


class MaarConan(ConanFile):
    name = "maar"
    description = "Device memory for Vulkan programs"
    license = "MIT"
    topics = ("vulkan", "memory", "allocator")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "simulated": [True, False],
        "vma": [True, False],
        "zstd": [True, False],
        "lz4": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "simulated": False,
        "vma": False,
        "zstd": False,
        "lz4": False,
    }

    @property
    def _root(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "maar", "base.h"))
        parts = re.findall(r"^#define MAAR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE)
        self.version = ".".join(parts)

    def export_sources(self):
        for folder in SOURCES:
            copy(self, "*", os.path.join(self._root, folder), os.path.join(self.export_sources_folder, folder),
                 excludes="*__pycache__*")
        for file in ("CMakeLists.txt", "LICENSE"):
            copy(self, file, self._root, self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("vulkan-headers/[>=1.3.239]", transitive_headers=True)
        if self.options.zstd:
            self.requires("zstd/[>=1.5 <2]")
        if self.options.lz4:
            self.requires("lz4/[>=1.9 <2]")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("BUILD_TESTS", "BUILD_TOOLS", "BUILD_SAMPLES", "BUILD_BENCH", "BUILD_GPU_CHECKS",
                       "WARNINGS"):
            toolchain.cache_variables[f"MAAR_{option}"] = False
        toolchain.cache_variables["MAAR_BUILD_SIMULATED"] = bool(self.options.simulated)
        toolchain.cache_variables["MAAR_BUILD_VMA"] = bool(self.options.vma)
        toolchain.cache_variables["MAAR_BUILD_VMA_NAMES"] = bool(self.options.vma)
        toolchain.cache_variables["MAAR_ZSTD"] = bool(self.options.zstd)
        toolchain.cache_variables["MAAR_LZ4"] = bool(self.options.lz4)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # CMake finds the package's own maarConfig.cmake; the rest is for other generators.
        self.cpp_info.set_property("cmake_find_mode", "none")
        library = self.cpp_info.components["maar"]
        library.set_property("pkg_config_name", "maar")
        library.libs = ["maar"]
        library.builddirs = [os.path.join("lib", "cmake", "maar")]
        library.requires = ["vulkan-headers::vulkan-headers"]
        library.defines = ["MAAR_SHARED=1"] if self.options.shared else []
        if self.settings.os != "Windows":
            library.system_libs = ["pthread", "dl"]
        if self.options.zstd:
            library.requires.append("zstd::zstd")
        if self.options.lz4:
            library.requires.append("lz4::lz4")
        if self.options.simulated:
            simulated = self.cpp_info.components["simulated"]
            simulated.set_property("pkg_config_name", "maar_simulated")
            simulated.libs = ["maar_simulated"]
            simulated.requires = ["maar"]
        if self.options.vma:
            vma = self.cpp_info.components["vma"]
            vma.set_property("pkg_config_name", "maar-vma")
            vma.libs = ["maar_vma"]
            vma.includedirs = [os.path.join("include", "maar-vma"), os.path.join("include", "maar-vma", "vma")]
            vma.requires = ["maar"]
            names = self.cpp_info.components["vma_names"]
            names.set_property("pkg_config_name", "maar-vma-names")
            names.libs = ["maar_vma_names"]
            names.requires = ["vma"]
