# hiredis: reads replies.  libev: the loop.  libsodium: random tokens, base64url.  OpenSSL: TLS.
# The targets are global, because programs in other folders link the library too.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(REDLOCK_HIREDIS REQUIRED IMPORTED_TARGET GLOBAL hiredis>=0.14)
pkg_check_modules(REDLOCK_SODIUM REQUIRED IMPORTED_TARGET GLOBAL libsodium)
include(${CMAKE_CURRENT_LIST_DIR}/redlockEv.cmake)
if(NOT TARGET redlock::ev)
  message(FATAL_ERROR "libev is needed: ev.h or its library was not found. "
    "Install it (Debian: libev-dev), or set REDLOCK_EV_INCLUDE_DIR and REDLOCK_EV_LIBRARY")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/CheckHiredis.cmake)
pkg_check_modules(REDLOCK_OPENSSL QUIET IMPORTED_TARGET GLOBAL openssl>=1.1.1)
option(REDLOCK_TLS "Speak TLS (rediss://), by OpenSSL 1.1.1 or later" ${REDLOCK_OPENSSL_FOUND})
if(REDLOCK_TLS AND NOT REDLOCK_OPENSSL_FOUND)
  message(FATAL_ERROR "TLS needs OpenSSL 1.1.1 or later, which was not found. "
    "Install it (Debian: libssl-dev), or set REDLOCK_TLS=OFF: then rediss:// is refused")
endif()
set(REDLOCK_OPENSSL "")
if(REDLOCK_TLS)
  set(REDLOCK_OPENSSL PkgConfig::REDLOCK_OPENSSL)
endif()
