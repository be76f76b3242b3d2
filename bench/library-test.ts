/** A test of a job file in virtual time, as the guide to the library has it, without the import of the library. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createAgent } from '../src/library.ts';
import type { Benchmark } from './benchmark.ts';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';
import { ProcessorWaits } from './thread-time.ts';

/** The job file and the test of the guide. */
const guide = readFileSync(new URL('../docs/guides/library.md', import.meta.url), 'utf8');
const JobHCL = /```hcl\n(job "web"[\s\S]*?)```/.exec(guide)![1]!;

async function testOnce(): Promise<void> {
  const nodes = ['r1', 'r1', 'r2', 'r2'].map((rack) => ({ meta: { rack } }));
  await using agent = await createAgent({ network: 'none', clock: 'virtual', nodes });
  const { jobs } = agent.client();
  await jobs.register({ Job: (await jobs.parse({ JobHCL })).value });
  const started = await agent.clock.advanceUntil(jobs.waitUntilRunning('web'));
  for (const { ID } of started.slice(0, 2)) agent.crash(ID);
  await agent.clock.advance('1m');
  const running = await jobs.waitUntilRunning('web');
  const racks = running.map(({ NodeName }) => agent.node(NodeName).meta.rack);
  assert.deepEqual(racks.sort(), ['r1', 'r1', 'r2', 'r2']);
}

async function measureOnce(waits: ProcessorWaits) {
  const [before, beganMs] = [process.cpuUsage(), waits.clockMs];
  await testOnce();
  const tookMs = waits.clockMs - beganMs;
  const { user, system } = process.cpuUsage(before);
  return { tookMs, processorMs: (user + system) / 1000 };
}

export const libraryTest: Benchmark = {
  name: 'library-test',
  title: 'A test of a job file in virtual time',
  baseline: 'none',
  takesGiven: false,
  async run({ runs, progress }) {
    const { tests, warmUp } = limits.libraryTest;
    for (let at = 0; at < warmUp; at++) await testOnce();
    const waits = new ProcessorWaits();
    const [processor, time] = [[] as number[], [] as number[]];
    for (let run = 1; run <= runs; run++) {
      progress(`run ${run} of ${runs}`);
      const took = [];
      for (let at = 0; at < tests; at++) took.push(await measureOnce(waits));
      processor.push(
        percentile(
          took.map(({ processorMs }) => processorMs),
          50,
        ),
      );
      time.push(
        percentile(
          took.map(({ tookMs }) => tookMs),
          50,
        ),
      );
    }
    const target = { of: 'median', is: 'at most', value: 50 } as const;
    return {
      figures: [
        { name: 'processor time', unit: 'ms', ours: processor, target },
        { name: 'time without waits for a processor', unit: 'ms', ours: time, target },
      ],
      notes: [
        `The first test of the [guide to the library](docs/guides/library.md): a server, four nodes, a job with two crashes, a virtual minute. Medians of ${tests} tests of a warm process.`,
      ],
    };
  },
};
