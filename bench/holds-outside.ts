/** An agent that places a large job, and how long a small request waits meanwhile. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type AgentOptions, rosterCommand, withAgent } from './agent.ts';
import type { Asked, AskerSaid } from './asker.ts';
import type { Setting } from './benchmark.ts';
import { drained, jobPath, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';
import { call, gauges, type Target } from './target.ts';

export interface Waits {
  readonly allMs: readonly number[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const { nodes, count, warmUpCount, path, everyMs, lookAgainMs } = limits.holds;

/** The waits of each run. The first job, without requests beside it, does not count. */
export function measureOutside(
  { runs, progress }: Setting,
  threads: Pick<AgentOptions, 'readers'> = {},
): Promise<readonly Waits[]> {
  // Readers hand questions about the agent on to the main thread.
  const asked = threads.readers === undefined ? path : jobPath('holds-warm-up');
  return withAgent(
    async ({ target }) => {
      progress(`${nodes} nodes join`);
      const wanted = warmUpCount + runs * count;
      // More room than needed, since allocations are placed anew after a late heartbeat.
      const fleet = await joinPaperFleet(target, {
        nodes,
        jobsEach: Math.ceil((2 * wanted) / nodes),
      });
      try {
        await place(target, 'warm-up', warmUpCount);
        const found: Waits[] = [];
        for (let run = 1; run <= runs; run++) {
          progress(`asked meanwhile, run ${run} of ${runs}`);
          found.push(await waitsWhile(target, () => place(target, `run-${run}`, count), asked));
        }
        const { allocations = 0 } = await gauges(target);
        if (allocations < wanted) throw new Error(`${allocations} of ${wanted} were placed`);
        return found;
      } finally {
        fleet.leave();
      }
    },
    rosterCommand,
    threads,
  );
}

async function place(target: Target, id: string, instances: number): Promise<void> {
  const job = smallJob(`holds-${id}`, { count: instances, datacenter: paperDatacenter });
  await call(target, 'POST', '/v1/jobs', job);
  await drained(target, lookAgainMs);
}

/** The waits of requests that another process sends while the work is done. */
export async function waitsWhile(
  target: Target,
  work: () => Promise<void>,
  asked: string = path,
): Promise<Waits> {
  const what: Asked = { target, path: asked, everyMs };
  const asker = fork(
    fileURLToPath(new URL('./asker.ts', import.meta.url)),
    [JSON.stringify(what)],
    {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    },
  );
  const ended = new Promise<never>((_, reject) => {
    asker.once('error', reject);
    asker.once('exit', (code, signal) => reject(new Error(`the asker ended (${signal ?? code})`)));
  });
  ended.catch(() => {});
  const said = <K extends AskerSaid['kind']>(kind: K) =>
    new Promise<Extract<AskerSaid, { kind: K }>>((resolve) => {
      const hear = (message: AskerSaid) => {
        if (message.kind === kind) resolve(message as Extract<AskerSaid, { kind: K }>);
      };
      asker.on('message', hear);
    });
  try {
    await Promise.race([said('begun'), ended]);
    await work();
    const done = said('done');
    asker.send('end');
    const { waitsMs } = await Promise.race([done, ended]);
    return {
      allMs: waitsMs,
      p50Ms: percentile(waitsMs, 50),
      p99Ms: percentile(waitsMs, 99),
      maxMs: Math.max(...waitsMs),
    };
  } finally {
    asker.kill();
  }
}

/** The last of 1,000, of the requests of all runs: a single run has too few of them. */
export const lastOf1000Ms = (runs: readonly Waits[]): number =>
  percentile(
    runs.flatMap(({ allMs }) => allMs),
    99.9,
  );
