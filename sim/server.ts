/** The real server over a simulated disk: started, ended like a program that crashes, started again. */
import { Api } from '../src/api/api.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { schedulerDefaults } from '../src/scheduler/view.ts';
import type { Log } from '../src/server/context.ts';
import { Keyring } from '../src/server/keyring/keyring.ts';
import { OutboundError } from '../src/server/login/outbound.ts';
import { Server } from '../src/server/server.ts';
import { type CrashFate, MemoryDisk } from '../src/state/engine/memory.ts';
import { allTables } from '../src/state/tables.ts';
import { memoryState } from '../src/state/testing.ts';
import type { State } from '../src/state/types.ts';
import type { Endpoint } from './network.ts';
import { Process } from './process.ts';

export const rootToken = '10000000-0000-4000-8000-000000000001';
export const introductionToken = '10000000-0000-4000-8000-000000000002';

export interface RunningServer extends Endpoint {
  readonly state: State;
}

export class SimulatedServer {
  readonly disk = new MemoryDisk();
  /** Called with each state that was opened, before anything is served. */
  onOpened: (state: State) => void = () => {};
  /** The server logged this as an error. */
  onError: (sentence: string, fields: object) => void = () => {};
  readonly #world: SimulatedWorld;
  #running: RunningServer | undefined;
  #process: Process | undefined;
  #stop = () => {};

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  get running(): RunningServer | undefined {
    return this.#running;
  }

  /** The program runs, or is just being started. */
  get isUp(): boolean {
    return this.#process?.isAlive === true;
  }

  async start(): Promise<void> {
    const process = new Process(this.#world);
    this.#process = process;
    const { world } = process;
    const log: Log = {
      ...{ debug() {}, info() {}, warn() {} },
      error: (fields, sentence) => process.isAlive && this.onError(sentence, fields),
    };
    const state = await memoryState(allTables, world, this.disk, { freeze: false });
    const keyring = await Keyring.open(state, new Uint8Array(32).fill(1), world);
    if (!process.isAlive) return;
    this.onOpened(state);
    const server = new Server({
      ...{ state, world, log, keyring, region: 'global', datacenter: 'dc1' },
      outbound: async ({ url }) => {
        throw new OutboundError(`${url} cannot be reached`);
      },
      rootSecret: rootToken,
      scheduler: schedulerDefaults,
    });
    const api = new Api({
      server,
      acl: {
        enabled: true,
        introductionHash: world.secrets.hash(introductionToken),
        secrets: world.secrets,
      },
      ...{ name: 'simulated', version: '0.0.0' },
      connections: { perAddressMax: 0, perLoopbackMax: 0 },
    });
    this.#stop = () => server.stop();
    await server.start();
    if (!process.isAlive) return;
    this.#running = { process, state, handle: (request) => api.handle(request) };
  }

  /** `fate`: what becomes of the write that is under way. */
  crash(fate: CrashFate): void {
    this.#process?.kill();
    this.#process = undefined;
    this.#running = undefined;
    this.disk.crash(fate);
    // What the dead program held is not to be held on to by what outlives it.
    this.#stop();
    this.#stop = () => {};
  }
}
