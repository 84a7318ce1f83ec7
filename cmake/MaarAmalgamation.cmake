# maar_amalgamation: a target on which nothing depends. It writes maar.h, maar.c, the simulated
# driver's two files and those of maar::vma to the build folder's amalgamation/.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
    add_custom_target(maar_amalgamation
        COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/amalgamate.py
            --output ${PROJECT_BINARY_DIR}/amalgamation
        COMMENT "Writing ${PROJECT_BINARY_DIR}/amalgamation"
        VERBATIM)
endif()
