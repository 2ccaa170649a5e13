// redis-semaphore.mjs: its RedlockMutex. `default` as it comes, renewing itself; `best` with
// pipelining, and without the timer of the renewal.
import { RedlockMutex } from 'redis-semaphore';
import { connect } from './redis.mjs';

export async function open(variant) {
    const masters = await connect(variant);
    const options = variant === 'best' ? { refreshInterval: 0 } : {};
    const take = async (name, more) => {
        const mutex = new RedlockMutex(masters, name, { ...options, ...more });
        await mutex.acquire();
        return mutex;
    };
    return {
        acquire: (name) => take(name, {}),
        wait: (name) => take(name, { acquireTimeout: 3600000 }),
        release: (mutex) => mutex.release(),
    };
}
