import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type RunningAgent, withAgent } from './agent.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import type { ListenersSaid, Listening } from './fleet-listeners.ts';
import { limits } from './limits.ts';
import { Connection, requestBytes } from './load.ts';
import { mainThreadMs, mainThreadWaitMs, quiet, residentBytes } from './processes.ts';
import { percentile } from './statistics.ts';
import type { Target } from './target.ts';

const { listeners, everyMs, changes, senders } = limits.fleetEvents;

interface Run {
  /** Before the first change, and after the last. */
  readonly restBytesEach: number;
  readonly bytesEach: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly perSecond: number;
  readonly busyPercent: number;
  readonly waitPercent: number;
}

export const fleetEvents: Benchmark = {
  name: 'fleet-events',
  title: `${listeners.toLocaleString('en')} listeners of the event stream at ${1000 / everyMs} changes a second`,
  baseline: 'there is none',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const runs: Run[] = [];
    for (let run = 1; run <= setting.runs; run++) {
      setting.progress(`run ${run} of ${setting.runs}`);
      runs.push(await withAgent(once));
    }
    const figure = (name: string, unit: string, of: (run: Run) => number): Figure => ({
      name,
      unit,
      ours: runs.map(of),
    });
    const atMost = (value: number) => ({ target: { of: 'median', is: 'at most', value } }) as const;
    return {
      figures: [
        {
          ...figure(
            'memory for each listener, before the changes',
            'KB',
            (run) => run.restBytesEach / 1024,
          ),
          ...atMost(20),
        },
        {
          ...figure('the same, after the changes', 'KB', (run) => run.bytesEach / 1024),
          ...atMost(20),
        },
        {
          ...figure(
            'from sending a change until the last has heard of it',
            'ms',
            (run) => run.p50Ms,
          ),
          ...atMost(100),
        },
        figure('the same, of 99 in 100 changes', 'ms', (run) => run.p99Ms),
        figure('the same, of 999 in 1,000', 'ms', (run) => run.p999Ms),
        figure('changes', '/s', (run) => run.perSecond),
        figure('the main thread', '% of a core', (run) => run.busyPercent),
        figure('the main thread waits for a core', '% of the time', (run) => run.waitPercent),
      ],
      notes: [
        `Each change writes a configuration entry, durably. All listeners have the same token and follow the same topic; ` +
          'they and the writer are processes of the same machine. Memory is the growth of the resident set since before the ' +
          'first listener, when as many changes had been made; both times the process is at rest.',
      ],
    };
  },
};

async function once({ target, pid }: RunningAgent): Promise<Run> {
  const write = await writer(target);
  // The server keeps the newest changes, with or without listeners.
  await write(changes);
  await quiet(pid);
  const before = residentBytes(pid);
  const told = listen({ target, path: '/v1/event/stream?topic=ConfigEntry', changes });
  try {
    await told.listening;
    await quiet(pid);
    const restBytes = residentBytes(pid);
    const [startMs, used, waited] = [performance.now(), mainThreadMs(pid), mainThreadWaitMs(pid)];
    const sentMs = await write(changes);
    const heardMs = await told.heard;
    const passedMs = performance.now() - startMs;
    const busyPercent = ((mainThreadMs(pid) - used) / passedMs) * 100;
    const waitPercent = ((mainThreadWaitMs(pid) - waited) / passedMs) * 100;
    const lastMs = heardMs.map((ms, at) => ms - sentMs[at]!);
    await quiet(pid);
    return {
      restBytesEach: (restBytes - before) / listeners,
      bytesEach: (residentBytes(pid) - before) / listeners,
      p50Ms: percentile(lastMs, 50),
      p99Ms: percentile(lastMs, 99),
      p999Ms: percentile(lastMs, 99.9),
      perSecond: (changes / passedMs) * 1000,
      busyPercent,
      waitPercent,
    };
  } finally {
    told.leave();
  }
}

/** Sends changes at a steady pace, and returns the time at which each was sent. */
async function writer(target: Target) {
  const idle = await Promise.all(Array.from({ length: senders }, () => Connection.open(target)));
  let number = 0;
  return async (count: number): Promise<readonly number[]> => {
    const sentMs: number[] = [];
    const answers: Promise<void>[] = [];
    const startMs = performance.now();
    while (sentMs.length < count) {
      const due = Math.min(count, Math.floor((performance.now() - startMs) / everyMs) + 1);
      while (sentMs.length < due && idle.length > 0) {
        // In turn: the server ends a connection that has no request for a while.
        const connection = idle.shift()!;
        const entry = { Kind: 'service-defaults', Name: `web-${number++ % 100}`, Protocol: 'http' };
        const body = JSON.stringify({ ...entry, Meta: { number: String(number) } });
        sentMs.push(performance.timeOrigin + performance.now());
        const sent = connection.send(requestBytes(target, 'PUT', '/v1/config', body));
        answers.push(sent.then(() => void idle.push(connection)));
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(answers);
    return sentMs;
  };
}

function listen(what: Listening) {
  const program = fileURLToPath(new URL('./fleet-listeners.ts', import.meta.url));
  const child = fork(program, [JSON.stringify(what)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const said = <K extends ListenersSaid['kind']>(kind: K) =>
    new Promise<Extract<ListenersSaid, { kind: K }>>((resolve, reject) => {
      child.on('message', (message: ListenersSaid) => {
        if (message.kind === kind) resolve(message as Extract<ListenersSaid, { kind: K }>);
      });
      child.once('exit', (code) => reject(new Error(`the listeners ended (${code})`)));
    });
  const heard = said('heard').then(({ atMs }) => atMs);
  heard.catch(() => {});
  return { listening: said('listening'), heard, leave: () => child.kill('SIGKILL') };
}
