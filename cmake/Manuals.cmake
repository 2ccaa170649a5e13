# The manual pages: scdoc makes build/man/NAME.SECTION of doc/man/NAME.SECTION.scd, with the
# version in it.  REDLOCK_MANUAL_PAGES has what is made, for Install.cmake.
find_program(REDLOCK_SCDOC scdoc)
if(NOT REDLOCK_SCDOC)
  message(STATUS "scdoc was not found, so there will be no manual pages: install it "
                 "(Debian: scdoc), or set REDLOCK_MANUALS=OFF")
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/doc/man/*.scd)
foreach(source ${sources})
  get_filename_component(name ${source} NAME)
  string(REGEX REPLACE "\\.scd$" "" page ${PROJECT_BINARY_DIR}/man/${name})
  configure_file(${source} ${page}.scd @ONLY)
  # A step that fails leaves no half of a page behind.
  add_custom_command(OUTPUT ${page} VERBATIM DEPENDS ${page}.scd ${PROJECT_SOURCE_DIR}/cmake/manual.sed
    COMMAND sh -c "\"$0\" <\"$1.scd\" >\"$1.new\" && sed -i -f \"$2\" \"$1.new\" && mv \"$1.new\" \"$1\""
      ${REDLOCK_SCDOC} ${page} ${PROJECT_SOURCE_DIR}/cmake/manual.sed)
  list(APPEND REDLOCK_MANUAL_PAGES ${page})
endforeach()
add_custom_target(redlock_manuals ALL DEPENDS ${REDLOCK_MANUAL_PAGES})
