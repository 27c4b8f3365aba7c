# reprise_module(NAME [LINK modules and libraries...] [TEST_LINK ...] [EXCLUDE regex] [PCH <header>...]
#                [FUZZ_SOURCES file.cc...] [FUZZ_LINK ...])
#
# One static library per module from every .cc under src/NAME, linked with exactly the modules it may include, plus
#   *_test.cc   one GoogleTest program NAME_test, one ctest entry of the same name
#   *_fuzz.cc   one program each: a libFuzzer target when REPRISE_FUZZ, else a replay of tests/fuzz/corpus/<stem>
#   *.h         a target that compiles every header alone
# PCH names heavy third-party headers to precompile for the module, its tests included.
# A file that matches EXCLUDE is left to the module's own CMakeLists (other flags, another program).
# FUZZ_SOURCES and FUZZ_LINK name the part of a module that fuzz targets reach: with REPRISE_FUZZ the library is made
# of that part only, so that no minute goes to instrumenting code that no fuzz target runs.
function(reprise_module NAME)
  cmake_parse_arguments(M "" "EXCLUDE" "LINK;TEST_LINK;PCH;FUZZ_SOURCES;FUZZ_LINK" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  if(M_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${M_EXCLUDE}")
    list(FILTER headers EXCLUDE REGEX "${M_EXCLUDE}")
  endif()
  if(REPRISE_FUZZ)
    set(tests)
    if(M_FUZZ_SOURCES)
      set(sources ${M_FUZZ_SOURCES})
      set(M_PCH)  # fewer files than a precompiled header pays for
    endif()
    if(M_FUZZ_LINK)
      set(M_LINK ${M_FUZZ_LINK})
    endif()
  endif()

  if(sources)
    add_library(reprise_${NAME} STATIC ${sources})
    target_link_libraries(reprise_${NAME} PUBLIC reprise_flags ${M_LINK})
  else()  # headers only
    add_library(reprise_${NAME} INTERFACE)
    target_link_libraries(reprise_${NAME} INTERFACE reprise_flags ${M_LINK})
  endif()

  if(M_PCH)
    target_precompile_headers(reprise_${NAME} PRIVATE ${M_PCH})
  endif()

  # Each public header compiles on its own.
  set(alone)
  foreach(header ${headers})
    file(RELATIVE_PATH rel ${CMAKE_SOURCE_DIR}/src ${header})
    string(REPLACE "/" "_" flat ${rel})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/alone/${flat}.cc)
    if(NOT EXISTS ${unit})
      file(WRITE ${unit} "#include \"${rel}\"\n")
    endif()
    list(APPEND alone ${unit})
  endforeach()
  if(alone)
    add_library(${NAME}_headers OBJECT EXCLUDE_FROM_ALL ${alone})
    target_link_libraries(${NAME}_headers PRIVATE reprise_flags ${M_LINK})
    set_property(GLOBAL APPEND PROPERTY REPRISE_HEADER_TARGETS ${NAME}_headers)
  endif()

  if(tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE reprise_${NAME} ${M_TEST_LINK} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${NAME}_test PRIVATE REPRISE_ROOT="${CMAKE_SOURCE_DIR}")
    if(M_PCH)
      target_precompile_headers(${NAME}_test PRIVATE ${M_PCH} <gtest/gtest.h> <gmock/gmock.h>)
    endif()
    add_test(NAME ${NAME}_test COMMAND ${NAME}_test --gtest_brief=1)
    set_tests_properties(${NAME}_test PROPERTIES TIMEOUT 600)
  endif()

  foreach(fuzzer ${fuzzers})
    get_filename_component(stem ${fuzzer} NAME_WE)
    set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${stem})
    if(REPRISE_FUZZ)
      add_executable(${stem} ${fuzzer})
      target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    else()
      add_executable(${stem} ${fuzzer} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cc)
      add_test(NAME ${stem}_replay COMMAND ${stem} ${corpus})
    endif()
    target_link_libraries(${stem} PRIVATE reprise_${NAME})
    target_compile_definitions(${stem} PRIVATE REPRISE_ROOT="${CMAKE_SOURCE_DIR}")
    set_property(GLOBAL APPEND PROPERTY REPRISE_FUZZ_TARGETS ${stem})
  endforeach()
endfunction()
