import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningAgent, startAgent, temporaryFolder } from '../agent.ts';
import type { Benchmark, Figure } from '../benchmark.ts';
import { smallJob } from '../jobs.ts';
import { limits } from '../limits.ts';
import { quiet, sharedOutBytes } from '../processes.ts';
import { percentile } from '../statistics.ts';
import { call } from '../target.ts';
import { chart, type Panel } from './chart.ts';
import { requests, type Subject, subjects } from './subjects.ts';

const { repeats } = limits.grow;
const folder = fileURLToPath(new URL('charts', import.meta.url));

/** Figures of one size, by name. */
interface Measured {
  readonly size: number;
  /** In milliseconds. */
  readonly took: Readonly<Record<string, number>>;
  readonly megabytes: number;
  readonly recoveredMs: number;
}

export const grow: Benchmark = {
  name: 'grow',
  title: 'How latency, memory and recovery grow',
  baseline: 'the same with a tenth of the number: a ratio above 10 is worse than linear',
  takesGiven: false,
  isDurable: true,
  async run({ progress }) {
    const figures: Figure[] = [];
    const notes: string[] = [];
    mkdirSync(folder, { recursive: true });
    for (const subject of subjects) {
      const found = await measured(subject, progress);
      figures.push(...figuresOf(subject, found));
      writeFileSync(join(folder, `${subject.name}.svg`), chart(subject.name, panelsOf(found)));
      notes.push(`![How it grows with ${subject.name}](bench/grow/charts/${subject.name}.svg)`);
    }
    notes.push(
      `Each size is measured once, in an agent that grows through the sizes and is killed and started again at each. Times of requests are medians of ${repeats}, on one connection. Memory is the agent's \`Pss\` at rest, before the restart. Recovery is the time from the start of the program until all is as before: the agent is ready, watches wait and streams of peers are open again.`,
    );
    return { figures, notes };
  },
};

async function measured(
  subject: Subject,
  progress: (text: string) => void,
): Promise<readonly Measured[]> {
  const place = temporaryFolder();
  const dataDirectory = join(place.path, 'data');
  let agent: RunningAgent = await startAgent({ dataDirectory });
  try {
    const { target } = agent;
    await call(target, 'POST', '/v1/jobs', smallJob('grow-read', { count: 0 }));
    const grown = await subject.start(target);
    const found: Measured[] = [];
    for (const [at, size] of subject.sizes.entries()) {
      await grown.add(size - (subject.sizes[at - 1] ?? 0));
      const took = await times(subject, agent, at);
      await quiet(agent.pid);
      const megabytes = sharedOutBytes(agent.pid) / 1024 ** 2;
      await agent.kill();
      const startMs = performance.now();
      agent = await startAgent({ dataDirectory, token: target.token, port: target.port });
      await grown.recover();
      found.push({ size, took, megabytes, recoveredMs: performance.now() - startMs });
      progress(`${size.toLocaleString('en')} ${subject.name}`);
    }
    grown.close();
    return found;
  } finally {
    await agent.stop();
    await place.remove();
  }
}

async function times(subject: Subject, { target }: RunningAgent, round: number) {
  const took: Record<string, number> = {};
  for (const [name, request] of Object.entries(requests)) {
    const all: number[] = [];
    for (let turn = 0; turn < repeats; turn++) {
      const startMs = performance.now();
      await request(target, subject, round * repeats + turn);
      all.push(performance.now() - startMs);
    }
    took[name] = percentile(all, 50);
  }
  return took;
}

type Pick = (one: Measured) => number;

const ofRequests: readonly (readonly [string, Pick])[] = Object.keys(requests).map((name) => [
  name,
  ({ took }) => took[name]!,
]);

function figuresOf({ name }: Subject, found: readonly Measured[]): Figure[] {
  const last = found.at(-1)!;
  const before = found.at(-2)!;
  const figure = (what: string, unit: string, pick: Pick): Figure => ({
    name: `${last.size.toLocaleString('en')} ${name}: ${what}`,
    unit,
    ours: [pick(last)],
    baseline: [pick(before)],
    target: { of: 'ratio', is: 'at most', value: last.size / before.size },
  });
  return [
    ...ofRequests.map(([what, pick]) => figure(what, 'ms', pick)),
    figure('memory', 'MB', ({ megabytes }) => megabytes),
    figure('recovery after a kill', 'ms', ({ recoveredMs }) => recoveredMs),
  ];
}

function panelsOf(found: readonly Measured[]): readonly Panel[] {
  const line = (name: string, pick: Pick) => ({
    name,
    points: found.map((one) => [one.size, pick(one)] as const),
  });
  return [
    { title: 'latency, ms', lines: ofRequests.map(([name, pick]) => line(name, pick)) },
    { title: 'memory, MB', lines: [line('Pss', ({ megabytes }) => megabytes)] },
    { title: 'recovery, ms', lines: [line('to as before', ({ recoveredMs }) => recoveredMs)] },
  ];
}
