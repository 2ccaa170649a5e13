// node-redlock.mjs: npm redlock (Mike Marcacci). `default` as it comes; `best` with pipelining.
import { createRequire } from 'node:module';
import { connect } from './redis.mjs';

const { default: Redlock } = createRequire(import.meta.url)('redlock');

export async function open(variant) {
    const masters = await connect(variant);
    const once = new Redlock(masters);
    const forever = new Redlock(masters, { retryCount: -1 });
    once.on('error', () => {});
    forever.on('error', () => {});
    return {
        acquire: (name) => once.acquire([name], 10000),
        wait: (name) => forever.acquire([name], 10000),
        release: (lock) => lock.release(),
    };
}
