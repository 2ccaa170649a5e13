// redis.mjs: connections to the masters of REDLOCK_NODES, as both Redis clients need them.
// `best`: commands of one turn of the event loop go out together.
import { Redis } from 'ioredis';

export async function connect(variant) {
    const nodes = process.env.REDLOCK_NODES.split(/[\s,]+/).filter(Boolean);
    const masters = nodes.map((node) => {
        const master = new Redis(node, { enableAutoPipelining: variant === 'best' });
        master.on('error', () => {});
        return master;
    });
    await Promise.allSettled(masters.map((master) => master.ping()));
    return masters;
}
