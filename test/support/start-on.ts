import { Api } from '../../src/api/api.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { schedulerDefaults } from '../../src/scheduler/view.ts';
import { type Log, silentLog } from '../../src/server/context.ts';
import { Keyring } from '../../src/server/keyring/keyring.ts';
import { Server } from '../../src/server/server.ts';
import type { MemoryDisk } from '../../src/state/engine/memory.ts';
import type { StateLimits } from '../../src/state/limits.ts';
import { memoryState } from '../../src/state/state.test-helper.ts';
import { allTables } from '../../src/state/tables.ts';
import { nowhere, rootToken } from './api.ts';
import { letIn } from './introduction.ts';

export interface StartOptions {
  readonly limits?: Partial<StateLimits>;
  readonly log?: Log;
  readonly isHeardLater?: boolean;
}

/** Starts the server on a disk that may outlive it and can be slow. */
export async function startOn(
  world: SimulatedWorld,
  disk: MemoryDisk,
  { limits = {}, log = silentLog, isHeardLater = false }: StartOptions = {},
) {
  const state = await memoryState(allTables, world, disk, { limits });
  const keyring = await Keyring.open(state, new Uint8Array(32).fill(1), world);
  const acl = { keyring, outbound: nowhere, datacenter: 'dc1' };
  const rest = { region: 'global', rootSecret: rootToken, scheduler: schedulerDefaults, ...acl };
  const server = new Server({ state, world, log, isHeardLater, ...rest });
  const api = new Api({
    server,
    acl: { enabled: true, secrets: world.secrets },
    name: 'test',
    version: '0.0.0',
    connections: { perAddressMax: 0, perLoopbackMax: 0 },
  });
  await server.start();
  await letIn(state, world);

  async function call(method: string, url: string, body?: unknown, token: string = rootToken) {
    const [path = '', query = ''] = url.split('?', 2);
    const { status, body: answer } = await api.handle({
      method,
      path,
      query,
      headers: { 'x-registry-token': token },
      body: body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body)),
    });
    const text = answer instanceof Uint8Array ? Buffer.from(answer).toString() : answer;
    const isText = typeof text === 'string' && text !== '';
    return { status, json: isText ? JSON.parse(text) : undefined };
  }

  return { state, server, call };
}

export type Started = Awaited<ReturnType<typeof startOn>>;
