#include "namespaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEVICE  "bench0"
#define PACKETS 20000 /* that wait for the router */

static struct ifreq named(const char *device)
{
    struct ifreq wish = {0};
    snprintf(wish.ifr_name, sizeof wish.ifr_name, "%s", device);
    return wish;
}

static struct sockaddr address(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr general;
    inet_pton(AF_INET, text, &in.sin_addr);
    memcpy(&general, &in, sizeof general);
    return general;
}

static int set_up(int control, const char *device)
{
    struct ifreq wish = named(device);
    if (ioctl(control, SIOCGIFFLAGS, &wish))
        return -1;
    wish.ifr_flags |= IFF_UP;
    return ioctl(control, SIOCSIFFLAGS, &wish);
}

/* All other places are behind the device. */
static int configure(int control, const char *own)
{
    struct ifreq wish = named(DEVICE);
    wish.ifr_addr = address(own);
    if (ioctl(control, SIOCSIFADDR, &wish))
        return -1;
    wish.ifr_netmask = address("255.255.0.0");
    if (ioctl(control, SIOCSIFNETMASK, &wish))
        return -1;
    wish.ifr_qlen = PACKETS;
    if (ioctl(control, SIOCSIFTXQLEN, &wish))
        return -1;
    return set_up(control, DEVICE) || set_up(control, "lo") ? -1 : 0;
}

static const char *make_device(struct place *place, unsigned number)
{
    struct ifreq wish = named(DEVICE);
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(place->address, sizeof place->address, "10.99.%hhu.1", (unsigned char)number);
    wish.ifr_flags = IFF_TUN | IFF_NO_PI;
    place->device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (control < 0 || place->device < 0)
        return "/dev/net/tun";
    if (ioctl(place->device, TUNSETIFF, &wish))
        return "a device";
    int failed = configure(control, place->address);
    close(control);
    return failed ? "its address" : NULL;
}

/* Root of a namespace of its own may do all that is done here. */
static int become_root(void)
{
    char map[64];
    unsigned user = geteuid();
    if (unshare(CLONE_NEWUSER))
        return -1;
    int length = snprintf(map, sizeof map, "0 %u 1", user);
    int file = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    int done = file >= 0 && write(file, map, (size_t)length) == length;
    close(file);
    return done ? 0 : -1;
}

const char *namespaces_make(struct place *places, unsigned count)
{
    if (unshare(CLONE_NEWNET) && (errno != EPERM || become_root() || unshare(CLONE_NEWNET)))
        return "a network namespace";
    for (unsigned i = 0; i < count; i++) {
        if (i > 0 && unshare(CLONE_NEWNET))
            return "a network namespace";
        places[i].space = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        if (places[i].space < 0)
            return "/proc/self/ns/net";
        const char *failed = make_device(&places[i], i);
        if (failed)
            return failed;
    }
    return NULL;
}
