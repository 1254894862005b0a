# One static library a folder: layerscope_library(<folder> SOURCES … DEPS … PRIVATE_DEPS …)
# One test program a folder:   layerscope_test(<folder> SOURCES … DEPS …)
include(UnityBuild)

add_library(layerscope_flags INTERFACE)
target_include_directories(layerscope_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(layerscope_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(NOT LAYERSCOPE_UNITY)
  # In a unit a name may hide one that only a neighbour can see; dev and lint build file by file.
  target_compile_options(layerscope_flags INTERFACE -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports impossible overlaps inside std::string (GCC bug 105329) and uninitialised members of
  # std::variant's other alternatives (GCC bug 105562); clang builds with its own checks.
  target_compile_options(layerscope_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(LAYERSCOPE_WERROR)
  target_compile_options(layerscope_flags INTERFACE -Werror)
endif()
if(LAYERSCOPE_SANITIZE)
  if(LAYERSCOPE_SANITIZE STREQUAL "address")
    set(sanitizers address,undefined)
  else()
    set(sanitizers ${LAYERSCOPE_SANITIZE})
  endif()
  target_compile_options(layerscope_flags INTERFACE -fsanitize=${sanitizers}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(layerscope_flags INTERFACE -fsanitize=${sanitizers})
endif()
if(LAYERSCOPE_FUZZ)
  target_compile_options(layerscope_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# A third of a file's compile time goes into the same dozen headers of others: they are compiled once.
# Not for the lint build, which builds nothing for clang-tidy to read.
if(LAYERSCOPE_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
  add_library(layerscope_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(layerscope_precompiled PRIVATE layerscope_flags fmt::fmt tl::expected
                        tsl::robin_map)
  target_precompile_headers(layerscope_precompiled PRIVATE
    <algorithm> <array> <charconv> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <tuple> <utility> <variant> <vector>
    <fmt/format.h> <tl/expected.hpp> <tsl/robin_map.h>)
  if(LAYERSCOPE_TESTS)
    add_library(layerscope_precompiled_test OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
    target_link_libraries(layerscope_precompiled_test PRIVATE layerscope_flags fmt::fmt
                          tl::expected tsl::robin_map GTest::gtest_main)
    target_precompile_headers(layerscope_precompiled_test PRIVATE
      <algorithm> <array> <cstdint> <functional> <memory> <optional> <string> <string_view> <utility>
      <variant> <vector> <fmt/format.h> <tl/expected.hpp> <tsl/robin_map.h> <gtest/gtest.h>)
  endif()
endif()

function(layerscope_precompile target headers)
  if(LAYERSCOPE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# The thread sanitizer has nothing to find where no thread runs: of the unit tests only these folders'
# are built with it.
set(LAYERSCOPE_THREADED base io ingest/kineto ingest/nsys session server cli)

function(layerscope_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  add_library(layerscope_${name} STATIC ${arg_SOURCES})
  target_link_libraries(layerscope_${name} PUBLIC layerscope_flags ${arg_DEPS}
                        PRIVATE ${arg_PRIVATE_DEPS})
  layerscope_unity(layerscope_${name})
  layerscope_precompile(layerscope_${name} layerscope_precompiled)
endfunction()

function(layerscope_test folder)
  if(NOT LAYERSCOPE_TESTS)
    return()
  endif()
  if(LAYERSCOPE_SANITIZE STREQUAL "thread" AND NOT folder IN_LIST LAYERSCOPE_THREADED)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE layerscope_${name} ${arg_DEPS} GTest::gtest_main)
  layerscope_unity(${name}_test)
  layerscope_precompile(${name}_test layerscope_precompiled_test)
  add_test(NAME unit.${name} COMMAND ${name}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
