/** Jobs of clients: jobs to which versions are appended, and jobs that have to run. */
import { RegisterHistory } from '../../sim/register-history.ts';
import type { Choices } from '../support/random.ts';
import type { Reply } from './caller.ts';

export interface JobUse {
  readonly choices: Choices;
  /** Resolves with `undefined` if there is no answer. */
  readonly ask: (method: string, url: string, body?: object) => Promise<Reply | undefined>;
  readonly violation: (sentence: string) => void;
}

const appended = ['append-0', 'append-1'];

interface Listed {
  readonly Version: number;
  readonly JobModifyIndex: number;
  readonly Meta: { readonly value: string };
}

/**
 * Jobs without tasks, whose versions are a list to which clients append.
 *
 *  1. The newest version is a register.
 *  2. A list has all acknowledged versions between its first and its last one, in order and without a gap in
 *     their numbers.
 */
export class Appends {
  readonly #history: RegisterHistory;
  readonly #use: JobUse;
  readonly #acknowledged = new Map<string, Set<number>>(appended.map((name) => [name, new Set()]));
  #values = 0;

  constructor(use: JobUse) {
    this.#use = use;
    this.#history = new RegisterHistory(use.violation);
  }

  get counts(): RegisterHistory['counts'] {
    return this.#history.counts;
  }

  turn(): Promise<void> {
    const name = appended[this.#use.choices.below(appended.length)]!;
    return this.#use.choices.fraction() < 0.5 ? this.#appendVersion(name) : this.#readList(name);
  }

  async readAll(): Promise<void> {
    for (const name of appended) await this.#readList(name);
  }

  async #appendVersion(name: string): Promise<void> {
    const value = `${++this.#values}`;
    const begun = this.#history.begin(name, value);
    const Job = { ...jobOf(name, 0), Meta: { value } };
    const reply = await this.#use.ask('POST', '/v1/jobs', { Job });
    if (reply?.status === 200) {
      const index: number = reply.json.JobModifyIndex;
      this.#acknowledged.get(name)!.add(index);
      this.#history.wrote(begun, index);
    } else if (reply !== undefined && reply.json?.code !== 'outcome-unknown') {
      this.#history.refused(begun);
    } else this.#history.unknown(begun);
  }

  async #readList(name: string): Promise<void> {
    const begun = this.#history.begin(name);
    // Versions that are acknowledged later may be missing.
    const before = [...this.#acknowledged.get(name)!];
    const reply = await this.#use.ask('GET', `/v1/job/${name}/versions`);
    if (reply?.status === 404) this.#history.read(begun, 0, undefined);
    if (reply?.status !== 200) return;
    const versions: readonly Listed[] = reply.json.Versions;
    const newest = versions[0]!;
    this.#history.read(begun, newest.JobModifyIndex, newest.Meta.value);
    const { violation } = this.#use;
    for (const fault of listFaults(versions, before)) violation(`versions of ${name}: ${fault}`);
  }
}

/** @param versions the newest first @param acknowledged indexes of versions that must not be missing */
export function listFaults(
  versions: readonly Pick<Listed, 'Version' | 'JobModifyIndex'>[],
  acknowledged: readonly number[],
): string[] {
  const faults: string[] = [];
  for (const [at, { Version, JobModifyIndex }] of versions.entries()) {
    const older = versions[at + 1];
    if (older === undefined) break;
    if (older.Version !== Version - 1) faults.push(`${Version} follows ${older.Version}`);
    if (older.JobModifyIndex >= JobModifyIndex) {
      faults.push(
        `${Version} has index ${JobModifyIndex}, ${older.Version} ${older.JobModifyIndex}`,
      );
    }
  }
  const listed = new Set(versions.map(({ JobModifyIndex }) => JobModifyIndex));
  const oldest = versions.at(-1)?.JobModifyIndex ?? 0;
  const lost = acknowledged.filter((index) => index > oldest && !listed.has(index));
  return [...faults, ...lost.map((index) => `the acknowledged version of index ${index} is lost`)];
}

const wished = ['wish-0', 'wish-1'];
const countMost = 2;

interface Allocation {
  readonly ID: string;
  readonly ClientStatus: string;
  readonly DesiredStatus: string;
}

/** Jobs whose count changes, and has to be reached whoever leads. */
export class Wishes {
  readonly #use: JobUse;
  readonly #counts = new Map<string, number>();

  constructor(use: JobUse) {
    this.#use = use;
  }

  async turn(): Promise<void> {
    const { choices, ask } = this.#use;
    const name = wished[choices.below(wished.length)]!;
    const count = choices.below(countMost + 1);
    this.#counts.set(name, count);
    await ask('POST', '/v1/jobs', { Job: jobOf(name, count) });
  }

  /** Registers each job once more. Resolves with whether all were taken. */
  async repeatAll(): Promise<boolean> {
    const replies = [];
    for (const name of wished) {
      const count = this.#counts.get(name) ?? 1;
      this.#counts.set(name, count);
      replies.push(await this.#use.ask('POST', '/v1/jobs', { Job: jobOf(name, count) }));
    }
    return replies.every((reply) => reply?.status === 200);
  }

  /** The difference from what is wanted. @param isRunning whether a process of the allocation is there */
  async missing(isRunning: (allocation: string) => boolean): Promise<string[]> {
    const faults: string[] = [];
    for (const [name, count] of this.#counts) {
      const reply = await this.#use.ask('GET', `/v1/job/${name}/allocations`);
      const all: readonly Allocation[] = reply?.status === 200 ? reply.json : [];
      const meant = all.filter(({ DesiredStatus }) => DesiredStatus === 'run');
      const running = meant.filter(
        ({ ID, ClientStatus }) => ClientStatus === 'running' && isRunning(ID),
      );
      const stray = all.filter((one) => !running.includes(one) && isRunning(one.ID));
      if (running.length !== count)
        faults.push(`${name} runs ${running.length} times, not ${count}`);
      if (stray.length > 0) faults.push(`${name} has ${stray.length} tasks that should not run`);
    }
    return faults;
  }
}

function jobOf(ID: string, Count: number) {
  const Tasks = [
    {
      Name: 'task',
      Driver: 'raw_exec',
      Config: { command: '/bin/sleep', args: ['36000'] },
      Resources: { CPU: 1, MemoryMB: 10 },
    },
  ];
  return { ID, Datacenters: ['*'], TaskGroups: [{ Name: 'group', Count, Tasks }] };
}
