"""What builds of scripts/package-matrix for another target need: the libraries of the tests."""

# Debian's source packages, and the CMake arguments for only the static library.
DEPENDENCIES = (
    ("zlib", ["-DSKIP_INSTALL_ALL=ON"]),
    ("jansson", ["-DJANSSON_BUILD_DOCS=OFF", "-DJANSSON_EXAMPLES=OFF",
                 "-DJANSSON_WITHOUT_TESTS=ON"]),
    ("cmocka", ["-DUNIT_TESTING=OFF", "-DWITH_EXAMPLES=OFF", "-DWITH_STATIC_LIB=ON"]),
    ("libpng1.6", ["-DPNG_SHARED=OFF", "-DPNG_TESTS=OFF", "-DPNG_STATIC=ON"]),
)


def cross_paths(prefix):
    return [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_FIND_ROOT_PATH={prefix}",
            "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY",
            f"-DMAAR_CMOCKA_INCLUDE_DIR={prefix}/include",
            f"-DMAAR_CMOCKA_LIBRARY={prefix}/lib/libcmocka.a",
            f"-DMAAR_JANSSON_INCLUDE_DIR={prefix}/include",
            f"-DMAAR_JANSSON_LIBRARY={prefix}/lib/libjansson.a",
            f"-DZLIB_INCLUDE_DIR={prefix}/include", f"-DZLIB_LIBRARY={prefix}/lib/libz.a",
            f"-DPNG_PNG_INCLUDE_DIR={prefix}/include", f"-DPNG_LIBRARY={prefix}/lib/libpng16.a"]
