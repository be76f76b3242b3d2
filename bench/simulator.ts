/** The speed of the simulator with the whole control plane: simulated seconds per second. */
import { type Outcome, simulate } from '../sim/simulation.ts';
import type { Benchmark, Goal, Results, Setting } from './benchmark.ts';
import { limits } from './limits.ts';

const target: Goal = { of: 'median', is: 'at least', value: 500 };

export const simulator: Benchmark = {
  name: 'simulator',
  title: 'The simulator: simulated time to real time, 100 nodes under load and faults',
  baseline: 'real time, which passes once as fast as itself',
  takesGiven: false,
  run: measure,
};

/** The duration of a part of a life, by three clocks. */
interface Stretch {
  readonly simulatedMs: number;
  readonly processorMs: number;
  readonly realMs: number;
}

interface Life {
  readonly outcome: Outcome;
  readonly whole: Stretch;
  /** The part under load and faults, without the start and the rest. */
  readonly busy: Stretch;
}

async function measure(setting: Setting): Promise<Results> {
  const { warmUpHours, hours } = limits.simulator;
  setting.progress('warm-up');
  await live(0, warmUpHours);
  const lives: Life[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    setting.progress(`run ${run} of ${setting.runs}`);
    lives.push(await live(run, hours));
  }
  const ratios = (of: 'whole' | 'busy', by: 'processorMs' | 'realMs') =>
    lives.map((one) => one[of].simulatedMs / one[of][by]);
  return {
    figures: [
      { name: 'to processor time', unit: '×', ours: ratios('whole', 'processorMs') },
      { name: 'to real time', unit: '×', ours: ratios('whole', 'realMs'), target },
      {
        name: 'under load alone, to processor time',
        unit: '×',
        ours: ratios('busy', 'processorMs'),
      },
      { name: 'under load alone, to real time', unit: '×', ours: ratios('busy', 'realMs') },
    ],
    notes: [
      'Processor time is that of all threads of the process, so that it counts more than what passes ' +
        'on a machine with nothing else to do, and other programs on a busy one count for little.',
      loadOf(lives),
    ],
  };
}

async function live(seed: number, hours: number): Promise<Life> {
  const { nodes } = limits.simulator;
  const begun = now(0);
  const minutes: Stretch[] = [];
  const progress = (minute: number) => minutes.push(now(minute * 60_000));
  const outcome = await simulate({ seed, nodes, hours, progress, calm: true });
  const [violation] = outcome.violations;
  if (violation !== undefined) {
    throw new Error(`seed ${seed}: ${violation.guarantee}: ${violation.sentence}`);
  }
  const [first, last] = [minutes[0]!, minutes[Math.ceil(hours * 60)]!];
  return {
    outcome,
    whole: between(begun, now(outcome.simulatedMs)),
    busy: between(first, last),
  };
}

function now(simulatedMs: number): Stretch {
  const { user, system } = process.cpuUsage();
  return { simulatedMs, processorMs: (user + system) / 1000, realMs: performance.now() };
}

const between = (begin: Stretch, end: Stretch): Stretch => ({
  simulatedMs: end.simulatedMs - begin.simulatedMs,
  processorMs: end.processorMs - begin.processorMs,
  realMs: end.realMs - begin.realMs,
});

function loadOf(lives: readonly Life[]): string {
  const { hours, nodes } = limits.simulator;
  const perSecond = (count: (outcome: Outcome) => number): string => {
    const all = lives.reduce((sum, { outcome }) => sum + count(outcome), 0);
    const seconds = lives.reduce((sum, { outcome }) => sum + outcome.simulatedMs / 1000, 0);
    return (all / seconds).toFixed(1);
  };
  const faults = lives
    .flatMap(({ outcome }) => Object.values(outcome.faults))
    .reduce((sum, count) => sum + count, 0);
  return (
    `One run is one life of \`npm run sim -- --nodes ${nodes} --hours ${hours} --calm\`, run N of seed N, with ` +
    'every checker: a minute to start, an hour of jobs of all types that come, change, fail and go ' +
    'under every fault, and 42 minutes to come to rest. In a simulated second there are ' +
    `${perSecond(({ requests }) => requests)} answered requests and ` +
    `${perSecond(({ commits }) => commits)} commits; ${Math.round(faults / lives.length)} faults strike in a life.`
  );
}
