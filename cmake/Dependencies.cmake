# hiredis: reads replies.  libev: the loop.  libsodium: random tokens, base64url.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)

# libev ships no pkg-config file on Debian.
find_path(EV_INCLUDE_DIR ev.h REQUIRED)
find_library(EV_LIBRARY ev REQUIRED)
add_library(ev INTERFACE IMPORTED)
target_include_directories(ev INTERFACE ${EV_INCLUDE_DIR})
target_link_libraries(ev INTERFACE ${EV_LIBRARY})
