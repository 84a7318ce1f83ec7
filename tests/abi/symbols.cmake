# Compare the symbols that LIBRARY exports with the list in EXPECTED, and refuse what a library of
# Maar may never call: the Vulkan loader, output, the environment, the end of the process. A debug
# trap and the C library's own assertion machinery are not among them.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
set(exported "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE " .*" "" symbol "${line}")
    list(APPEND exported ${symbol})
endforeach()
list(SORT exported)

file(STRINGS ${EXPECTED} expected REGEX "^[^#]")
set(sorted ${expected})
list(SORT sorted)
set(report "")
if(NOT expected STREQUAL sorted)
    string(APPEND report "${EXPECTED} is not sorted\n")
endif()
set(missing ${expected})
list(REMOVE_ITEM missing ${exported} "")
set(unlisted ${exported})
list(REMOVE_ITEM unlisted ${expected} "")
foreach(symbol IN LISTS missing)
    string(APPEND report "listed, but not exported: ${symbol}\n")
endforeach()
foreach(symbol IN LISTS unlisted)
    string(APPEND report "exported, but not listed: ${symbol}\n")
endforeach()

execute_process(COMMAND ${NM} -D --undefined-only --format=posix ${LIBRARY}
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "[ @].*" "" symbol "${line}")
    if(symbol MATCHES
       "^(vk[A-Z].*|(__)?(v|f|vf|d|vd)?printf(_chk)?|puts|putchar|fputs|fputc|putc|fwrite|perror|write|std(out|err)|(secure_)?getenv|setenv|_?exit|quick_exit|abort|fopen(64)?)$")
        string(APPEND report "a library may not call: ${symbol}\n")
    endif()
    # The library alone writes captures, and only when a program asks for one.
    if(symbol MATCHES "^open(64)?$" AND LIBRARY MATCHES "simulated")
        string(APPEND report "a library may not call: ${symbol}\n")
    endif()
    # Other APIs are opened when a program asks for them, by the library alone that shares with them.
    if(symbol MATCHES "^(dlopen|dlsym)$" AND LIBRARY MATCHES "simulated")
        string(APPEND report "a library may not call: ${symbol}\n")
    endif()
endforeach()
list(LENGTH exported count)
if(report)
    message(FATAL_ERROR "${LIBRARY}:\n${report}")
endif()
message(STATUS "${count} symbols, as listed")
