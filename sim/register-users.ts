/** Users who write and read a few variables at any server, whose history has to be linearizable. */
import type { Random } from '../src/base/ports.ts';
import { RegisterHistory } from './register-history.ts';

/** The most times that a write without an answer is sent again, with its key. */
const repeatsMax = 3;

export interface RegisterRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** To be called when the request may run again after its answer. */
  readonly onDuplicate?: () => void;
}

export interface RegisterReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  readonly json: any;
}

export interface RegisterUsersOptions {
  readonly users: number;
  readonly registers: readonly string[];
  readonly pauseMaxMs: number;
  readonly random: Random;
  /** Resolves with `undefined` if no answer arrives. */
  readonly ask: (user: number, request: RegisterRequest) => Promise<RegisterReply | undefined>;
  readonly after: (delayMs: number, run: () => void) => void;
  readonly fault: (sentence: string) => void;
}

interface Write {
  readonly name: string;
  readonly value: string;
  /** Written only if the register was last written at this index. */
  readonly condition: number | undefined;
}

export class RegisterUsers {
  readonly #options: RegisterUsersOptions;
  #history = this.#newHistory();
  /** Number of restores so far. The registers of each have names of their own. */
  #restores = 0;
  /** Index of the last known write of each register, by its address. */
  readonly #known = new Map<string, number>();
  #values = 0;
  #isOver = false;

  constructor(options: RegisterUsersOptions) {
    this.#options = options;
  }

  get counts(): RegisterHistory['counts'] {
    return this.#history.counts;
  }

  start(): void {
    for (let user = 0; user < this.#options.users; user++) {
      const again = async () => {
        await this.#useRegister(user);
        this.#options.after(this.#options.random.below(this.#options.pauseMaxMs), again);
      };
      void again();
    }
  }

  /**
   * A snapshot was restored, in which registers have older values. From now on users use other registers, and
   * operations that are under way are not judged.
   */
  restored(): void {
    this.#restores++;
    this.#history = this.#newHistory();
  }

  /** From now on users only read. */
  end(): void {
    this.#isOver = true;
  }

  /** Reads every register once. */
  async readAll(user: number): Promise<void> {
    for (const name of this.#options.registers) await this.#read(user, name);
  }

  #useRegister(user: number): Promise<void> {
    const { random, registers } = this.#options;
    const name = registers[random.below(registers.length)]!;
    const dice = random.below(10);
    if (this.#isOver || dice < 5) return this.#read(user, name);
    const known = this.#known.get(this.#urlOf(name));
    const condition = dice < 7 ? known : undefined;
    return this.#write(user, { name, value: `${++this.#values}`, condition });
  }

  async #read(user: number, name: string): Promise<void> {
    const history = this.#history;
    const begun = history.begin(name);
    const url = this.#urlOf(name);
    const reply = await this.#options.ask(user, { method: 'GET', url });
    if (reply?.status === 404) history.read(begun, 0, undefined);
    if (reply?.status !== 200) return;
    const index: number = reply.json.ModifyIndex;
    this.#known.set(url, index);
    history.read(begun, index, reply.json.Items.value);
  }

  async #write(user: number, { name, value, condition }: Write): Promise<void> {
    const { random, ask } = this.#options;
    const history = this.#history;
    const begun = history.begin(name, value);
    const known = this.#urlOf(name);
    const url = condition === undefined ? known : `${known}?cas=${condition}`;
    const headers = { 'idempotency-key': `register-${value}` };
    // Its second copy may run after the first one was refused.
    let isDuplicated = false;
    const onDuplicate = () => {
      isDuplicated = true;
    };
    const sent = { method: 'PUT', url, headers, body: { Items: { value } }, onDuplicate };
    let isUnknown = false;
    for (let repeats = 0; repeats <= repeatsMax; repeats++) {
      const reply = await ask(user, sent);
      if (reply?.status === 200) {
        const index: number = reply.json.ModifyIndex;
        this.#known.set(known, index);
        return history.wrote(begun, index, condition);
      }
      const isRefused = reply !== undefined && reply.json?.code !== 'outcome-unknown';
      if (isRefused && !isUnknown) {
        return isDuplicated ? history.unknown(begun) : history.refused(begun);
      }
      isUnknown = true;
      if (random.below(2) === 0) break;
    }
    history.unknown(begun);
  }

  #urlOf(name: string): string {
    const after = this.#restores === 0 ? '' : `-after-${this.#restores}`;
    return `/v1/var/registers/${name}${after}`;
  }

  /** Its faults are told until another history has begun. */
  #newHistory(): RegisterHistory {
    const history: RegisterHistory = new RegisterHistory((sentence) => {
      if (this.#history === history) this.#options.fault(sentence);
    });
    return history;
  }
}
