/**
 * Hard use of an agent: jobs that are updated, scaled, stopped, purged and created anew, batch
 * jobs, garbage collections, and meanwhile readers that wait for changes and follow events and
 * logs.
 */
import type { Target } from '../../bench/target.ts';
import { type Choices, choicesOf } from '../support/random.ts';
import { Visitor } from './visitor.ts';

export interface ChurnOptions {
  readonly target: Target;
  readonly seed: number;
  readonly jobs: number;
  /** The driver of the tasks. */
  readonly driver: string;
}

export interface Churn {
  /** Updates of jobs so far. */
  readonly updates: () => number;
  /** Rejects as soon as the agent gives a wrong answer. */
  readonly broken: Promise<never>;
  /** Ends all use of the agent. */
  readonly end: () => Promise<void>;
}

const pauseMs = 100;
/**
 * The time between changes of one job: long enough to clear away ended allocations, even on a busy
 * machine.
 */
const changeEveryMs = 2_500;
const waitPaths = ['/v1/jobs', '/v1/allocations', '/v1/evaluations', '/v1/services', '/v1/nodes'];

export function startChurn({ target, seed, jobs, driver }: ChurnOptions): Churn {
  const visitor = new Visitor(target);
  const choices = choicesOf(seed);
  let updates = 0;
  const work = Array.from({ length: jobs }, (_, number) =>
    changeJob({ visitor, choices, id: `soak-${number}`, driver, updated: () => updates++ }),
  );
  const watches = [
    ...waitPaths.map((path) => waitForChanges(visitor, path)),
    ...Array.from({ length: 2 }, () => followEvents(visitor)),
    ...Array.from({ length: jobs }, (_, number) => followLogs(visitor, `soak-${number}`)),
    collect(visitor),
  ];
  const all = Promise.all([...work, ...watches]);
  const broken = all.then(() => new Promise<never>(() => {}));
  broken.catch(() => {});
  return {
    updates: () => updates,
    broken,
    async end() {
      visitor.leave();
      await all;
      await clear(target);
    },
  };
}

interface Work {
  readonly visitor: Visitor;
  readonly choices: Choices;
  readonly id: string;
  readonly driver: string;
  readonly updated: () => void;
}

async function changeJob({ visitor, choices, id, driver, updated }: Work): Promise<void> {
  await untilLeft(visitor, async () => {
    const chance = choices.fraction();
    if (chance < 0.1) await good(visitor, 'DELETE', `/v1/job/${id}?purge=true`, [404]);
    else if (chance < 0.15) await good(visitor, 'DELETE', `/v1/job/${id}`, [404]);
    const count = 1 + choices.below(3);
    const greeting = choices.below(10);
    await good(visitor, 'POST', '/v1/jobs', { Job: job(id, { count, greeting, driver }) });
    updated();
    await settled(visitor, id);
    await pause(changeEveryMs);
  });
}

/**
 * Its task prints a greeting, and then waits for its end. Another greeting makes another version.
 */
function job(id: string, wish: { count: number; greeting: number; driver: string }) {
  const { count, greeting, driver } = wish;
  const script = `for line in 1 2 3 4 5; do echo greeting ${greeting}, line $line; done; exec sleep 600`;
  return {
    ID: id,
    Type: 'service',
    TaskGroups: [
      {
        Name: 'group',
        Count: count,
        EphemeralDisk: { SizeMB: 10 },
        Services: [{ Name: id, Address: '127.0.0.1' }],
        Tasks: [
          {
            Name: 'task',
            Driver: driver,
            Config: { command: '/bin/sh', args: ['-c', script] },
            Templates: [{ EmbeddedTmpl: `greeting ${greeting}\n`, DestPath: 'local/greeting' }],
            LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
            Resources: { CPU: 1, MemoryMB: 20 },
            KillTimeout: 1e9,
          },
        ],
      },
    ],
  };
}

/** Resolves when every evaluation of the job is decided. */
async function settled(visitor: Visitor, id: string): Promise<void> {
  for (let index = 0; ; ) {
    const path = `/v1/job/${id}/evaluations?index=${index}&wait=5s`;
    const answer = await visitor.ask('GET', path);
    const rows = JSON.parse(answer.text) as readonly { readonly Status: string }[];
    if (rows.every(({ Status }) => Status !== 'pending')) return;
    index = answer.index;
  }
}

const waitForChanges = (visitor: Visitor, path: string): Promise<void> => {
  let index = 1;
  return untilLeft(visitor, async () => {
    const answer = await visitor.ask('GET', `${path}?index=${index}&wait=30s&per_page=100`);
    index = Math.max(answer.index, 1);
  });
};

/** Follows events with readers that leave now and then. */
const followEvents = (visitor: Visitor): Promise<void> =>
  untilLeft(visitor, async () => {
    let parts = 0;
    await visitor.follow('/v1/event/stream', () => ++parts > 200);
  });

const followLogs = (visitor: Visitor, id: string): Promise<void> =>
  untilLeft(visitor, async () => {
    const { status, text } = await visitor.ask('GET', `/v1/job/${id}/allocations`);
    const rows = status === 200 ? (JSON.parse(text) as readonly Row[]) : [];
    const running = rows.find(({ ClientStatus }) => ClientStatus === 'running');
    if (running !== undefined) {
      await visitor.follow(`/v1/client/fs/logs/${running.ID}?task=task&follow=true&plain=true`);
    }
    await pause();
  });

interface Row {
  readonly ID: string;
  readonly ClientStatus: string;
}

const collectEveryMs = 15_000;
const collectionsMost = 60;

const collect = async (visitor: Visitor): Promise<void> => {
  let lastMs = performance.now();
  await untilLeft(visitor, async () => {
    await pause();
    if (performance.now() - lastMs < collectEveryMs) return;
    lastMs = performance.now();
    await good(visitor, 'PUT', '/v1/system/gc');
  });
};

/** Ends all jobs, and makes server and node remove everything that is over, with its files. */
async function clear(target: Target): Promise<void> {
  const visitor = new Visitor(target);
  const { text } = await visitor.ask('GET', '/v1/jobs');
  for (const { ID } of JSON.parse(text) as readonly { readonly ID: string }[]) {
    await good(visitor, 'DELETE', `/v1/job/${encodeURIComponent(ID)}?purge=true`, [404]);
  }
  for (let index = 0; ; ) {
    const answer = await visitor.ask('GET', `/v1/allocations?index=${index}&wait=5s`);
    const rows = JSON.parse(answer.text) as readonly Row[];
    if (
      rows.every(({ ClientStatus }) => ClientStatus !== 'running' && ClientStatus !== 'pending')
    ) {
      break;
    }
    index = answer.index;
  }
  // An evaluation that is being decided cannot be collected yet.
  for (let look = 0; look < collectionsMost; look++) {
    await good(visitor, 'PUT', '/v1/system/gc');
    // Without this the node keeps the newest allocations that are over. On a busy machine it may be away for a moment.
    const isNodeThere = (await good(visitor, 'GET', '/v1/client/gc', [503])) === 200;
    const { text: left } = await visitor.ask('GET', '/v1/allocations');
    if (isNodeThere && (JSON.parse(left) as readonly Row[]).length === 0) break;
    await pause(1_000);
  }
  visitor.leave();
}

async function good(
  visitor: Visitor,
  method: string,
  path: string,
  bodyOrAllowed?: object | readonly number[],
): Promise<number> {
  const isList = Array.isArray(bodyOrAllowed);
  const { status, text } = await visitor.ask(method, path, isList ? undefined : bodyOrAllowed);
  const allowed = isList ? (bodyOrAllowed as readonly number[]) : [];
  if (status === 200 || allowed.includes(status)) return status;
  throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
}

/** Repeats `turn` until the visitor leaves; an error caused by leaving is no fault. */
async function untilLeft(visitor: Visitor, turn: () => Promise<void>): Promise<void> {
  while (!visitor.hasLeft) {
    try {
      await turn();
    } catch (error) {
      if (!visitor.hasLeft) throw error;
    }
  }
}

const pause = (ms = pauseMs): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
