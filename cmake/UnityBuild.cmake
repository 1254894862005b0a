# Unity builds: layerscope_unity(<target>) compiles the target's sources in a few units instead of one by
# one. Half of a cold build goes into the same headers and templates, once a file; a unit pays them once.
# tools/unity_groups.py chooses what may share a unit, so that sources need not mind their neighbours.
# Off where an edit should rebuild one file (preset dev), which also compiles every file alone: an include
# of a system header that a neighbour made good shows there (those of the project's headers the grouping
# itself keeps apart).
option(LAYERSCOPE_UNITY "Compile several source files at once: faster from scratch" OFF)
if(LAYERSCOPE_UNITY)
  find_program(LAYERSCOPE_PYTHON python3 REQUIRED)
endif()

function(layerscope_unity target)
  if(NOT LAYERSCOPE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^/].*\\.cc$")  # What the build generates has a full path.
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  execute_process(
    COMMAND ${LAYERSCOPE_PYTHON} -B ${CMAKE_SOURCE_DIR}/tools/unity_groups.py --folder ${folder}
            ${sources}
    OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^(.*) (.*)$" line "${line}")
    if(CMAKE_MATCH_2 STREQUAL "-")
      set_source_files_properties(${CMAKE_MATCH_1} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      set_source_files_properties(${CMAKE_MATCH_1} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_2})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
