/* What the initialisers say in C++ is what they say in C. */
#include <redlock/recipes.h>
#include <redlock/sync.h>
#include <cstring>

extern "C" {
extern const redlock_options c_options;
extern const redlock_lease_options c_lease;
extern const redlock_name c_name;
extern const redlock_sync_result c_result;
extern const redlock_campaign_options c_campaign;
}

static const redlock_options global = REDLOCK_OPTIONS_INIT;

template <class T> static bool same(const T &one, const T &other)
{
    return std::memcmp(&one, &other, sizeof one) == 0;
}

int main()
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lease_options lease = REDLOCK_LEASE_INIT;
    redlock_name name = REDLOCK_NAME_INIT;
    redlock_sync_result result = REDLOCK_SYNC_RESULT_INIT;
    redlock_campaign_options campaign = REDLOCK_CAMPAIGN_INIT;
    bool right = same(options, c_options) && same(lease, c_lease) && same(result, c_result);
    right = right && same(campaign, c_campaign) && name.bytes == c_name.bytes && name.length == c_name.length &&
            name.shared == c_name.shared;
    return right && same(global, c_options) ? 0 : 1;
}
