# `cmake --build build --target site` makes build/site: the documents, the manual and the headers as HTML.
find_program(REDLOCK_CMARK cmark-gfm)
find_program(REDLOCK_MANDOC mandoc)
find_package(Python3 COMPONENTS Interpreter)
if(TARGET redlock_manuals AND REDLOCK_CMARK AND REDLOCK_MANDOC AND Python3_FOUND)
  set(REDLOCK_SITE ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/doc/site/make ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/man)
  add_custom_target(site COMMAND ${REDLOCK_SITE} ${PROJECT_BINARY_DIR}/site DEPENDS redlock_manuals VERBATIM)
else()
  add_custom_target(site VERBATIM COMMAND ${CMAKE_COMMAND} -E echo
    "The site needs cmark-gfm, mandoc, scdoc and python3: `cluster-scripts/install site`, then configure anew"
    COMMAND ${CMAKE_COMMAND} -E false)
endif()
