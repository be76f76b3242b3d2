import { type RunningAgent, withAgent } from './agent.ts';
import { type RunningBaseline, withBaseline } from './baseline.ts';
import { alternate, type Benchmark, until } from './benchmark.ts';
import { jobPath, settled, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { Connection, requestBytes } from './load.ts';
import { quiet, residentBytes } from './processes.ts';
import { ask, call, gauges, type Target } from './target.ts';

const count = limits.parkedQueries;
const { connectionsAtOnce, lookAgainMs } = limits.parking;
const id = 'bench-watched';
const expected = '"marker":"after"';

export const parked: Benchmark = {
  name: 'parked',
  title: `${count} parked blocking queries, each on a connection of its own`,
  baseline: 'bare `node:http` that keeps as many requests waiting and then answers them all',
  takesGiven: false,
  async run(setting) {
    const results = await alternate(
      setting,
      () => withAgent(ours),
      () => withBaseline(small, bare),
    );
    const pick = (figure: (run: Parked) => number) => ({
      ours: results.ours.map(figure),
      baseline: results.baseline.map(figure),
    });
    return {
      figures: [
        {
          name: 'resident memory for each query',
          unit: 'KB',
          ...pick(({ bytesEach }) => bytesEach / 1024),
          target: { of: 'median', is: 'at most', value: 20 },
        },
        {
          name: 'answers after a write that concerns none',
          unit: '',
          ours: results.ours.map(({ wokenByOther }) => wokenByOther),
          target: { of: 'median', is: 'at most', value: 0 },
        },
        {
          name: 'a write that concerns all: until its last answer',
          unit: 'ms',
          ...pick(({ lastMs }) => lastMs),
          target: { of: 'median', is: 'at most', value: 1_000 },
        },
      ],
      notes: [
        'Each run has a new process. Memory is the growth of the resident set from before the ' +
          'first connection to when all queries wait and the process is at rest: the connection ' +
          'is part of it on both sides.',
        'All wait for one job. The write that concerns none registers another job, and its ' +
          'evaluation ends before the answers are counted; the one that concerns all changes the ' +
          `job, counted from sending it until ${count} answers with the new version have come.`,
      ],
    };
  },
};

interface Parked {
  readonly bytesEach: number;
  readonly wokenByOther: number;
  readonly lastMs: number;
}

async function ours({ target, pid }: RunningAgent): Promise<Parked> {
  const registered = (marker: string) => {
    const { Job } = smallJob(id, { count: 0 });
    return { Job: { ...Job, Meta: { marker } } };
  };
  await call(target, 'POST', '/v1/jobs', registered('before'));
  await settled(target, id);
  const { index } = await call(target, 'GET', jobPath(id));
  await quiet(pid);
  const before = residentBytes(pid);
  const path = `${jobPath(id)}?index=${index}&wait=600s`;
  const waiting = async () => (await gauges(target)).blocking_queries ?? 0;
  // The agent's own node waits for work.
  const others = await waiting();
  const queries = await park(target, { path, expected, count }, async () => {
    return (await waiting()) - others;
  });
  await quiet(pid);
  const bytesEach = (residentBytes(pid) - before) / count;
  await call(target, 'POST', '/v1/jobs', smallJob('bench-other', { count: 0 }));
  await settled(target, 'bench-other');
  const wokenByOther = queries.answered();
  const startMs = performance.now();
  await call(target, 'POST', '/v1/jobs', registered('after'));
  await queries.all;
  const lastMs = performance.now() - startMs;
  queries.close();
  return { bytesEach, wokenByOther, lastMs };
}

const small = { headers: { 'content-type': 'application/json' }, body: '{"marker":"after"}' };

async function bare({ target, pid }: RunningBaseline): Promise<Parked> {
  await quiet(pid);
  const before = residentBytes(pid);
  const queries = await park(target, { path: '/park', expected, count }, async () => {
    return Number((await ask(target, 'GET', '/parked')).body.toString());
  });
  await quiet(pid);
  const bytesEach = (residentBytes(pid) - before) / count;
  const startMs = performance.now();
  await ask(target, 'POST', '/wake');
  await queries.all;
  const lastMs = performance.now() - startMs;
  queries.close();
  return { bytesEach, wokenByOther: 0, lastMs };
}

interface Queries {
  readonly answered: () => number;
  /** Resolves when every query has its expected answer. */
  readonly all: Promise<unknown>;
  close(): void;
}

interface Parking {
  readonly path: string;
  /** A text in every answer. */
  readonly expected: string;
  readonly count: number;
  /** Queries that wait on each connection, pipelined; the default is one. */
  readonly onEach?: number;
}

/** Resolves when the server reports that all queries wait. */
export async function park(
  target: Target,
  { path, expected, count, onEach = 1 }: Parking,
  waiting: () => Promise<number>,
): Promise<Queries> {
  const request = requestBytes(target, 'GET', path);
  const connections: Connection[] = [];
  const answers: Promise<void>[] = [];
  let answered = 0;
  let failure: unknown;
  const askOn = (connection: Connection) => {
    const answer = connection.send(request).then(({ body }) => {
      answered++;
      if (!body.includes(expected)) throw new Error(`a query woke to something else: ${body}`);
    });
    answer.catch((error) => {
      failure ??= error;
    });
    answers.push(answer);
  };
  const connect = async () => {
    const connection = await Connection.open(target);
    connections.push(connection);
    // At once, since the server closes connections that ask nothing.
    for (let asked = 0; asked < onEach && answers.length < count; asked++) askOn(connection);
  };
  while (answers.length < count) {
    // Opening all at once would measure the system's queue of connections.
    const some = Math.min(connectionsAtOnce, Math.ceil((count - answers.length) / onEach));
    await Promise.all(Array.from({ length: some }, connect));
  }
  const all = Promise.all(answers);
  all.catch(() => {});
  const areWaiting = async () => {
    if (failure !== undefined) throw failure;
    return (await waiting()) >= count ? true : undefined;
  };
  await until(`that ${count} queries wait`, areWaiting, lookAgainMs);
  return {
    answered: () => answered,
    all,
    close() {
      for (const connection of connections) connection.close();
    },
  };
}
