// zookeeper.mjs: ZooKeeper through npm node-zookeeper-client. `default`: the recipe of its
// documentation, an ephemeral sequential node below the lock's own; `best`: one ephemeral node.
import { promisify } from 'node:util';
import zookeeper from 'node-zookeeper-client';

const { CreateMode, Event, Exception } = zookeeper;
const ROOT = '/redlock-bench';

export async function open(variant) {
    const client = zookeeper.createClient(process.env.PEER_NODES);
    await new Promise((done) => { client.once('connected', done); client.connect(); });
    const make = promisify((path, mode, then) => client.create(path, Buffer.alloc(0), mode, then));
    const remove = promisify((path, then) => client.remove(path, -1, then));
    const children = promisify((path, then) => client.getChildren(path, then));
    const present = (path, watcher) => new Promise((done, fail) =>
        client.exists(path, watcher, (error, stat) => (error ? fail(error) : done(stat))));
    const makeOnce = (path) => make(path, CreateMode.PERSISTENT).catch((error) => {
        if (error.getCode?.() !== Exception.NODE_EXISTS) throw error;
    });
    await makeOnce(ROOT);

    // In line: the lowest number has it; the others watch the number before theirs.
    const line = async (name, wait) => {
        const folder = `${ROOT}/${name}`;
        await makeOnce(folder);
        const path = await make(`${folder}/n-`, CreateMode.EPHEMERAL_SEQUENTIAL);
        for (;;) {
            const all = (await children(folder)).sort();
            const at = all.indexOf(path.slice(folder.length + 1));
            if (at === 0) return { path, folder: wait ? null : folder };
            if (!wait) throw new Error('held');
            await new Promise((done, fail) => {
                const told = (event) => event.getType() === Event.NODE_DELETED && done();
                present(`${folder}/${all[at - 1]}`, told)
                    .then((stat) => stat || done(), fail);
            });
        }
    };
    const once = async (name) => {
        const path = await make(`${ROOT}/${name}`, CreateMode.EPHEMERAL);
        return { path, folder: null };
    };
    return {
        acquire: (name) => (variant === 'best' ? once(name) : line(name, false)),
        wait: (name) => line(name, true),
        release: async (lock) => {
            await remove(lock.path);
            if (lock.folder) await remove(lock.folder);
        },
        close: () => client.close(),
    };
}
