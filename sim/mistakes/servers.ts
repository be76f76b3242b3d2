/** Mistakes of followers and of leadership. */
import type { Mistake } from './mistake.ts';

export const ofServers: readonly Mistake[] = [
  {
    name: 'a follower keeps rows that the leader deletes in every fifth commit',
    places: [
      {
        file: 'src/state/replica.ts',
        right: 'table.replace(key, before, after, transaction);',
        wrong:
          'if (after === undefined && index % 5 === 0) continue; table.replace(key, before, after, transaction);',
      },
    ],
    guarantee: 'every server agrees with the log',
    life: { seed: 1, nodes: 3, hours: 0.1, servers: 2 },
  },
  {
    name: 'a follower answers reads before it has caught up',
    places: [
      {
        file: 'src/api/forward.ts',
        right: 'if (ready !== undefined) return ready.then(here).catch(elsewhere);',
        wrong: '',
      },
    ],
    guarantee: 'a read sees every durable write',
    life: { seed: 1, nodes: 10, hours: 0.3, servers: 3 },
  },
  {
    name: 'a follower that hears of the leader counts as one that shows its state',
    places: [
      {
        file: 'src/server/freshness.ts',
        right: 'const reached = this.#told.findLast(({ index }) => index <= shown);',
        wrong: 'const reached = this.#told.at(-1);',
      },
    ],
    guarantee: 'a stale read over etcd tells its age',
    life: { seed: 1, nodes: 3, hours: 0.4, servers: 3, log: 'etcd' },
  },
  {
    name: 'a leader that was asleep tells that its state is the newest',
    places: [
      {
        file: 'src/server/server.ts',
        right: 'return silentMs <= limits.servers.leaderSilentMs ? 0 : silentMs;',
        wrong: 'return 0;',
      },
    ],
    guarantee: 'a stale read over etcd tells its age',
    life: { seed: 1, nodes: 3, hours: 0.4, servers: 3, log: 'etcd' },
  },
  {
    name: 'a heartbeat has no grace after a change of leader',
    places: [
      {
        file: 'src/server/nodes/heartbeats.ts',
        right: 'this.#expectNode(nodeId, limits.node.heartbeatFailoverTtlMs);',
        wrong: 'this.#expectNode(nodeId, limits.node.heartbeatGraceMs);',
      },
    ],
    guarantee: 'a new leader waits for every node',
    life: { seed: 1, nodes: 6, hours: 0.25, servers: 3 },
  },
  {
    name: 'a new leader begins at the time of its own clock',
    places: [
      {
        file: 'src/state/clock.ts',
        right: 'if (timeMs <= this.nowMs()) return;',
        wrong: 'return;',
      },
    ],
    guarantee: 'the time of the log never goes back',
    life: { seed: 1, nodes: 2, hours: 0.3, servers: 3 },
  },
  {
    name: 'the log takes batches of a deposed leader',
    places: [
      {
        file: 'src/state/engine/shared-memory.ts',
        right: '    this.#requireEpoch(epoch);\n    if (expectedIndex !== this.#index)',
        wrong: '    if (expectedIndex > this.#index)',
      },
    ],
    guarantee: 'every server agrees with the log',
    life: { seed: 1, nodes: 3, hours: 0.3, servers: 2 },
  },
  {
    name: 'an append without an answer is settled by a look',
    places: [
      {
        file: 'src/state/engine/etcd/appender.ts',
        right:
          "success: [{ kind: 'put', key: keys.head, value: encodeHead({ ...known, nonce }) }],",
        wrong: 'success: [],',
      },
    ],
    guarantee: 'writes and reads are linearizable',
    life: { seed: 3, nodes: 2, hours: 0.35, servers: 3, log: 'etcd' },
  },
  {
    name: 'an append to etcd compares nothing',
    places: [
      {
        file: 'src/state/engine/etcd/appender.ts',
        right: 'compare: [isHead(keys.head, known)],\n        success: [\n',
        wrong: 'compare: [],\n        success: [\n',
      },
    ],
    guarantee: 'every server agrees with the log',
    life: { seed: 1, nodes: 2, hours: 0.15, servers: 3, log: 'etcd' },
  },
  {
    name: 'the head of the log in etcd is read serializably',
    places: [
      {
        file: 'src/state/engine/etcd/log-reader.ts',
        right: 'await this.#client.range(this.#keys.front);',
        wrong: 'await this.#client.range({ ...this.#keys.front, serializable: true });',
      },
    ],
    guarantee: 'writes and reads are linearizable',
    life: { seed: 1, nodes: 2, hours: 0.5, servers: 3, log: 'etcd' },
  },
  {
    name: 'the pointer to a snapshot is not fenced',
    places: [
      {
        file: 'src/state/engine/etcd/snapshot-store.ts',
        right: 'const compare = [...isTermOf(keys.head, head), ...(change.compare ?? [])];',
        wrong:
          'const compare = change.success[0].key === keys.pointer ? [] : [...isTermOf(keys.head, head), ...(change.compare ?? [])];',
      },
    ],
    guarantee: 'etcd holds a whole state at any time',
    life: { seed: 2, nodes: 5, hours: 0.4, servers: 3, log: 'etcd' },
  },
  {
    name: 'a sweep of chunks is not fenced',
    places: [
      {
        file: 'src/state/engine/etcd/snapshot-store.ts',
        right: 'const compare = [...isTermOf(keys.head, head), ...(change.compare ?? [])];',
        wrong:
          "const compare = change.success[0].kind === 'delete' && change.success[0].key.startsWith(keys.everyChunk.key) ? [] : [...isTermOf(keys.head, head), ...(change.compare ?? [])];",
      },
    ],
    guarantee: 'etcd holds a whole state at any time',
    life: { seed: 3, nodes: 5, hours: 0.12, servers: 3, log: 'etcd' },
  },
  {
    name: 'an older log is followed',
    places: [
      {
        file: 'src/state/engine/etcd/position.ts',
        right: 'const isOlder = head.index < index;',
        wrong: 'const isOlder = false;',
      },
    ],
    guarantee: 'an etcd that came back older is not followed',
    life: { seed: 1, nodes: 2, hours: 0.3, servers: 3, log: 'etcd', recoveries: true },
  },
  {
    name: 'a server without the root key answers',
    places: [
      {
        file: 'src/server/server.ts',
        right:
          'if (this.#outdated !== undefined || !this.keyring.isForeign) return this.#outdated;',
        wrong: 'return this.#outdated;',
      },
    ],
    guarantee: 'a server without the root key is nobody',
    life: { seed: 1, nodes: 2, hours: 0.25, servers: 3, log: 'etcd' },
  },
  {
    name: 'the proof of the root key is not compared',
    places: [
      {
        file: 'src/server/network/handshake.ts',
        right: 'if (this.#options.secrets.equal(proof, this.#proofOf(side))) return true;',
        wrong: 'if (proof) return true;',
      },
    ],
    guarantee: 'a server without the root key is nobody',
    life: { seed: 1, nodes: 2, hours: 0.25, servers: 3, log: 'etcd' },
  },
  {
    name: 'the versions of tables rise to those that some server reads',
    places: [
      {
        file: 'src/server/upgrade/versions.ts',
        right: 'const least = Math.min(version, ...versions);',
        wrong: 'const least = Math.max(version, ...versions);',
      },
    ],
    guarantee: 'every server reads what is written',
    life: { seed: 1, nodes: 2, hours: 0.25, servers: 3, log: 'etcd' },
  },
  {
    name: 'a size that etcd no longer tells stays as it was',
    places: [
      {
        file: 'src/state/engine/etcd/health.ts',
        right: 'const members = (await this.#answerOf(() => this.#client.status())) ?? [];',
        wrong:
          'const { status: last } = this.#health;\n    const members = (await this.#answerOf(() => this.#client.status())) ?? (last ? [last] : []);',
      },
    ],
    guarantee: 'a size that etcd does not tell is unknown',
    life: { seed: 1, nodes: 2, hours: 0.25, servers: 3, log: 'etcd' },
  },
  {
    name: 'an etcd that denies its size counts as a log that fails',
    places: [
      {
        file: 'src/state/engine/etcd/health.ts',
        right: 'if (!(error instanceof EtcdError)) throw error;',
        wrong: "if (!(error instanceof EtcdError) || error.kind === 'denied') throw error;",
      },
    ],
    guarantee: 'no logged error is unexpected',
    life: { seed: 1, nodes: 2, hours: 0.25, servers: 3, log: 'etcd' },
  },
];
