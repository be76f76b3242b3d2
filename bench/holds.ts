/**
 * How long scheduling delays all other work, measured twice.
 *
 * From inside: the same evaluations several times from the same state with the same ids (`holds-run.ts`).
 * Each step, and each transaction of a plan, counts with its shortest time, without the waits of the thread
 * for a processor. This leaves out the collector, which slows other steps in every life. The cost of the
 * collector is reported as well: the longest span of all lives, without and with the waits, and the longest
 * pause.
 *
 * From outside: requests at a steady pace to an agent that places as many allocations at the same time
 * (`holds-outside.ts`).
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { limits as productLimits } from '../src/model/limits.ts';
import { agentFlags } from './agent-flags.ts';
import type { Benchmark, Figure, Setting } from './benchmark.ts';
import { evaluations } from './holds-load.ts';
import { lastOf1000Ms, measureOutside, type Waits } from './holds-outside.ts';
import type { Hold, HoldsSaid } from './holds-run.ts';
import { limits } from './limits.ts';
import { fleetSize } from './scheduler-load.ts';

const { sliceMs } = productLimits.scheduler;

/** Longest time that anything may hold the thread. Source: docs/behaviour/scheduling.md#the-scheduler. */
const atMostMs = { of: 'median', is: 'at most', value: 10 } as const;

export const holds: Benchmark = {
  name: 'holds',
  title: `Evaluations on ${fleetSize.toLocaleString('en')} nodes: how long others wait at a time`,
  baseline: 'there is none',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const lives = Math.max(setting.runs, limits.holds.livesMin);
    const { found, pauseMs } = await measureInside(lives, setting.progress);
    const outside = await measureOutside(setting);
    const { readers } = limits.holds;
    const apart = await measureOutside(setting, { readers });
    return {
      figures: [
        ...inside(found, pauseMs),
        ...asked('asked meanwhile', outside),
        ...asked(`asked meanwhile of ${readers} readers`, apart),
      ],
      notes: [
        `The evaluations run one after another on one cluster, and all of that ${lives} times in one ` +
          'process, with the same ids and so in the same steps. Of each step, and of each transaction ' +
          'of a plan until it is published, the least of its times counts, without what the thread ' +
          'waited for a processor (`schedstat`). Given is the longest of these, and ' +
          `${sliceMs} ms more: as long as that has not passed, another step is begun before requests ` +
          'are answered.',
        'The collector strikes another step each time, so it is told beside them: in the longest ' +
          'span of any of the evaluations at any of the times, the first with nothing compiled yet; in ' +
          'the same by the clock, with what the thread waited for a processor, be it for the ' +
          'collector’s own threads; and in its longest pause. It comes wherever objects are made, marks ' +
          'in steps of up to 5 ms, and grows with what is alive, 110,000 allocations here. A plan that ' +
          'is all or nothing is one transaction, however large.',
        `“Asked meanwhile”: \`GET ${limits.holds.path}\` every ${limits.holds.everyMs} ms of an agent in a process of its own, ` +
          `while it places ${limits.holds.count.toLocaleString('en')} allocations of one job on ${limits.holds.nodes.toLocaleString('en')} nodes that exist on paper alone and makes them ` +
          'durable, each over a connection that has no other under way. Here all counts: the collector, ' +
          'the load and everything else that the processors do. The last of 1,000 is that of all runs together. Of readers ' +
          'the job of the warm-up is asked for: such an answer shows all that was durable when it was asked for.',
      ],
    };
  },
};

interface Inside {
  readonly found: readonly Hold[];
  readonly pauseMs: number;
}

function measureInside(lives: number, progress: Setting['progress']): Promise<Inside> {
  const program = fileURLToPath(new URL('./holds-run.ts', import.meta.url));
  const child = fork(program, [String(lives)], {
    execArgv: ['--disable-warning=ExperimentalWarning', ...agentFlags()],
  });
  return new Promise((resolve, reject) => {
    child.on('message', (said: HoldsSaid) => {
      if (said.kind === 'life') progress(`${said.number} of ${lives} times`);
      else {
        child.disconnect();
        resolve({ found: said.holds, pauseMs: said.pauseMs });
      }
    });
    child.on('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`it ended (${signal ?? code}) too early`)),
    );
  });
}

function inside(found: readonly Hold[], pauseMs: number): Figure[] {
  return [
    ...evaluations.map(([title], at) => ({
      name: title,
      unit: 'ms',
      ours: [found[at]!.workMs + sliceMs],
      target: atMostMs,
    })),
    {
      name: 'any of them, with the garbage collector',
      unit: 'ms',
      ours: [Math.max(...found.map(({ longestMs }) => longestMs))],
    },
    {
      name: 'the same by the clock',
      unit: 'ms',
      ours: [Math.max(...found.map(({ clockMs }) => clockMs))],
    },
    { name: 'longest pause of the garbage collector', unit: 'ms', ours: [pauseMs] },
  ];
}

function asked(who: string, runs: readonly Waits[]): Figure[] {
  const of = (name: string, pick: (waits: Waits) => number) => {
    return { name: `${who}: ${name}`, unit: 'ms', ours: runs.map(pick) };
  };
  return [
    of('median', ({ p50Ms }) => p50Ms),
    { ...of('99 of 100', ({ p99Ms }) => p99Ms), target: atMostMs },
    {
      name: `${who}: 999 of 1,000`,
      unit: 'ms',
      ours: [lastOf1000Ms(runs)],
      target: { of: 'median', is: 'at most', value: 5 },
    },
    of('longest', ({ maxMs }) => maxMs),
  ];
}
