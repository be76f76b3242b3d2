/**
 * Etcd comes back with older data under the running servers, as the same cluster of etcd or another one. Later an operator
 * recovers the log, from what etcd has or from the copy of the server that knows most.
 *
 * 1. Every server that has seen it has diverged: it neither leads nor follows, and names both ends of the log.
 * 2. Such a server answers nothing but `stale` reads.
 * 3. Nothing moves the older log before the recovery.
 */
import { delay, type Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { recoverLog } from '../src/server/snapshots/recover.ts';
import type { LogHead, RecoverySource } from '../src/state/engine/etcd/head.ts';
import { Diverged } from '../src/state/errors.ts';
import type { EtcdLog } from './logs/etcd-log.ts';
import { rootToken } from './server.ts';
import type { SimulatedServers } from './servers.ts';

const pauseMaxMs = 480_000;
/** How old the data is with which etcd comes back: no request of that time is still on its way. */
const [ageMinMs, ageMaxMs] = [40_000, 120_000];
/** The time in which every server notices it. */
const noticeMs = 30_000;
const againMs = 2000;
/** Tries to find all servers well, and to recover the log. */
const triesMax = 60;

interface Question {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Of the right answer. */
  readonly status: number;
}

const questions: readonly Question[] = [
  { method: 'PUT', path: '/v1/var/registers/one', query: '', status: 503 },
  { method: 'GET', path: '/v1/jobs', query: '', status: 503 },
  { method: 'GET', path: '/v1/jobs', query: 'stale', status: 200 },
];

export interface RecoveriesOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly servers: SimulatedServers;
  readonly log: EtcdLog;
  readonly note: (sentence: string) => void;
  /** Takes a sentence that tells which rule is broken. */
  readonly broken: (sentence: string) => void;
}

export class Recoveries {
  readonly #options: RecoveriesOptions;
  #isOver = false;
  /** How often something was done, for the summary. */
  readonly done = new Map([
    ['etcd comes back older', 0],
    ['the log is recovered from etcd', 0],
    ['the log is recovered from a disk', 0],
  ]);

  constructor(options: RecoveriesOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#repeat();
  }

  end(): void {
    this.#isOver = true;
  }

  async #repeat(): Promise<void> {
    const { random } = this.#options;
    for (;;) {
      await this.#wait(random.below(pauseMaxMs));
      if (this.#isOver) return;
      const older = this.#options.log.etcd.store.copy();
      const { head } = this.#options.log;
      await this.#wait(ageMinMs + random.below(ageMaxMs - ageMinMs));
      if (head === undefined || !(await this.#allKnowMore(head))) continue;
      const { etcd } = this.#options.log;
      const id = random.below(2) === 0 ? etcd.store.clusterId : `${2000 + random.below(1000)}`;
      this.#countOne('etcd comes back older', `, as of index ${head.index}`);
      this.#options.log.goBack(older, id);
      await this.#wait(noticeMs);
      this.#judgeServers(head);
      await this.#recover();
    }
  }

  /** Waits until every server works, and has noted that it knows more of the log. */
  async #allKnowMore({ index }: LogHead): Promise<boolean> {
    const { servers, log } = this.#options;
    for (let attempt = 0; attempt < triesMax && !this.#isOver; attempt++) {
      const isReady = log.storages.every(
        ({ isCutOff, memory }, number) =>
          !isCutOff &&
          servers.all[number]!.running?.process.isFrozen === false &&
          (memory?.log?.index ?? 0) > index,
      );
      if (isReady) return true;
      await this.#wait(againMs);
    }
    return false;
  }

  #judgeServers(head: LogHead): void {
    const { servers, log, broken } = this.#options;
    const { epoch, index } = log.head ?? head;
    if (epoch !== head.epoch || index !== head.index) {
      broken(
        `the older log went on from ${head.index} in term ${head.epoch} to ${index}, ${epoch}`,
      );
    }
    for (const [number, { running }] of servers.all.entries()) {
      if (running === undefined || log.storages[number]!.reachesForMs < noticeMs) continue;
      const { leading, closed } = running.state;
      const cause = closed?.cause;
      const named = /applied index (\d+) .*, the log (has index|is in the etcd cluster) (\d+)/.exec(
        closed?.message ?? '',
      );
      if (leading !== undefined) broken(`server ${number} leads on an older log`);
      if (!(cause instanceof Diverged)) broken(`server ${number} goes on with an older log`);
      else if (Number(named?.[1] ?? 0) <= head.index) broken(`server ${number}: ${cause.message}`);
      for (const question of questions) this.#askServer(number, question);
    }
  }

  #askServer(number: number, { method, path, query, status: expected }: Question): void {
    const { servers, broken } = this.#options;
    const { running } = servers.all[number]!;
    if (running === undefined) return;
    const headers = { 'x-registry-token': rootToken };
    const body = method === 'PUT' ? Buffer.from('{"Items":{"value":"lost"}}') : undefined;
    const answer = Promise.resolve(running.handle({ method, path, query, headers, body }));
    void answer.then(({ status }) => {
      if (status === expected) return;
      broken(`server ${number} answers ${method} ${path}?${query} on an older log: ${status}`);
    });
  }

  /** An operator stops all servers, recovers the log by means of one of them, and has the others follow. */
  async #recover(): Promise<void> {
    const { servers, log, random } = this.#options;
    await this.#wait(againMs);
    for (const server of servers.all) server.halt();
    const indexOf = (number: number) => log.storages[number]!.memory?.log?.index ?? 0;
    const numbers = [...servers.all.keys()].sort((one, other) => indexOf(other) - indexOf(one));
    let from: RecoverySource = random.below(2) === 0 ? 'etcd' : 'disk';
    for (const [turn, number] of numbers.entries()) {
      for (let attempt = 0; attempt < triesMax; attempt++) {
        try {
          await this.#recoverBy(number, from);
          if (turn === 0)
            this.#countOne(`the log is recovered from ${from === 'etcd' ? from : 'a disk'}`);
          break;
        } catch (error) {
          // A try without an answer may have recovered the log.
          from = 'etcd';
          if (attempt + 1 < triesMax) await this.#wait(againMs);
          else this.#options.broken(`the log is not recovered: ${(error as Error).message}`);
        }
      }
      from = 'etcd';
    }
    for (const server of servers.all) server.resume();
  }

  async #recoverBy(number: number, from: RecoverySource): Promise<void> {
    const { world, log } = this.#options;
    const recovery = log.recoveryBy(log.storages[number]!);
    try {
      await recoverLog({ recovery, from, world, version: '1.0.0' });
    } finally {
      await recovery.close();
    }
  }

  #countOne(name: string, more = ''): void {
    this.done.set(name, this.done.get(name)! + 1);
    this.#options.note(`${name}${more}`);
  }

  #wait(durationMs: number): Promise<void> {
    return delay(this.#options.world.timers, durationMs);
  }
}
