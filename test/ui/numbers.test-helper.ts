/** A control plane with awkward numbers, and the numbers of its raw lists, counted here without the code of the pages. */

import { expect } from 'vitest';
import { introduction } from '../support/api.ts';
import { type Fate, Fleet, idOf, secretOf } from '../support/fleet.ts';
import type { UiTests } from '../support/ui-tests.ts';
import type { Shown } from './numbers-shown.test-helper.ts';

// biome-ignore lint/suspicious/noExplicitAny: records of every kind.
export type Row = any;

const task = (Resources: object = {}) => ({
  Name: 'run',
  Driver: 'mock',
  Resources: { CPU: 33, MemoryMB: 1025, ...Resources },
});
const group = (Name: string, Count: number, changes: object = {}) => ({
  Name,
  Count,
  EphemeralDisk: { SizeMB: 101 },
  ReschedulePolicy: { Attempts: 0, Unlimited: false },
  RestartPolicy: { Attempts: 0, Mode: 'fail' },
  Tasks: [task()],
  ...changes,
});
const job = (ID: string, TaskGroups: readonly object[], changes: object = {}) => ({
  ID,
  Type: 'service',
  TaskGroups,
  ...changes,
});
/** More than a window of a list has rows. */
export const manyJobs = 503;

/** A server accepts a bounded number of connections at once. */
const atOnce = 20;
const manyOf = (at: number) =>
  job(`many-${at}`, [group('main', 1)], {
    Type: 'batch',
    Namespace: 'many',
    ParameterizedJob: {},
    Priority: 1 + (at % 100),
  });

/** The fate of allocations, by their job. */
const fateOf: Fate = ({ JobID, Name }) => {
  if (JobID === 'waits') return undefined;
  if (JobID === 'done') return 'complete';
  if (JobID === 'fails' || (JobID === 'half' && Name.endsWith('[0]'))) return 'failed';
  return 'running';
};

/** Nodes that run nothing but tell that they do. They are alive for as long as the test beats for them. */
export const fleetOf = (ui: UiTests): Fleet =>
  new Fleet({
    world: { advance: async () => {} },
    call: async (method, url, { body, token } = {}) => {
      const secret = token === undefined || token === introduction ? ui.agent.token : token;
      const answer = await ui.ask(method, url.slice('/v1/'.length), body, secret ?? '');
      return { status: answer.status, json: answer.status === 200 ? await answer.json() : {} };
    },
  });

const nodeOf = (cpu: number, memory: number, disk: number, changes: object = {}) => ({
  NodeResources: {
    Cpu: { CpuShares: cpu, TotalCpuCores: 1 },
    Memory: { MemoryMB: memory },
    Disk: { DiskMB: disk },
    Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
  },
  ...changes,
});

/** The room of each node: full to the last megahertz, nearly so, hardly at all, terabytes, and other classes. */
const nodes = [
  nodeOf(3999, 7_654_321, 987_654_321, { Meta: { rack: 'r1' }, NodeClass: 'large' }),
  nodeOf(1001, 10_250, 1010, { Meta: { rack: 'r1' } }),
  nodeOf(66, 2051, 203, { Meta: { rack: 'r2' }, Datacenter: 'dc2' }),
  nodeOf(10_000, 1_048_575, 20_000, { Meta: { rack: 'r2' }, Datacenter: 'dc2' }),
  nodeOf(500, 500, 500, { Meta: { rack: 'r3' } }),
  nodeOf(500, 500, 500, { Meta: { rack: 'r3' } }),
] as const;

/** How often nodes say that they are alive: far more often than they have to, on a busy machine too. */
const beatMs = 1000;

/** Returns the function that ends the nodes. */
export async function makeNumbers(ui: UiTests): Promise<() => void> {
  const { agent } = ui;
  const fleet = fleetOf(ui);
  for (const changes of nodes) await fleet.join(1, { Drivers: mock, ...changes });
  const beating = setInterval(() => void fleet.beat().catch(() => {}), beatMs);
  for (const name of ['team', 'hidden', 'many', 'empty'])
    await ui.answer('PUT', `namespace/${name}`, { Name: name });
  const canary = { Update: { Canary: 2, MaxParallel: 1 } };
  for (const one of [
    job('web', [group('front', 3), group('back', 2), group('none', 0)]),
    job('half', [group('main', 4)]),
    job('fails', [group('main', 2)]),
    job('waits', [group('main', 2)]),
    job('done', [group('main', 5), group('other', 1)], { Type: 'batch' }),
    job('everywhere', [group('main', 1, { ReschedulePolicy: null })], { Type: 'system' }),
    job('huge', [group('main', 3, { Tasks: [task({ CPU: 20, MemoryMB: 9_000_000 })] })]),
    job('web', [group('main', 1)], { Namespace: 'team' }),
    job('secret', [group('main', 3)], { Namespace: 'hidden' }),
    job('stopped', [group('main', 3)]),
    job('canaries', [group('main', 3, canary)]),
    job('clock', [group('main', 1)], { Type: 'batch', Periodic: { Specs: ['0 6 * * *'] } }),
    job('form', [group('main', 1)], { Type: 'batch', ParameterizedJob: { Payload: 'optional' } }),
  ])
    await agent.register(one);
  await fleet.obey(fateOf);
  await changeJobs(ui);
  for (let from = 0; from < manyJobs; from += atOnce) {
    const part = Array.from({ length: Math.min(atOnce, manyJobs - from) }, (_, at) => from + at);
    await Promise.all(part.map((at) => agent.register(manyOf(at))));
  }
  await registerServices(ui);
  await ui.answer('PUT', `node/${idOf(6)}/eligibility`, { Eligibility: 'ineligible' });
  await ui.answer('PUT', `node/${idOf(5)}/drain`, { DrainSpec: { Deadline: 3600e9 } });
  await settle(fleet);
  return () => clearInterval(beating);
}

const mock = { mock: { Detected: true, Healthy: true } };

/** Versions, scaled counts, children, and a job that was stopped. */
async function changeJobs(ui: UiTests): Promise<void> {
  const { agent } = ui;
  for (const Count of [3, 4]) {
    await ui.answer('POST', 'job/half/scale', { Count, Target: { Group: 'main' }, Message: 'try' });
  }
  const tasks = [task({ CPU: 34 })];
  const update = { Update: { Canary: 2, MaxParallel: 1 }, Tasks: tasks };
  await agent.register(job('canaries', [group('main', 3, update)]));
  for (const _ of [1, 2, 3]) await ui.answer('POST', 'job/form/dispatch', {});
  await ui.answer('DELETE', 'job/stopped');
  await ui.answer('PUT', 'config', { Kind: 'service-defaults', Name: 'web', Protocol: 'http' });
  await ui.answer('PUT', 'var/one/two', { Items: { a: 'b' } });
}

/** More services than a window has rows at first; the worst of them is among the last. */
export const manyServices = 120;

async function registerServices(ui: UiTests): Promise<void> {
  const found = await ui.answer<Row[]>('GET', 'job/web/allocations');
  for (const [at, { ID, NodeID }] of found.entries()) {
    const Services = Array.from({ length: manyServices }, (_, n) => ({
      ID: `${ID}-${n}`,
      ServiceName: `service-${String(n).padStart(3, '0')}`,
      Address: '10.0.0.1',
      Port: 80,
      Status: n === manyServices - 1 ? 'critical' : at === 0 && n % 7 === 0 ? 'warning' : 'passing',
    }));
    const secret = secretOf(Number(NodeID.slice(7, 8)));
    const body = { Allocations: [{ AllocID: ID, Services }] };
    const answer = await ui.ask('PUT', `node/${NodeID}/services`, body, secret);
    expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
  }
}

/** Each report leads to further placements. */
async function settle(fleet: Fleet): Promise<void> {
  for (const _ of [1, 2, 3]) {
    await fleet.obey(fateOf);
  }
}

/** The numbers of the API, counted from its raw lists. */
export class Truth {
  readonly #ui: UiTests;
  readonly #token: string;

  constructor(ui: UiTests, token = ui.agent.token) {
    this.#ui = ui;
    this.#token = token;
  }

  /** `undefined`: refused. */
  async read(path: string): Promise<Row> {
    const answer = await this.#ui.ask('GET', path, undefined, this.#token);
    return answer.status === 200 ? answer.json() : undefined;
  }

  post(path: string, body: object): Promise<Row> {
    return this.#ui.answer('POST', path, body);
  }

  list = async (path: string): Promise<Row[]> => (await this.read(path)) ?? [];

  async nodes(): Promise<Row[]> {
    const stubs = await this.list('nodes');
    const all = stubs.map(async ({ ID }) => {
      const [node, placed] = await Promise.all([
        this.read(`node/${ID}`),
        // The token may not see all of them, but what is held is held.
        new Truth(this.#ui).list(`node/${ID}/allocations`),
      ]);
      const { NodeResources: has, ReservedResources: keeps } = node;
      const going = placed.filter(({ ClientStatus }) => !isOver(ClientStatus));
      const sum = (of: (one: Row) => number) => going.reduce((total, one) => total + of(one), 0);
      return {
        ...node,
        going,
        capacity: {
          CPU: has.Cpu.CpuShares - keeps.Cpu.CpuShares,
          MemoryMB: has.Memory.MemoryMB - keeps.Memory.MemoryMB,
          DiskMB: has.Disk.DiskMB - keeps.Disk.DiskMB,
        },
        held: {
          CPU: sum(({ Resources }) => Resources.CPU),
          MemoryMB: sum(({ Resources }) => Resources.MemoryMB),
          DiskMB: sum(({ Resources }) => Resources.DiskMB),
        },
      };
    });
    return Promise.all(all);
  }

  /** The allocations of a job as it is registered now. */
  async allocationsOf(namespace: string, id: string): Promise<Row[]> {
    return this.list(`job/${id}/allocations?namespace=${namespace}`);
  }
}

const over = ['complete', 'failed', 'lost'];
export const isOver = (status: string): boolean => over.includes(status);

export const countBy = (rows: readonly Row[], of: (row: Row) => string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[of(row)] = (counts[of(row)] ?? 0) + 1;
  return counts;
};

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
export const inWords = (value: number): string => number.format(value);

/** A size in MiB, in the largest unit that it reaches. */
export function size(mebibytes: number): string {
  const units = ['MiB', 'GiB', 'TiB', 'PiB'];
  let value = mebibytes;
  while (Number(value.toFixed(1)) >= 1024) {
    value /= 1024;
    units.shift();
  }
  return `${number.format(value)} ${units[0]}`;
}
export const amount = (resource: string, value: number): string =>
  resource === 'CPU' ? `${inWords(value)} MHz` : value === 0 ? '0 B' : size(value);

export function share(part: number, whole: number): string {
  if (whole <= 0) return '–';
  if (part === 0) return '0 %';
  if (100 * part < whole) return '< 1 %';
  if (part < whole && 100 * part > 99 * whole) return '> 99 %';
  return `${Math.round((100 * part) / whole)} %`;
}

export const wordOfNode = ({ Status, Drain, SchedulingEligibility }: Row): string =>
  Status !== 'ready'
    ? Status
    : Drain
      ? 'draining'
      : SchedulingEligibility === 'eligible'
        ? 'ready'
        : 'ineligible';

/** The counts that are not 0, in words. */
export const words = (of: Readonly<Record<string, number>>): string[] =>
  Object.entries(of)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${inWords(count)} ${word}`)
    .toSorted();
export interface View {
  readonly name: string;
  readonly path: string | ((truth: Truth) => Promise<string>);
  readonly isNarrow?: boolean;
  /** What the page shows, and what the API says. */
  readonly shown: (on: Shown) => Promise<unknown>;
  readonly told: (truth: Truth) => Promise<unknown>;
}
