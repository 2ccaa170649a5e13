#!/usr/bin/env bash
# The headers that the test double may know. Of the library these are the door that is made for it, the bytes
# that pass, and the words of the core, as names of observers. The model knows no connection, and no clock.
#
#   test/double/rooms.sh TESTING
set -euo pipefail
export LC_ALL=C
testing=$1
of_library='"(buffer|command)\.h"|"ground/(event|names|slots)\.h"|"recipes/view\.h"|"scripts\.h"'
of_c='<(limits|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|sys/types)\.h>'
of_system='<(errno|fcntl|poll|pthread|stdatomic|time|unistd|sys/(eventfd|mman))\.h>'
door='"(double(_time)?|io_loop)\.h"|"redlock/testing\.h"'
bad=0

# look_at FOLDER MAY OWN_FOLDER...
look_at() {
    local folder=$1 may=$2 path line own
    while IFS=: read -r path line; do
        line=${line##*include }
        for own in "${@:3}"; do
            [[ $line != \"*\" || ! -e $own/${line//\"/} ]] || continue 2
        done
        [[ $line =~ ^($may)$ ]] || { printf '%s includes %s\n' "$path" "$line" >&2; bad=1; }
    done < <(grep -EHo '^#include ["<][^">]+[">]' "$folder"/*.[ch])
}

look_at "$testing/model" "$of_library|$of_c" "$testing/model"
look_at "$testing" "$of_library|$of_c|$of_system|$door" "$testing" "$testing/model"
exit "$bad"
