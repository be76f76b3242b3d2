import { join } from 'node:path';
import { installBundle, type RunningAgent, startAgent, temporaryFolder } from './agent.ts';
import { startBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Figure, type Setting } from './benchmark.ts';
import { drained, readyNode, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { drive, requestBytes, series } from './load.ts';
import { isAlive, processesNaming, quiet, residentBytes } from './processes.ts';
import { call } from './target.ts';

export const start: Benchmark = {
  name: 'start',
  title: 'Start of the bundled agent, restart with 100,000 objects, memory at rest',
  baseline: 'bare `node:http` from its start to its first 200',
  takesGiven: false,
  async run(setting) {
    const folder = temporaryFolder();
    try {
      const command = await installBundle(folder.path);
      const fresh = await freshStarts(setting, command, folder.path);
      const filled = join(folder.path, 'filled');
      setting.progress(`registering ${limits.restartJobs} jobs`);
      const { token, objects } = await fill(command, filled);
      const restarts: number[] = [];
      for (let run = 1; run <= setting.runs; run++) {
        setting.progress(`restart ${run} of ${setting.runs}`);
        const agent = await timedStart(command, filled, token);
        restarts.push(agent.firstAnswerMs);
        await checkFilled(agent);
        // The agent is killed, so that the next start is a start after a crash.
        await agent.kill();
      }
      return {
        figures: [
          ...fresh.figures,
          {
            name: `restart with ${objects} objects, to the first 200`,
            unit: 'ms',
            ours: restarts,
            target: { of: 'median', is: 'at most', value: 3_000 },
          },
        ],
        notes: [
          'The bundle of `npm run build`, laid out as an installed package, with a data directory ' +
            'and its node. Time runs from `exec` of `bin/roster` to a 200 of `/v1/agent/health`. ' +
            `The first start of all, without a compile cache: ${fresh.firstMs.toFixed(0)} ms.`,
          'Memory is the resident set once the node is ready and the process at rest.',
          `The objects are those of ${limits.restartJobs} jobs registered over HTTP: job, version, ` +
            'summary and evaluation each. The agents were killed, so that nothing was tidied up.',
        ],
      };
    } finally {
      await folder.remove();
    }
  },
};

async function freshStarts(setting: Setting, command: string, folder: string) {
  const first = await timedStart(command, join(folder, 'first'));
  await first.stop();
  const results = await alternate(
    setting,
    async (run) => {
      const directory = join(folder, `fresh-${run}`);
      const agent = await timedStart(command, directory);
      await readyNode(agent.target);
      await quiet(agent.pid);
      const others = processesNaming(directory).filter((pid) => pid !== agent.pid && isAlive(pid));
      const memory = residentBytes(agent.pid);
      const supervisor = others.reduce((sum, pid) => sum + residentBytes(pid), 0);
      await agent.stop();
      return { startMs: agent.firstAnswerMs, memory, supervisor };
    },
    async () => {
      const baseline = await startBaseline({ headers: {}, body: '' });
      const memory = residentBytes(baseline.pid);
      await baseline.stop();
      return { startMs: baseline.readyMs, memory };
    },
  );
  const megabytes = (bytes: number) => bytes / 1024 / 1024;
  const { ours, baseline } = results;
  const figures: Figure[] = [
    {
      name: 'start to the first 200',
      unit: 'ms',
      ours: ours.map(({ startMs }) => startMs),
      baseline: baseline.map(({ startMs }) => startMs),
      target: { of: 'median', is: 'at most', value: 600 },
    },
    {
      name: 'memory at rest: the agent',
      unit: 'MB',
      ours: ours.map(({ memory }) => megabytes(memory)),
      baseline: baseline.map(({ memory }) => megabytes(memory)),
      target: { of: 'median', is: 'at most', value: 150 },
    },
    {
      name: 'memory at rest: its supervisor, beside it',
      unit: 'MB',
      ours: ours.map(({ supervisor }) => megabytes(supervisor)),
    },
  ];
  return { figures, firstMs: first.firstAnswerMs };
}

interface TimedAgent extends RunningAgent {
  /** Time from the start of the process to the first 200. */
  readonly firstAnswerMs: number;
}

/** Sends the first request right after the line in which the agent prints its address. */
async function timedStart(
  command: string,
  dataDirectory: string,
  token?: string,
): Promise<TimedAgent> {
  const startMs = performance.now();
  const agent = await startAgent({ command, dataDirectory, ...(token && { token }) });
  await call(agent.target, 'GET', '/v1/agent/health');
  return { ...agent, firstAnswerMs: performance.now() - startMs };
}

async function fill(command: string, dataDirectory: string) {
  const agent = await startAgent({ command, dataDirectory });
  const { target } = agent;
  await drive(
    target,
    series(limits.restartJobs, (number) => {
      const body = JSON.stringify(smallJob(`bench-${number}`, { count: 0 }));
      return requestBytes(target, 'POST', '/v1/jobs', body);
    }),
  );
  await drained(target);
  await agent.stop();
  return { token: target.token, objects: limits.restartJobs * 4 };
}

/** @throws Error if the restart lost something, which would make its time meaningless. */
async function checkFilled({ target }: RunningAgent): Promise<void> {
  type Page = readonly unknown[];
  const jobs = await call<Page>(target, 'GET', '/v1/jobs?per_page=10000&prefix=bench-1');
  const wanted = Array.from({ length: limits.restartJobs }, (_, number) => String(number));
  const expected = wanted.filter((number) => number.startsWith('1')).length;
  const found = jobs.value.length;
  if (found < Math.min(expected, 10_000)) throw new Error(`${found} jobs instead of ${expected}`);
}
