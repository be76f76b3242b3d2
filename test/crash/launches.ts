import { join } from 'node:path';
import {
  installBundle,
  type RunningAgent,
  startAgent,
  type TemporaryFolder,
  temporaryFolder,
} from '../../bench/agent.ts';
import { until } from '../../bench/benchmark.ts';
import { call, type Target } from '../../bench/target.ts';
import { instantToMs } from '../../src/base/instant.ts';
import { choicesOf } from '../support/random.ts';

/**
 * Kills an agent with SIGKILL while periodic jobs launch, repeatedly on the same data. No slot
 * launches twice, no launched slot is lost, and a slot that a kill prevented is launched at the
 * next start. Source: docs/behaviour/jobs.md#launches, src/server/periodic/launcher.ts P1, P2.
 */

export interface LaunchCrashReport {
  readonly faults: readonly string[];
  readonly kills: number;
  /** Children of all jobs at the end. */
  readonly launches: number;
  /** Kills after which some jobs had launched in the hit slot, and others had not. */
  readonly kiltBetween: number;
  /** Hit slots that the next start launched. */
  readonly madeUpFor: number;
  /** Slots without an agent, before a later slot that the next start launched. */
  readonly leftOut: number;
}

const jobs = 40;
/** Long enough for an agent to be back before the next slot. */
const slotMs = 5000;
/** The earliest time of the kill before a slot, and the length of its time range. */
const beforeMs = 10;
const spreadMs = 60;
/** The longest time that a launch may take on a busy machine. */
const underWayMs = 3000;

interface Row {
  readonly ID: string;
  readonly ParentID: string;
  readonly CreateIndex: number;
  readonly SubmitTime: number;
  readonly JobModifyIndex: number;
}

/** The times of one life of an agent. */
interface Life {
  /** When it had launched the slots that were due at its start. */
  readonly lookedMs: number;
  readonly killedMs: number;
}

export async function launchCrashTest(kills: number, seed: number): Promise<LaunchCrashReport> {
  const folder = temporaryFolder();
  try {
    return await crashIn(folder, kills, seed);
  } finally {
    await folder.remove();
  }
}

async function crashIn(
  folder: TemporaryFolder,
  kills: number,
  seed: number,
): Promise<LaunchCrashReport> {
  const place = {
    command: await installBundle(folder.path),
    dataDirectory: join(folder.path, 'data'),
  };
  const choices = choicesOf(seed);
  let agent = await startAgent(place);
  const { token } = agent.target;
  for (let number = 0; number < jobs; number++) {
    await call(agent.target, 'POST', '/v1/jobs', { Job: tick(number) });
  }
  const beginMs = Date.now();
  const faults: string[] = [];
  const lives: Life[] = [];
  let [lookedMs, kiltBetween, madeUpFor] = [beginMs, 0, 0];
  let known = new Map<string, Row>();
  for (let kill = 0; kill < kills; kill++) {
    const dueMs = (Math.floor((Date.now() + beforeMs + 300) / slotMs) + 1) * slotMs;
    await killAt(agent, dueMs - beforeMs + choices.below(spreadMs));
    lives.push({ lookedMs, killedMs: Date.now() });
    agent = await startAgent({ ...place, token });
    const found = await childrenOnceDue(agent.target, Date.now());
    lookedMs = Date.now();
    faults.push(...changed(known, found));
    const { killedMs } = lives.at(-1)!;
    const ofSlot = [...found.values()].filter((row) => slotOf(row) === dueMs);
    const beforeKill = ofSlot.filter((row) => instantToMs(row.SubmitTime) <= killedMs).length;
    if (beforeKill > 0 && beforeKill < jobs) kiltBetween++;
    madeUpFor += ofSlot.length - beforeKill;
    known = found;
  }
  const last = await childrenOnceDue(agent.target, Date.now());
  faults.push(...changed(known, last), ...(await doubled(agent.target, last)));
  const gaps = gapsIn(last, [...lives, { lookedMs, killedMs: Number.POSITIVE_INFINITY }]);
  await agent.kill();
  return {
    faults: [...faults, ...gaps.faults],
    kills,
    launches: last.size,
    kiltBetween,
    madeUpFor,
    leftOut: gaps.leftOut,
  };
}

const tick = (number: number) => ({
  ID: `tick-${number}`,
  Type: 'batch',
  Datacenters: ['nowhere'],
  Periodic: { Specs: [`*/${slotMs / 1000} * * * * *`], TimeZone: 'UTC' },
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock', Config: { run_for: '1ms' } }] }],
});

async function killAt(agent: RunningAgent, atMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, atMs - Date.now()));
  await agent.kill();
}

const slotOf = ({ ID }: Row): number => Number(/\/periodic-(\d+)$/.exec(ID)![1]) * 1000;

async function childrenOf(target: Target): Promise<Map<string, Row>> {
  const path = '/v1/jobs?prefix=tick-';
  const { value } = await call<readonly Row[]>(target, 'GET', path);
  return new Map(value.filter(({ ParentID }) => ParentID !== '').map((row) => [row.ID, row]));
}

/** Waits until every job has launched in the last slot before an instant, or in a later one. */
const childrenOnceDue = (target: Target, atMs: number): Promise<Map<string, Row>> =>
  until('that every job has launched', async () => {
    const dueMs = Math.floor(atMs / slotMs) * slotMs;
    const found = await childrenOf(target);
    const parents = new Set<string>();
    for (const row of found.values()) if (slotOf(row) >= dueMs) parents.add(row.ParentID);
    return parents.size === jobs ? found : undefined;
  });

/** Checks that the known children are unchanged. */
function changed(known: ReadonlyMap<string, Row>, found: ReadonlyMap<string, Row>): string[] {
  return [...known.values()].flatMap((row) => {
    const now = found.get(row.ID);
    if (now === undefined) return [`${row.ID} is lost`];
    const isSame = now.CreateIndex === row.CreateIndex && now.JobModifyIndex === row.JobModifyIndex;
    return isSame ? [] : [`${row.ID} was launched again`];
  });
}

/** Checks that each launch has made one evaluation. */
async function doubled(target: Target, found: ReadonlyMap<string, Row>): Promise<string[]> {
  type Evaluations = readonly { readonly TriggeredBy: string }[];
  const faults: string[] = [];
  for (const id of found.keys()) {
    const { value } = await call<Evaluations>(target, 'GET', `/v1/job/${id}/evaluations`);
    const launches = value.filter(({ TriggeredBy }) => TriggeredBy === 'periodic-job').length;
    if (launches !== 1) faults.push(`${id} has ${launches} evaluations of its launch`);
  }
  return faults;
}

/** The slots missing between launched ones: only slots without an agent may be missing. */
function gapsIn(found: ReadonlyMap<string, Row>, lives: readonly Life[]) {
  const faults: string[] = [];
  let leftOut = 0;
  for (const [parent, rows] of Map.groupBy(found.values(), ({ ParentID }) => ParentID)) {
    const slots = rows.map(slotOf).sort((left, right) => left - right);
    const there = new Set(slots);
    for (let slot = slots[0]!; slot < slots.at(-1)!; slot += slotMs) {
      if (there.has(slot)) continue;
      // A slot may be missing only if a later one was due before the next agent had looked.
      const isOrphan = lives.some(
        ({ killedMs }, at) =>
          slot > killedMs - underWayMs && slot + slotMs <= (lives[at + 1]?.lookedMs ?? 0),
      );
      if (isOrphan) leftOut++;
      else faults.push(`${parent} did not launch at ${new Date(slot).toISOString()}`);
    }
  }
  return { faults, leftOut };
}
