#!/usr/bin/env node
// npm redlock tries a name once. The masters are in REDLOCK_NODES.
//
//     node_redlock_once.mjs NAME
//
// It prints "held", "extended", and "released" when its standard input ends; or "refused" where the
// name is held, and then what came of the release and the extension of a lock that it never had:
// "not released", "not extended". An answer of a master that is no refusal is printed as it is.
import { load, single } from './packages.mjs';

const TTL_MS = 20000;

const packages = load('node_redlock_once');
const { Lock, ExecutionError, ResourceLockedError } = packages;
const [name] = process.argv.slice(2);
if (!name) {
    console.error('node_redlock_once: NAME is needed');
    process.exit(64);
}
const redlock = single(packages);

// The masters' errors, without the one that the name is not its own.
async function others(error) {
    if (!(error instanceof ExecutionError)) return [error];
    const rounds = await Promise.all(error.attempts);
    return rounds.flatMap((round) => [...round.votesAgainst.values()])
        .filter((vote) => !(vote instanceof ResourceLockedError));
}

async function tell(done, not, action) {
    try {
        const what = await action();
        console.log(done);
        return what;
    } catch (error) {
        for (const other of await others(error)) console.log(String(other));
        console.log(not);
        return null;
    }
}

const lock = await tell('held', 'refused', () => redlock.acquire([name], TTL_MS));
const its = () => lock ?? new Lock(redlock, [name], 'of nobody', [], Date.now() + TTL_MS);
const extended = await tell('extended', 'not extended', () => its().extend(TTL_MS));
if (lock) for await (const _ of process.stdin);
await tell('released', 'not released', () => (extended ?? its()).release());
process.exit(0);
