// driver.mjs: measures a client of another library as redlock-bench measures ours.
//
//     node driver.mjs PEER VARIANT [-c N] [--warm S]    a slice for each line of standard input
//     node driver.mjs PEER VARIANT --worker             a worker of `redlock-bench handoff`
//
// PEER: redis clients take their masters from REDLOCK_NODES, the others from PEER_NODES.
import { createInterface } from 'node:readline';

const [peer, variant, ...rest] = process.argv.slice(2);
const option = (name, standard) => {
    const at = rest.indexOf(name);
    return at < 0 ? standard : Number(rest[at + 1]);
};
const concurrency = option('-c', 1);
const warm = option('--warm', 0.1);
const HOLD_MS = option('--hold', 10), REST_MS = option('--rest', 10);

const now = () => Number(process.hrtime.bigint());
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// Buckets of 1.6 %, named by their least value.
class Histogram {
    buckets = new Map();
    add(ns) {
        const power = Math.max(0, 31 - Math.clz32(Math.min(ns, 0x7fffffff)) - 6);
        const floor = Math.floor(ns / 2 ** power) * 2 ** power;
        this.buckets.set(floor, (this.buckets.get(floor) ?? 0) + 1);
    }
    list() {
        return [...this.buckets].sort((a, b) => a[0] - b[0]);
    }
}

let serial = 0;
const names = `peer:${process.pid}:${Date.now().toString(36)}:`.padEnd(24, '.');

async function slots(client, slice) {
    while (!slice.over) {
        const name = names + String(serial++).padStart(8, '0');
        const since = now();
        try {
            const lease = await client.acquire(name);
            const asked = now();
            if (slice.counts) slice.acquire.add(asked - since);
            await client.release(lease);
            if (!slice.counts) continue;
            slice.release.add(now() - asked);
            slice.pairs++;
        } catch (error) {
            if (slice.counts) slice.failed++;
            slice.note ||= String(error.message ?? error).slice(0, 200);
            await sleep(1);
        }
    }
}

async function runSlice(client, seconds) {
    const slice = { over: false, counts: false, pairs: 0, failed: 0, note: '',
                    acquire: new Histogram(), release: new Histogram() };
    const running = Array.from({ length: concurrency }, () => slots(client, slice));
    await sleep(warm * 1000);
    const cpu = process.cpuUsage(), started = now();
    slice.counts = true;
    await sleep(seconds * 1000);
    slice.counts = false;
    const used = process.cpuUsage(cpu), elapsed = (now() - started) / 1e9;
    slice.over = true;
    await Promise.race([Promise.all(running), sleep(5000)]);
    const perPair = (us) => (slice.pairs ? us / slice.pairs : 0);
    return { scenario: 'pairs', client: peer, variant, c: concurrency, seconds: elapsed,
             pairs: slice.pairs, failed: slice.failed, pairs_per_s: slice.pairs / elapsed,
             cpu_us_per_pair: perPair(used.user + used.system),
             user_us_per_pair: perPair(used.user), system_us_per_pair: perPair(used.system),
             note: slice.note, acquire_histogram_ns: slice.acquire.list(),
             release_histogram_ns: slice.release.list() };
}

async function slices(client) {
    console.log(JSON.stringify({ ready: true }));
    for await (const line of createInterface({ input: process.stdin }))
        console.log(JSON.stringify(await runSlice(client, Number(line) || 0.8)));
}

async function worker(client) {
    let ending = false, holding = false;
    process.on('SIGTERM', () => {
        ending = true;
        if (!holding) leave(client);
    });
    process.on('SIGINT', () => {});
    while (!ending) {
        const asked = now();
        try {
            const lease = await client.wait('bench-handoff');
            holding = true;
            const acquired = now();
            await sleep(HOLD_MS);
            const released = now();
            await client.release(lease);
            console.log(asked, acquired, released);
        } catch {
            // Its retries are over, or its lock was not there any more: again.
        }
        holding = false;
        await sleep(REST_MS * (0.5 + Math.random()));
    }
    await leave(client);
}

// Gives back the lock that it waits with, or the next run waits for that.
async function leave(client) {
    await Promise.race([client.close?.(), sleep(500)]);
    process.exit(0);
}

process.on('unhandledRejection', () => {});
const { open } = await import(`./${peer}.mjs`);
const client = await open(variant);
if (rest.includes('--worker')) await worker(client);
else await slices(client);
process.exit(0);
