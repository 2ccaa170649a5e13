# `cmake --install`: libraries, headers, the command with its completions, manual pages, documents, and
# the files of pkg-config and find_package().  No file has a path of the build or of the prefix, so the
# installed tree can be moved.
include(CMakePackageConfigHelpers)

set(REDLOCK_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/redlock)
set(REDLOCK_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(redlock_shared PROPERTIES EXPORT_NAME redlock)
install(TARGETS redlock_shared redlock_static EXPORT redlockTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(REDLOCK_TESTING)
  set_target_properties(redlock_testing_shared PROPERTIES EXPORT_NAME redlock_testing)
  install(TARGETS redlock_testing_shared redlock_testing_static EXPORT redlockTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(REDLOCK_TOOLS)
  install(TARGETS redlock RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET redlock_tls)
    install(TARGETS redlock_tls LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/redlock)
  endif()
  # Debian's zsh looks in zsh/vendor-completions for those of packages.
  set(REDLOCK_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh looks for completions")
  install(FILES ${PROJECT_SOURCE_DIR}/completions/redlock.bash RENAME redlock
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_SOURCE_DIR}/completions/_redlock DESTINATION ${REDLOCK_ZSH_DIR})
  install(FILES ${PROJECT_SOURCE_DIR}/completions/redlock.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
foreach(page IN LISTS REDLOCK_MANUAL_PAGES)
  string(REGEX MATCH "[0-9]$" section ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/include/redlock.h ${PROJECT_SOURCE_DIR}/include/redlock.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/redlock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# The documents, and the files to start from, where messages and manual pages name them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN man EXCLUDE PATTERN site EXCLUDE)
file(READ ${PROJECT_SOURCE_DIR}/README.md readme)
string(REPLACE "](doc/" "](" readme "${readme}")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/README.md CONTENT "${readme}")
install(FILES ${PROJECT_BINARY_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

install(EXPORT redlockTargets NAMESPACE redlock:: DESTINATION ${REDLOCK_CMAKE_DIR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/redlockConfig.cmake.in ${PROJECT_BINARY_DIR}/redlockConfig.cmake
  INSTALL_DESTINATION ${REDLOCK_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# Until 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/redlockConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/redlockConfig.cmake
              ${PROJECT_BINARY_DIR}/redlockConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/redlockEv.cmake
  DESTINATION ${REDLOCK_CMAKE_DIR})

# From the folder of redlock.pc up to the prefix; a libdir outside of it stays as it is.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${REDLOCK_PC_DIR} /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(PC_PREFIX "\${pcfiledir}/${up}")
  set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# libev comes along, from wherever it is; but what the compiler knows is not named.
set(PC_EV_CFLAGS "")
set(PC_EV_LIBS "-lev")
get_filename_component(ev_libdir ${REDLOCK_EV_LIBRARY} DIRECTORY)
if(NOT REDLOCK_EV_INCLUDE_DIR IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
  set(PC_EV_CFLAGS " -I${REDLOCK_EV_INCLUDE_DIR}")
endif()
if(NOT ev_libdir IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  set(PC_EV_LIBS "-L${ev_libdir} -lev")
endif()
set(own_needs ${REDLOCK_HIREDIS_STATIC_LDFLAGS} ${REDLOCK_SODIUM_STATIC_LDFLAGS})
if(REDLOCK_TLS)
  list(APPEND own_needs ${REDLOCK_OPENSSL_STATIC_LDFLAGS})
endif()
foreach(folder IN LISTS CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  list(REMOVE_ITEM own_needs -L${folder})
endforeach()
list(JOIN own_needs " " PC_PRIVATE)
# pc(NAME DESCRIPTION): the file of one of the two libraries.
function(pc PC_NAME PC_DESCRIPTION)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/redlock.pc.in ${PROJECT_BINARY_DIR}/${PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${PC_NAME}.pc DESTINATION ${REDLOCK_PC_DIR})
endfunction()
pc(redlock "${PROJECT_DESCRIPTION}")
if(REDLOCK_TESTING)
  pc(redlock-testing "redlock with masters inside the process, for tests: in the place of redlock")
endif()
