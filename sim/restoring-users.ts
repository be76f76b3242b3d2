/** Users who save snapshots of the state, and restore older ones. */
import type { Random } from '../src/base/ports.ts';
import { delay } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Network, Reply } from './network.ts';
import { Process } from './process.ts';
import { rootToken } from './server.ts';

const url = '/v1/operator/snapshot';
const patienceMs = 60_000;
const savePauseMaxMs = 120_000;
const restorePauseMaxMs = 480_000;
/** Snapshots that are kept, to restore any of them. Older snapshots are deleted. */
const filesMax = 5;
const pieceBytes = 32 * 1024;
/** The longest pause between two pieces of a file on their way, so that faults strike in between. */
const piecePauseMaxMs = 400;

export interface RestoringUsersOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  readonly random: Random;
}

export class RestoringUsers {
  readonly #options: RestoringUsersOptions;
  readonly #process: Process;
  readonly #files: Uint8Array[] = [];
  #isOver = false;
  /** How often something was done, for the summary. */
  readonly done = new Map([
    ['a snapshot is saved', 0],
    ['a restore is refused or has no answer', 0],
    ['a snapshot is restored', 0],
  ]);

  constructor(options: RestoringUsersOptions) {
    this.#options = options;
    this.#process = new Process(options.world);
  }

  start(): void {
    this.#repeatAct(savePauseMaxMs, () => this.#saveSnapshot());
    this.#repeatAct(restorePauseMaxMs, () => this.#restoreSnapshot());
  }

  end(): void {
    this.#isOver = true;
  }

  #repeatAct(pauseMaxMs: number, act: () => Promise<void>): void {
    const { random } = this.#options;
    this.#process.world.timers.after(random.below(pauseMaxMs), () => {
      if (this.#isOver) return;
      const next = () => this.#repeatAct(pauseMaxMs, act);
      act().then(next, next);
    });
  }

  async #saveSnapshot(): Promise<void> {
    const { status, file } = await this.#askServer({ method: 'GET', url, takesFile: true });
    if (status !== 200 || file === undefined) return;
    this.#files.push(file);
    if (this.#files.length > filesMax) this.#files.shift();
    this.#countOne('a snapshot is saved');
  }

  async #restoreSnapshot(): Promise<void> {
    const file = this.#files[this.#options.random.below(Math.max(this.#files.length, 1))];
    if (file === undefined) return;
    const last = await this.#askServer({ method: 'GET', url: `${url}/restored` });
    if (last.status !== 200) return;
    const to = `${url}?force=${last.json.ClusterID}`;
    const sent = this.#askServer({ method: 'PUT', url: to, sentFile: () => this.#piecesOf(file) });
    const reply = await sent.catch(() => undefined);
    const isDone = reply?.status === 200;
    this.#countOne(isDone ? 'a snapshot is restored' : 'a restore is refused or has no answer');
  }

  #askServer(call: {
    readonly method: string;
    readonly url: string;
    readonly takesFile?: boolean;
    readonly sentFile?: () => AsyncIterable<Uint8Array>;
  }): Promise<Reply> {
    const whole = { ...call, token: rootToken, patienceMs };
    return this.#options.network.call(this.#process, 'keeper of snapshots', whole);
  }

  async *#piecesOf(file: Uint8Array): AsyncGenerator<Uint8Array> {
    const { timers } = this.#process.world;
    for (let at = 0; at < file.byteLength; at += pieceBytes) {
      await delay(timers, this.#options.random.below(piecePauseMaxMs));
      yield file.subarray(at, at + pieceBytes);
    }
  }

  #countOne(name: string): void {
    this.done.set(name, this.done.get(name)! + 1);
  }
}
