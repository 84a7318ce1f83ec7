# Promise 9, as a linker sees it: no object of the library calls for output, exit or the
# environment, and only host_memory.o knows the C library's allocator.
cmake_minimum_required(VERSION 3.21)
execute_process(COMMAND ${NM} -A --undefined-only ${ARCHIVE}
    OUTPUT_VARIABLE lines RESULT_VARIABLE result ERROR_QUIET)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${NM} cannot read ${ARCHIVE}")
endif()
string(REPLACE "\n" ";" lines "${lines}")
set(never
    printf vprintf fprintf vfprintf puts putchar fputs fputc fwrite perror write dprintf vdprintf
    __printf_chk __vprintf_chk __fprintf_chk __vfprintf_chk stdout stderr
    exit _exit _Exit quick_exit abort atexit getenv secure_getenv setenv putenv environ
    system fork signal raise)
set(allocators malloc calloc realloc free aligned_alloc posix_memalign memalign strdup strndup)
set(seen 0)
set(host_memory_seen FALSE)
set(faults "")
foreach(line IN LISTS lines)
    if(NOT line MATCHES "^.*:([^:]+\\.o(bj)?): +U +_?([^ @]+)")
        continue()
    endif()
    set(object ${CMAKE_MATCH_1})
    set(symbol ${CMAKE_MATCH_3})
    math(EXPR seen "${seen} + 1")
    if(symbol IN_LIST never)
        list(APPEND faults "${object} calls ${symbol}")
    elseif(symbol IN_LIST allocators)
        if(object MATCHES "^host_memory\\.")
            set(host_memory_seen TRUE)
        else()
            list(APPEND faults "${object} calls ${symbol}")
        endif()
    endif()
endforeach()
# A check that looked at nothing would pass as well.
if(seen LESS 50 OR NOT host_memory_seen)
    message(FATAL_ERROR "${ARCHIVE}: only ${seen} symbols seen, host_memory.o: ${host_memory_seen}")
endif()
if(faults)
    list(JOIN faults "\n  " faults)
    message(FATAL_ERROR "Promise 9 is broken:\n  ${faults}")
endif()
message(STATUS "${seen} symbols looked at")
