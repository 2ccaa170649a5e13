/* What the initialisers say in C, for defaults.cpp. */
#include <redlock/recipes.h>
#include <redlock/sync.h>

extern const redlock_options c_options;
extern const redlock_lease_options c_lease;
extern const redlock_name c_name;
extern const redlock_sync_result c_result;
extern const redlock_campaign_options c_campaign;

const redlock_options c_options = REDLOCK_OPTIONS_INIT;
const redlock_lease_options c_lease = REDLOCK_LEASE_INIT;
const redlock_name c_name = REDLOCK_NAME_INIT;
const redlock_sync_result c_result = REDLOCK_SYNC_RESULT_INIT;
const redlock_campaign_options c_campaign = REDLOCK_CAMPAIGN_INIT;
