import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { bundleCheckout } from '../tools/checkout-bundle.ts';
import {
  checkout as checkoutFolder,
  installBundle,
  type RunningAgent,
  rosterCommand,
  startAgent,
  temporaryFolder,
} from './agent.ts';
import { startBaseline } from './baseline.ts';
import {
  alternate,
  type Benchmark,
  type Figure,
  type Goal,
  type Setting,
  until,
} from './benchmark.ts';
import { drained, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes, sendAll } from './load.ts';
import { usedMs } from './processes.ts';
import { freePort, type Program, serves, withProgram } from './program.ts';
import { call, targetOf } from './target.ts';

const atMost = (value: number): Goal => ({ of: 'median', is: 'at most', value });

export const start: Benchmark = {
  name: 'start',
  title: 'Start of an agent, and restart with 100,000 objects',
  baseline: 'bare `node:http` from its start to its first 200',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const folder = temporaryFolder();
    try {
      const command = await installBundle(folder.path);
      const fresh = await freshStarts(setting, command, folder.path);
      const npmStarts: number[] = [];
      for (let run = 1; run <= setting.runs; run++) {
        npmStarts.push(await withProgram(npmStart, async ({ readyMs }) => readyMs));
      }
      const filled = join(folder.path, 'filled');
      setting.progress(`registering ${limits.restartJobs} jobs`);
      const { token, objects } = await fill(command, filled);
      const restarts: TimedAgent[] = [];
      for (let run = 1; run <= setting.runs; run++) {
        setting.progress(`restart ${run} of ${setting.runs}`);
        const agent = await timedStart(command, filled, token);
        restarts.push(agent);
        await checkFilled(agent);
        // The agent is killed, so that the next start is a start after a crash.
        await agent.kill();
      }
      return {
        figures: [
          ...fresh.figures,
          { name: '`npm start`, to the API', unit: 'ms', ours: npmStarts, target: atMost(800) },
          {
            name: `restart with ${objects} objects, to the first 200`,
            unit: 'ms',
            ours: restarts.map(({ firstAnswerMs }) => firstAnswerMs),
            target: atMost(3_000),
          },
          {
            name: 'processor time until it is ready',
            unit: 'ms',
            ours: restarts.map(({ startedMs }) => startedMs),
          },
        ],
        notes: [
          '“Installed” is the bundle of `npm run build`, laid out as a package; the restarts are its own, ' +
            'too. A checkout runs the bundle that `npm start` has made of it; `npm start` is one that finds this bundle, from ' +
            'its own start to the first list of jobs. All agents have a data directory and a node. Time runs from `exec` of `bin/roster` to a 200 of `/v1/agent/health`, ' +
            `which is asked for each ${limits.program.lookAgainMs} ms from the start on, as \`npm run bench -- peer\` does. An agent says that it is ready once its node has begun. ` +
            `The first start of the bundle, without a compile cache: ${fresh.firstMs.toFixed(0)} ms.`,
          `The objects are those of ${limits.restartJobs} jobs registered over HTTP: job, version, ` +
            'summary and evaluation each. The agents were killed, so that nothing was tidied up.',
        ],
      };
    } finally {
      await folder.remove();
    }
  },
};

const npmStart: Program = {
  command:
    'env ROSTER_HTTP=127.0.0.1:{port} ROSTER_DATA_DIR={directory}/data ' +
    `npm --silent --prefix ${checkoutFolder} start -- --root-token {token} --log-level warn`,
  address: 'http://127.0.0.1:{port}',
};

/** The first starts fill the caches of compiled code. */
async function freshStarts(setting: Setting, command: string, folder: string) {
  // As `npm start` does once an agent has started.
  await bundleCheckout(checkoutFolder);
  const first = await timedStart(command, join(folder, 'first'));
  await first.stop();
  await (await timedStart(rosterCommand, join(folder, 'first-checkout'))).stop();
  const once = async (of: string, directory: string): Promise<TimedAgent> => {
    const agent = await timedStart(of, join(folder, directory));
    await agent.stop();
    return agent;
  };
  const checkout: TimedAgent[] = [];
  const results = await alternate(
    setting,
    async (run) => {
      checkout.push(await once(rosterCommand, `checkout-${run}`));
      return once(command, `fresh-${run}`);
    },
    async () => {
      const baseline = await startBaseline({ headers: {}, body: '' });
      await baseline.stop();
      return baseline.readyMs;
    },
  );
  const { baseline } = results;
  const figures = (name: string, agents: readonly TimedAgent[], mostMs: number): Figure[] => [
    {
      name: `start to the first 200, ${name}`,
      unit: 'ms',
      ours: agents.map(({ firstAnswerMs }) => firstAnswerMs),
      baseline,
      target: atMost(mostMs),
    },
    { name: 'to the line that it is ready', unit: 'ms', ours: agents.map((one) => one.readyMs) },
    {
      name: 'processor time until then',
      unit: 'ms',
      ours: agents.map(({ startedMs }) => startedMs),
    },
  ];
  return {
    figures: [
      ...figures('installed', results.ours, 300),
      ...figures('from a checkout', checkout, 500),
    ],
    firstMs: first.firstAnswerMs,
  };
}

interface TimedAgent extends RunningAgent {
  /** Time from the start of the process to the first 200. */
  readonly firstAnswerMs: number;
  /** Processor time of the agent until it is ready. */
  readonly startedMs: number;
}

/** Asks from the start of the process on. */
async function timedStart(
  command: string,
  dataDirectory: string,
  token: string = randomUUID(),
): Promise<TimedAgent> {
  const port = await freePort();
  const target = targetOf(`http://127.0.0.1:${port}`, token);
  const isServed = async () => (await serves(target, '/v1/agent/health')) || undefined;
  const startMs = performance.now();
  const [agent, firstAnswerMs] = await Promise.all([
    startAgent({ command, dataDirectory, token, port }),
    until('that an agent answers', isServed, limits.program.lookAgainMs).then(
      () => performance.now() - startMs,
    ),
  ]);
  return { ...agent, firstAnswerMs, startedMs: usedMs(agent.pid) };
}

async function fill(command: string, dataDirectory: string) {
  const agent = await startAgent({ command, dataDirectory });
  const { target } = agent;
  await sendAll(target, limits.restartJobs, (number) => {
    const body = JSON.stringify(smallJob(`bench-${number}`, { count: 0 }));
    return requestBytes(target, 'POST', '/v1/jobs', body);
  });
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
