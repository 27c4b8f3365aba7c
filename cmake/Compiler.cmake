# Compiler flags for every target of the project, and ccache where it is installed.
add_library(reprise_flags INTERFACE)
target_compile_options(reprise_flags INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers
                       -Wno-psabi -fno-omit-frame-pointer)
target_include_directories(reprise_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(reprise_flags INTERFACE -fcoroutines)
  # GCC 12 reports these on correct std::variant, std::optional and coroutine code once it has inlined it.
  target_compile_options(reprise_flags INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
                         -Wno-restrict -Wno-dangling-pointer -Wno-stringop-overread -Wno-mismatched-new-delete)
else()
  # Clang blames us for what libstdc++ 12 calls in its own std::stable_sort.
  target_compile_options(reprise_flags INTERFACE -Wno-deprecated-declarations)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
