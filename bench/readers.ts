import { type RunningAgent, rosterCommand, withAgent } from './agent.ts';
import { alternate, type Benchmark } from './benchmark.ts';
import { jobPath, settled, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { Connection, requestBytes, sendAll } from './load.ts';
import { pace } from './pace.ts';
import { park } from './parked.ts';
import { descriptorsMax, mainThreadMs, quiet, residentBytes, usedMs } from './processes.ts';
import { exampleJob } from './read-job.ts';
import { percentile } from './statistics.ts';
import { call, gauges, type Target } from './target.ts';

const { count, queries, spareDescriptors, perSecond, connections, warmUpMs, measureMs, jobs } =
  limits.readers;
/** Connections for queries: each is a descriptor of the agent. */
const connectionsMax = descriptorsMax() - spareDescriptors;
const onEach = Math.min(Math.ceil(queries / connectionsMax), limits.readers.pipelinedMax);
const parkedQueries = Math.min(queries, connectionsMax * onEach);
const [parkedId, readId] = ['bench-parked', 'bench-read'];

export const readers: Benchmark = {
  name: 'readers',
  title: `An agent with ${count} readers: ${parkedQueries} parked queries and ${perSecond} reads a second`,
  baseline: 'the same agent without readers',
  takesGiven: false,
  async run(setting) {
    const results = await alternate(
      setting,
      () => withAgent(measure, rosterCommand, { readers: count }),
      () => withAgent(measure),
    );
    const pick = (figure: (run: Measured) => number) => ({
      ours: results.ours.map(figure),
      baseline: results.baseline.map(figure),
    });
    const eachMb = (figure: (run: Measured) => number) =>
      results.ours.map(
        (one, at) => (figure(one) - figure(results.baseline[at]!)) / count / 2 ** 20,
      );
    return {
      figures: [
        {
          name: 'the main thread is busy',
          unit: '%',
          ...pick(({ mainShare }) => 100 * mainShare),
          target: { of: 'median', is: 'at most', value: 20 },
        },
        { name: 'all threads together', unit: '%', ...pick(({ share }) => 100 * share) },
        { name: 'the load itself', unit: '%', ...pick(({ loadShare }) => 100 * loadShare) },
        { name: 'a read: median', unit: 'ms', ...pick(({ readsMs }) => percentile(readsMs, 50)) },
        { name: 'last of 100', unit: 'ms', ...pick(({ readsMs }) => percentile(readsMs, 99)) },
        { name: 'last of 1,000', unit: 'ms', ...pick(({ readsMs }) => percentile(readsMs, 99.9)) },
        {
          name: 'memory of a reader, fresh',
          unit: 'MB',
          ours: eachMb(({ freshBytes }) => freshBytes),
        },
        {
          name: `memory of a reader, with ${jobs} jobs`,
          unit: 'MB',
          ours: eachMb(({ filledBytes }) => filledBytes),
        },
      ],
      notes: [
        `Busy is the processor time of the thread, or of all threads, in ${measureMs / 1000} s. Requests are sent ` +
          `at their pace over ${connections} connections; a read counts from when it was due. ` +
          descriptorsNote(),
        'Memory of a reader: the resident memory of the agent with readers without that of the agent without, ' +
          'divided by their number; an agent at rest without any connection.',
      ],
    };
  },
};

/** How the queries get along with the descriptors that a process may have. */
function descriptorsNote(): string {
  if (onEach === 1) return 'Each query has a connection of its own.';
  const fewer = parkedQueries < queries ? ` Even so they allow no ${queries} queries.` : '';
  return (
    `A process may have ${descriptorsMax()} descriptors, so ${onEach} queries at a time wait on each connection, by ` +
    `pipelining: the server handles them side by side, and its gauge of waiting queries counts each.${fewer}`
  );
}

interface Measured {
  readonly freshBytes: number;
  readonly filledBytes: number;
  readonly mainShare: number;
  readonly share: number;
  /** Of the processor time of this process, which sends the reads. */
  readonly loadShare: number;
  readonly readsMs: readonly number[];
}

async function measure({ target, pid }: RunningAgent): Promise<Measured> {
  await quiet(pid);
  const freshBytes = residentBytes(pid);
  await fill(target);
  await quiet(pid);
  const filledBytes = residentBytes(pid);
  await call(target, 'POST', '/v1/jobs', exampleJob(readId));
  await call(target, 'POST', '/v1/jobs', smallJob(parkedId, { count: 0 }));
  await settled(target, readId);
  await settled(target, parkedId);
  const { index } = await call(target, 'GET', jobPath(parkedId));
  const path = `${jobPath(parkedId)}?index=${index}&wait=600s`;
  const waiting = async () => (await gauges(target)).blocking_queries ?? 0;
  const others = await waiting();
  const asked = { path, expected: '', count: parkedQueries, onEach };
  const parked = await park(target, asked, async () => (await waiting()) - others);
  const open = await Promise.all(
    Array.from({ length: connections }, () => Connection.open(target)),
  );
  const request = requestBytes(target, 'GET', jobPath(readId));
  const read = (durationMs: number) => pace(open, request, { ...limits.readers, durationMs });
  await read(warmUpMs);
  const before = { main: mainThreadMs(pid), all: usedMs(pid), load: process.cpuUsage() };
  const readsMs = await read(measureMs);
  const { user, system } = process.cpuUsage(before.load);
  const mainShare = (mainThreadMs(pid) - before.main) / measureMs;
  const share = (usedMs(pid) - before.all) / measureMs;
  parked.all.catch(() => {});
  parked.close();
  for (const connection of open) connection.close();
  const loadShare = (user + system) / 1000 / measureMs;
  return { freshBytes, filledBytes, mainShare, share, loadShare, readsMs };
}

/** Registers jobs without instances. */
async function fill(target: Target): Promise<void> {
  const make = (number: number) =>
    requestBytes(
      target,
      'POST',
      '/v1/jobs',
      JSON.stringify(smallJob(`bench-filled-${number}`, { count: 0 })),
    );
  await sendAll(target, jobs, make);
}
