/** Guarantees that hold once the faults are over and the cluster has come to rest. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from './caller.ts';
import { type ChaosCluster, size } from './cluster.ts';

interface ListedServer {
  readonly ID: string;
  readonly Status: string;
  readonly Leader: boolean;
}

/** Lists that together show the whole state. */
const lists = [
  '/v1/jobs',
  '/v1/allocations',
  '/v1/evaluations',
  '/v1/deployments',
  '/v1/nodes',
  '/v1/vars',
  '/v1/namespaces',
  '/v1/acl/tokens',
];
/** Far more than it takes: a slow machine is no violation. */
const patienceMs = 300_000;
const lookAgainMs = 300;
const servers = Array.from({ length: size }, (_, number) => number);

/** Repeats the check until it finds nothing, or for too long. Resolves with what is left. */
export async function settle(check: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const faults = await check();
    if (faults.length === 0 || performance.now() > endMs) return faults;
    await pause(lookAgainMs);
  }
}

/** Every server is up, and all of them know one leader. */
export async function unsettled(cluster: ChaosCluster, caller: Caller): Promise<string[]> {
  const faults: string[] = [];
  const leaders = new Set<string>();
  for (const number of servers) {
    if (!cluster.servers[number]!.isReady) faults.push(`server ${number} is not ready`);
    const reply = await caller.ask(number, { method: 'GET', url: '/v1/servers' });
    const listed: readonly ListedServer[] = reply?.status === 200 ? reply.json : [];
    const alive = listed.filter(({ Status }) => Status === 'alive');
    if (alive.length !== size) faults.push(`server ${number} knows ${alive.length} servers`);
    const leading = alive.filter(({ Leader }) => Leader).map(({ ID }) => ID);
    if (leading.length !== 1) faults.push(`server ${number} knows ${leading.length} leaders`);
    for (const id of leading) leaders.add(id);
  }
  if (leaders.size > 1) faults.push(`${leaders.size} servers are said to lead`);
  return faults;
}

/** Every server shows the same state, out of its own memory. */
export async function differences(caller: Caller): Promise<string[]> {
  const faults: string[] = [];
  for (const url of lists) {
    const replies = await Promise.all(
      servers.map((number) => caller.ask(number, { method: 'GET', url: `${url}?stale` })),
    );
    if (replies.some((reply) => reply?.status !== 200)) faults.push(`${url} is not answered`);
    const told = replies.map((reply) => JSON.stringify([reply?.index, reply?.json]));
    for (const number of servers.slice(1)) {
      const fault = firstDifference(told[0]!, told[number]!);
      if (fault !== undefined) faults.push(`${url} of servers 0 and ${number}: ${fault}`);
    }
  }
  return faults;
}

const shown = 80;

function firstDifference(left: string, right: string): string | undefined {
  if (left === right) return undefined;
  let at = 0;
  while (left[at] === right[at]) at++;
  const from = Math.max(0, at - shown);
  return `${left.slice(from, at + shown)} and ${right.slice(from, at + shown)}`;
}
