/** An agent that places a large job, and how long a small request waits meanwhile. */
import { withAgent } from './agent.ts';
import type { Setting } from './benchmark.ts';
import { drained, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { Connection, requestBytes } from './load.ts';
import { percentile } from './statistics.ts';
import { call, gauges, type Target } from './target.ts';

export interface Waits {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const { nodes, count, warmUpCount, path, everyMs, lookAgainMs } = limits.holds;

/** The waits of each run; the first job, which nobody asks beside, is not counted. */
export function measureOutside({ runs, progress }: Setting): Promise<readonly Waits[]> {
  return withAgent(async ({ target }) => {
    progress(`${nodes} nodes join`);
    const wanted = warmUpCount + runs * count;
    // With room for what is placed anew should a heartbeat come late.
    const fleet = await joinPaperFleet(target, {
      nodes,
      jobsEach: Math.ceil((2 * wanted) / nodes),
    });
    try {
      await place(target, 'warm-up', warmUpCount);
      const found: Waits[] = [];
      for (let run = 1; run <= runs; run++) {
        progress(`asked meanwhile, run ${run} of ${runs}`);
        found.push(await waitsWhile(target, () => place(target, `run-${run}`, count)));
      }
      const { allocations = 0 } = await gauges(target);
      if (allocations < wanted) throw new Error(`${allocations} of ${wanted} were placed`);
      return found;
    } finally {
      fleet.leave();
    }
  });
}

async function place(target: Target, id: string, instances: number): Promise<void> {
  const job = smallJob(`holds-${id}`, { count: instances, datacenter: paperDatacenter });
  await call(target, 'POST', '/v1/jobs', job);
  await drained(target, lookAgainMs);
}

/**
 * Asks at a steady pace until the work is done, whether or not the answers before have come: each
 * request goes over a connection that has none under way.
 */
async function waitsWhile(target: Target, work: () => Promise<void>): Promise<Waits> {
  const connections = await Promise.all(
    Array.from({ length: limits.connections }, () => Connection.open(target)),
  );
  const idle = [...connections];
  const request = requestBytes(target, 'GET', path);
  const waitsMs: number[] = [];
  const askOnce = async (connection: Connection) => {
    const sentMs = performance.now();
    await connection.send(request);
    waitsMs.push(performance.now() - sentMs);
    idle.push(connection);
  };
  let isOver = false;
  const done = work().finally(() => {
    isOver = true;
  });
  const asked: Promise<void>[] = [done];
  try {
    while (!isOver) {
      // With all of them under way, those that wait so long tell enough.
      const connection = idle.pop();
      if (connection !== undefined) asked.push(askOnce(connection));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    await Promise.all(asked);
  } finally {
    for (const connection of connections) connection.close();
  }
  return {
    p50Ms: percentile(waitsMs, 50),
    p99Ms: percentile(waitsMs, 99),
    maxMs: Math.max(...waitsMs),
  };
}
