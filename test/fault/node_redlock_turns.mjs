#!/usr/bin/env node
// npm redlock takes turns at a name until it is killed: it holds the name for 200 ms, and tries
// again each 50 to 150 ms. (In a loop of its own: the retries of the package keep what a failed
// try was given until its ttl is over.) The masters are in REDLOCK_NODES.
//
//     node_redlock_turns.mjs NAME FILE
//
// It prints "turn" for each turn, and "two" if FILE is there, which each holder makes and removes.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { load, single } from './packages.mjs';

const TTL_MS = 5000, HOLD_MS = 200, PAUSE_MS = 50, JITTER_MS = 100;

const packages = load('node_redlock_turns');
const [name, inside] = process.argv.slice(2);
if (!inside) {
    console.error('node_redlock_turns: NAME and FILE are needed');
    process.exit(64);
}
const redlock = single(packages);

function enter() {
    try {
        closeSync(openSync(inside, 'wx'));
    } catch {
        writeSync(1, 'two\n');
    }
}

async function hold() {
    enter();
    await sleep(HOLD_MS);
    rmSync(inside, { force: true });
    writeSync(1, 'turn\n');
}

for (;;) {
    const lock = await redlock.acquire([name], TTL_MS).catch(() => null);
    if (lock) {
        await hold();
        await lock.release().catch(() => {}); // its ttl ends it
    }
    await sleep(PAUSE_MS + JITTER_MS * Math.random());
}
