#include "listener.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

int listen_anywhere(int backlog, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, backlog) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        abort();
    *port = ntohs(address.sin_port);
    return listener;
}
