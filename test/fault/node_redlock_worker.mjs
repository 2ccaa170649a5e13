#!/usr/bin/env node
// A worker of a chaos run with npm redlock on ioredis. Its command line is that of every worker
// (worker/terms.c), its facts are those of worker/worker.h. Exit status 77, and a line that says
// why, if packages.mjs does not find the packages.
import { execFileSync } from 'node:child_process';
import { constants, openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from './packages.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const RETRY_MS = [10, 50], COMMAND_MS = 100, USAGE_MS = 1000, REST_MOST_MS = 4, STEP_MS = 20;
const LEAVE_EARLY = 0.1, ACTS_PER_TTL = 10, LONG_TTLS = 1.5;

const { default: Redlock, ResourceLockedError, Redis } = load('node_redlock_worker');

// ---- The command line ----

function misuse(why) {
    console.error(`node_redlock_worker: ${why}`);
    process.exit(64);
}

function parse() {
    const needed = { type: 'string' };
    const standard = (value) => ({ type: 'string', default: value });
    try {
        return parseArgs({
            allowPositionals: true,
            options: { record: needed, label: needed, seconds: needed, seed: needed,
                       ttl: standard('1000'), wait: standard('2000'), 'max-ttl': standard('1000'),
                       skew: standard('50'), spare: standard('0'), hold: standard('1000'),
                       'long-every': standard('0'), readers: standard('0'), tries: standard('0'),
                       unfenced: standard('0') },
        });
    } catch (error) {
        return misuse(error.message);
    }
}
const { values: given, positionals: names } = parse();
// Not arguments, which everybody sees: there are passwords in them.
const { REDLOCK_NODES: nodes, REDLOCK_CHAOS_REGISTER: registerAt } = process.env;
const ttl = Number(given.ttl);
if (!nodes || !given.record || !given.label || !Number(given.seconds) || !names.length)
    misuse('REDLOCK_NODES, --record, --label, --seconds and a name are needed');
if (!(ttl > 0 && ttl <= Number(given['max-ttl'])))
    misuse('--ttl must be above 0, and not above --max-ttl');

// ---- Moments, chance, the record ----

// Node reads CLOCK_MONOTONIC, the others CLOCK_BOOTTIME; they differ by the time in suspend.
const AHEAD_US = BigInt(execFileSync('python3', ['-c', `from time import *
print((clock_gettime_ns(CLOCK_BOOTTIME) - clock_gettime_ns(CLOCK_MONOTONIC)) // 1000)`]));
const nowUs = () => Number(process.hrtime.bigint() / 1000n + AHEAD_US);

let state = (Number(given.seed) | 0) || 1;
function random(low, high) { // xorshift
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return low + (high - low) * (state >>> 0) / 2 ** 32;
}

const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;
const file = openSync(given.record, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600);
let lines = 0;
function putAt(at, fact, ...words) {
    writeSync(file, `${[at, fact, ...words].join(' ')}\n`);
    lines++;
}
const put = (fact, ...words) => putAt(nowUs(), fact, ...words);

function putUsage() {
    const rss = /VmRSS:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'ascii'))[1];
    put('usage', rss, readdirSync('/proc/self/fd').length - 1);
}

let ending = false;
async function sleep(ms) {
    const end = nowUs() + ms * 1000;
    for (let left = ms; !ending && left > 0; left = (end - nowUs()) / 1000)
        await new Promise((done) => setTimeout(done, Math.min(left, STEP_MS)));
}

// ---- Masters and the register ----

function connect(uri) {
    const server = new Redis(uri, { commandTimeout: COMMAND_MS, connectTimeout: 1000,
                                    maxRetriesPerRequest: 0, retryStrategy: () => 50 });
    server.on('error', () => {});
    return server;
}
const masters = nodes.split(',').map(connect);
const register = registerAt && connect(`redis://${registerAt}`);
const SCRIPT = readFileSync(join(HERE, 'register.lua'), 'ascii');
const redlock = new Redlock(masters, { retryCount: 0 });
redlock.on('error', () => {});

async function write(name, number) {
    try {
        return await register.eval(SCRIPT, 2, 'register', 'register:fences', name, 0, given.label,
                                   number, 'write');
    } catch {
        return null; // a register that does not answer holds up nothing for long
    }
}

// Why a round won no quorum, from what the masters said; `found` if they hold it for others.
async function reason(error, found) {
    const rounds = await Promise.all(error.attempts ?? []);
    const { quorumSize = 1, votesFor = new Set(), votesAgainst = new Map() } = rounds.at(-1) ?? {};
    const refused = [...votesAgainst.values()].filter((one) => one instanceof ResourceLockedError);
    return refused.length + votesFor.size >= quorumSize ? found : 'REDLOCK_E_UNAVAILABLE';
}

// ---- Its life ----

async function acquire(name) {
    const end = nowUs() + Number(given.wait) * 1000;
    for (;;) {
        try {
            return { lock: await redlock.acquire([name], ttl) };
        } catch (error) {
            if (ending || nowUs() >= end) return { code: await reason(error, 'REDLOCK_E_HELD') };
            await sleep(random(...RETRY_MS));
        }
    }
}

// When validity ends, from the moment that was read before; redlock knows wall clocks only.
const until = (now, lock) => now + Math.max(0, lock.expiration - Date.now()) * 1000;

async function act(name, number, lock) {
    const now = nowUs(), valid = until(now, lock);
    if (valid <= now) {
        put('refrained', name, number);
        return false;
    }
    putAt(now, 'act', name, number, valid);
    const verdict = register && await write(name, number);
    if (verdict) put('acted', name, number, verdict);
    return true;
}

async function hold(name, number, lock) {
    const every = Number(given['long-every']), now = nowUs();
    const isLong = every && random(0, every) < 1;
    const us = isLong ? LONG_TTLS * ttl * 1000 : random(0, 2 * Number(given.hold));
    const leaveAt = Math.min(now + us, until(now, lock) - LEAVE_EARLY * ttl * 1000);
    while (await act(name, number, lock) && !ending && nowUs() < leaveAt)
        await sleep(Math.min((leaveAt - nowUs()) / 1000, ttl / ACTS_PER_TTL));
}

async function giveBack(lock) {
    try {
        await lock.release();
        return 'REDLOCK_OK';
    } catch (error) {
        return reason(error, 'REDLOCK_E_GONE');
    }
}

async function takeTurn(name, number) {
    put('attempt', name, number);
    const { lock, code } = await acquire(name);
    if (!lock) {
        put('failed', name, number, code);
        return false;
    }
    let now = nowUs();
    putAt(now, 'acquired', name, number, until(now, lock), lock.value, 0);
    await hold(name, number, lock);
    now = nowUs();
    putAt(now, 'releasing', name, number, until(now, lock));
    put('released', name, number, await giveBack(lock));
    return true;
}

process.on('SIGTERM', () => { ending = true; });
put('begin', 'node-redlock', process.pid);
const timers = [setTimeout(() => { ending = true; }, Number(given.seconds) * 1000),
                setInterval(putUsage, USAGE_MS)];
let number = 0, acquired = 0;
while (!ending) {
    const got = await takeTurn(names[Math.floor(random(0, names.length))], ++number);
    acquired += got;
    await sleep(random(0, got ? REST_MOST_MS : 5 * REST_MOST_MS));
}
timers.forEach(clearTimeout);
put('end', lines, acquired, number, 0);
process.exit(0);
