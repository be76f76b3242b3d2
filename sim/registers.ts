/** Users who write and read a few variables at any server, whose history has to be linearizable. */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Call, Network, Reply } from './network.ts';
import { Process } from './process.ts';
import { type Begun, RegisterHistory } from './register-history.ts';
import { rootToken } from './server.ts';

const users = 3;
const registers = ['one', 'two'];
const pauseMaxMs = 4000;
const patienceMs = 20_000;
/** A write without an answer is sent again so often at most, with its key. */
const repeatsMax = 3;

export interface RegistersOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  readonly random: Random;
  readonly fault: (sentence: string) => void;
}

interface Write {
  readonly name: string;
  readonly value: string;
  /** Written only if the register was last written at this index. */
  readonly condition: number | undefined;
}

export class Registers {
  readonly #options: RegistersOptions;
  readonly #history: RegisterHistory;
  readonly #process: Process;
  /** Index of the last known write of each register. */
  readonly #known = new Map<string, number>();
  #values = 0;
  #isOver = false;

  constructor(options: RegistersOptions) {
    this.#options = options;
    this.#history = new RegisterHistory(options.fault);
    this.#process = new Process(options.world);
  }

  start(): void {
    for (let user = 0; user < users; user++) {
      const machine = `user ${user} of registers`;
      const again = async () => {
        await this.#useRegister(machine);
        this.#runAfter(this.#options.random.below(pauseMaxMs), again);
      };
      void again();
    }
  }

  /** From now on users only read. */
  end(): void {
    this.#isOver = true;
  }

  #useRegister(machine: string): Promise<void> {
    const { random } = this.#options;
    const name = registers[random.below(registers.length)]!;
    const dice = random.below(10);
    if (this.#isOver || dice < 5) return this.#read(machine, name);
    const known = this.#known.get(name);
    const condition = dice < 7 ? known : undefined;
    return this.#write(machine, { name, value: `${++this.#values}`, condition });
  }

  async #read(machine: string, name: string): Promise<void> {
    const begun = this.#history.begin(name);
    const reply = await this.#callServer(machine, { method: 'GET', url: urlOf(name) });
    if (reply?.status === 404) this.#history.read(begun, 0, undefined);
    else if (reply?.status === 200) this.#tellRead(begun, reply);
  }

  #tellRead(begun: Begun, { json }: Reply): void {
    const index: number = json.ModifyIndex;
    this.#known.set(begun.register, index);
    this.#history.read(begun, index, json.Items.value);
  }

  async #write(machine: string, { name, value, condition }: Write): Promise<void> {
    const { random } = this.#options;
    const begun = this.#history.begin(name, value);
    const url = condition === undefined ? urlOf(name) : `${urlOf(name)}?cas=${condition}`;
    const headers = { 'idempotency-key': `register-${value}` };
    // Its second copy may run after the first one was refused.
    let isDuplicated = false;
    const onDuplicate = () => {
      isDuplicated = true;
    };
    const sent = { method: 'PUT', url, headers, body: { Items: { value } }, onDuplicate };
    let isUnknown = false;
    for (let repeats = 0; repeats <= repeatsMax; repeats++) {
      const reply = await this.#callServer(machine, sent);
      if (reply?.status === 200) {
        const index: number = reply.json.ModifyIndex;
        this.#known.set(name, index);
        return this.#history.wrote(begun, index, condition);
      }
      const isRefused = reply !== undefined && reply.json?.code !== 'outcome-unknown';
      if (isRefused && !isUnknown) {
        return isDuplicated ? this.#history.unknown(begun) : this.#history.refused(begun);
      }
      isUnknown = true;
      if (random.below(2) === 0) break;
    }
    this.#history.unknown(begun);
  }

  /** Resolves with `undefined` if no answer arrives. */
  async #callServer(
    machine: string,
    call: Omit<Call, 'token' | 'patienceMs'>,
  ): Promise<Reply | undefined> {
    try {
      const whole = { ...call, token: rootToken, patienceMs };
      return await this.#options.network.call(this.#process, machine, whole);
    } catch {
      return undefined;
    }
  }

  #runAfter(delayMs: number, run: () => void): void {
    this.#process.world.timers.after(delayMs, run);
  }
}

const urlOf = (name: string): string => `/v1/var/registers/${name}`;
