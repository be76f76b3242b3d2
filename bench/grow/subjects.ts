/** The things whose number grows, each added to a running agent. */
import { until } from '../benchmark.ts';
import { drained, jobPath, joinPaperFleet, paperDatacenter, settled, smallJob } from '../jobs.ts';
import { limits } from '../limits.ts';
import { requestBytes, sendAll } from '../load.ts';
import { park } from '../parked.ts';
import { startPeer } from '../peering.ts';
import { ask, call, gauges, type Target } from '../target.ts';

const { nodesOfAllocations, instances } = limits.grow;

/** Agent in which something has grown. */
export interface Grown {
  /** Adds `more` jobs, allocations, nodes, watches or peers. */
  add(more: number): Promise<void>;
  /** Resolves when all is as before a restart of the agent at the same address. */
  recover(): Promise<void>;
  close(): void;
}

export interface Subject {
  readonly name: string;
  readonly sizes: readonly number[];
  /** Whether a write has its job placed on nodes of paper. */
  readonly isPlaced: boolean;
  start(target: Target): Promise<Grown>;
}

const none = async () => {};

const register = (target: Target, from: number, more: number, count: number) =>
  sendAll(target, more, (number) => {
    const job = smallJob(`grow-${from + number}`, { count, datacenter: paperDatacenter });
    return requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(job));
  });

export const subjects: readonly Subject[] = [
  {
    name: 'jobs',
    sizes: [10, 100, 1_000, 10_000],
    isPlaced: false,
    async start(target) {
      let jobs = 0;
      return {
        async add(more) {
          await register(target, jobs, more, 0);
          jobs += more;
          await drained(target);
        },
        recover: none,
        close: () => {},
      };
    },
  },
  {
    name: 'allocations',
    sizes: [100, 1_000, 10_000, 100_000],
    isPlaced: true,
    async start(target) {
      const fleet = await joinPaperFleet(target, { nodes: nodesOfAllocations, jobsEach: 1_000 });
      let jobs = 0;
      return {
        async add(more) {
          await register(target, jobs, more / instances, instances);
          jobs += more / instances;
          await drained(target);
        },
        recover: none,
        close: fleet.leave,
      };
    },
  },
  {
    name: 'nodes',
    sizes: [5, 50, 500, 5_000],
    isPlaced: true,
    async start(target) {
      const left: (() => void)[] = [];
      return {
        async add(more) {
          const fleet = await joinPaperFleet(target, { nodes: more, jobsEach: 1_000 });
          left.push(fleet.leave);
        },
        recover: none,
        close: () => {
          for (const leave of left) leave();
        },
      };
    },
  },
  {
    name: 'watches',
    sizes: [10, 100, 1_000, 10_000],
    isPlaced: false,
    async start(target) {
      await call(target, 'POST', '/v1/jobs', smallJob('watched', { count: 0 }));
      await settled(target, 'watched');
      const parked: Awaited<ReturnType<typeof park>>[] = [];
      let count = 0;
      const waiting = async () => (await gauges(target)).blocking_queries ?? 0;
      const others = await waiting();
      const add = async (more: number) => {
        const { index } = await call(target, 'GET', jobPath('watched'));
        const path = `${jobPath('watched')}?index=${index}&wait=600s`;
        const before = count;
        const asked = { path, expected: 'watched', count: more };
        parked.push(await park(target, asked, async () => (await waiting()) - others - before));
        count += more;
      };
      const close = () => {
        for (const queries of parked.splice(0)) queries.close();
      };
      return {
        add,
        async recover() {
          const all = count;
          close();
          count = 0;
          await add(all);
        },
        close,
      };
    },
  },
  {
    name: 'peers',
    sizes: [1, 10, 100, 1_000],
    isPlaced: false,
    async start(target) {
      const peers: Awaited<ReturnType<typeof startPeer>>[] = [];
      const areOpen = () =>
        until('that all streams are open', async () =>
          (await gauges(target))['peerings ACTIVE'] === peers.length ? true : undefined,
        ).then(() => {});
      return {
        async add(more) {
          for (const last = peers.length + more; peers.length < last; ) {
            const asked = { PeerName: `peer-${peers.length}` };
            const path = '/v1/peering/token';
            const { value } = await call<{ PeeringToken: string }>(target, 'POST', path, asked);
            const peer = await startPeer();
            peers.push(peer);
            await peer.peerings.establish('default', { PeerName: 'server', ...value });
          }
          await areOpen();
        },
        recover: areOpen,
        close: () => {
          for (const peer of peers) peer.stop();
        },
      };
    },
  },
];

/** Requests whose times are told, by name. */
export const requests: Readonly<
  Record<string, (target: Target, subject: Subject, number: number) => Promise<unknown>>
> = {
  'read of a job': (target) => answered(target, 'GET', jobPath('grow-read')),
  'page of 100 jobs': (target) => answered(target, 'GET', '/v1/jobs?per_page=100'),
  'write of a job, to its last evaluation': async (target, { isPlaced }, number) => {
    const count = isPlaced ? 10 : 0;
    const id = `grow-write-${number}`;
    const job = smallJob(id, { count, datacenter: paperDatacenter });
    await answered(target, 'POST', '/v1/jobs', job);
    await settled(target, id);
  },
};

async function answered(target: Target, method: string, path: string, body?: unknown) {
  const reply = await ask(target, method, path, body);
  if (reply.status !== 200) throw new Error(`${method} ${path} was answered with ${reply.status}`);
}
