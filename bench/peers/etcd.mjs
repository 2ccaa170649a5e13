// etcd.mjs: etcd through npm etcd3. `default`: its lock(), with a lease of its own for each
// lock; `best`: one lease for the process, one transaction to take, one delete to give back.
import { Etcd3 } from 'etcd3';

export async function open(variant) {
    const client = new Etcd3({ hosts: process.env.PEER_NODES.split(',') });
    const lease = client.lease(10);
    await lease.grant();
    let serial = 0; // a key that came back would be waited for by one that it waits for
    const take = async (name) => {
        if (variant !== 'best') return client.lock(name).ttl(10).acquire();
        const id = await lease.grant();
        const { succeeded } = await client.if(name, 'Create', '==', 0)
            .then(client.put(name).value('').lease(id)).commit();
        if (!succeeded) throw new Error('held');
        return { release: () => client.delete().key(name) };
    };
    // In line, as etcd's own clients wait: the first to write has it; the others watch the key before theirs.
    const wait = async (name) => {
        const id = await lease.grant();
        const key = `${name}/${id}.${serial++}`;
        await client.put(key).value('').lease(id);
        for (;;) {
            const all = Object.keys(
                await client.getAll().prefix(`${name}/`).sort('Create', 'Ascend').strings());
            const before = all[all.indexOf(key) - 1];
            if (!before) return { release: () => client.delete().key(key) };
            const watcher = await client.watch().key(before).create();
            const gone = new Promise((done) => watcher.once('delete', done));
            if (await client.get(before) !== null) await gone;
            await watcher.cancel();
        }
    };
    return { acquire: take, wait, release: (lock) => lock.release(), close: () => lease.revoke() };
}
