// packages.mjs: npm redlock and ioredis, for processes that contend with ours. REDLOCK_NODE_MODULES
// names the folder of the packages; the default is node_modules here, or what test/run and
// bench/run have installed.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const FOLDERS = [process.env.REDLOCK_NODE_MODULES, join(HERE, 'node_modules'),
                 join(HERE, '../../build/bench-peers/node_modules')];

// Ends the process with status 77, and a line that says why, if they are not there.
export function load(who) {
    const folder = FOLDERS.find((each) => each && existsSync(join(each, 'redlock')));
    if (!folder) {
        console.error(`${who}: skipped: the npm package redlock is not installed`);
        process.exit(77);
    }
    const require = createRequire(join(folder, '..', 'worker.js'));
    return { ...require('redlock'), Redis: require('ioredis').Redis };
}

// A client of the masters in REDLOCK_NODES that tries once.
export function single({ default: Redlock, Redis }) {
    const masters = process.env.REDLOCK_NODES.split(',').map((node) => new Redis(node));
    const redlock = new Redlock(masters, { retryCount: 0 });
    redlock.on('error', () => {}); // each refusal is one
    return redlock;
}
