/**
 * A server without the root key of the cluster, which an operator starts on its log by mistake.
 *
 * 1. It never leads.
 * 2. It answers nothing: it is not ready on any route.
 * 3. No server takes it for one of the cluster, and it takes no server for one of its own.
 */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { socketPair } from '../src/model/node-stream/socket-pair.test-helper.ts';
import { introduce } from '../src/server/network/handshake.ts';
import { proofKey, type Side } from '../src/server/network/proof.ts';
import type { Fault } from './faults.ts';
import type { Storage } from './server.ts';
import { clusterKey, rootToken, SimulatedServer, type SimulatedServerOptions } from './server.ts';

const strangerKey = new Uint8Array(32).fill(2);
const visitPauseMaxMs = 4000;
const routes = [
  ['GET', '/v1/agent/health', ''],
  ['GET', '/v1/jobs', ''],
  ['GET', '/v1/jobs', 'stale'],
  ['PUT', '/v1/var/registers/one', ''],
] as const;

export interface StrangerOptions
  extends Pick<SimulatedServerOptions<Storage>, 'planRowsMax' | 'others' | 'disk' | 'build'> {
  readonly world: SimulatedWorld;
  readonly random: Random;
  /** Takes errors that the server logged. */
  readonly failed: (sentence: string, fields: object) => void;
  /** Takes a sentence that tells how the server was trusted. */
  readonly trusted: (sentence: string) => void;
}

export class Stranger {
  readonly #options: StrangerOptions;
  readonly #server: SimulatedServer<Storage>;
  #isThere = false;

  constructor(options: StrangerOptions) {
    this.#options = options;
    const { failed, trusted } = options;
    this.#server = new SimulatedServer({
      ...options,
      rootKey: strangerKey,
      events: {
        opened: (state) =>
          void state.onLeadership((term) => {
            if (term !== undefined) trusted('a server without the root key leads');
          }),
        failed: (sentence, fields) => {
          if (!sentence.includes('root key')) failed(sentence, fields);
        },
      },
    });
  }

  /** @param hosts ids of the servers of the cluster that run */
  fault(hosts: () => readonly string[]): Fault {
    return {
      name: 'a server without the root key comes',
      weight: 2,
      lastsMinMs: 10_000,
      lastsMaxMs: 120_000,
      begin: () => {
        if (this.#isThere) return undefined;
        this.#isThere = true;
        this.#server.start();
        this.#visitLater(hosts);
        return () => {
          this.#isThere = false;
          this.#server.crash('lost');
        };
      },
    };
  }

  #visitLater(hosts: () => readonly string[]): void {
    const { world, random } = this.#options;
    world.timers.after(random.below(visitPauseMaxMs), () => {
      if (!this.#isThere) return;
      void this.#askRoute();
      for (const host of hosts()) this.#meetServer(host);
      this.#visitLater(hosts);
    });
  }

  async #askRoute(): Promise<void> {
    const { random, trusted } = this.#options;
    const { running } = this.#server;
    if (running === undefined) return;
    const [method, path, query] = routes[random.below(routes.length)]!;
    const headers = { 'x-registry-token': rootToken };
    const body = method === 'PUT' ? Buffer.from('{"Items":{"value":"stranger"}}') : undefined;
    const answer = await running.handle({ method, path, query, headers, body });
    const isRefused = answer.status === 503 && String(answer.body).includes('not-ready');
    if (isRefused) return;
    trusted(`a server without the root key answers ${method} ${path}?${query}: ${answer.status}`);
  }

  /** It dials a server of the cluster, or is dialled by it. */
  #meetServer(host: string): void {
    const { world, random, trusted } = this.#options;
    const [left, right] = socketPair();
    const sides: readonly Side[] =
      random.below(2) === 0 ? ['dialer', 'acceptor'] : ['acceptor', 'dialer'];
    const ends = [
      { id: 'stranger', socket: left, side: sides[0]!, key: strangerKey },
      { id: host, socket: right, side: sides[1]!, key: clusterKey },
    ];
    // The acceptor listens first.
    for (const { id, socket, side, key } of ends.sort((one) =>
      one.side === 'acceptor' ? -1 : 1,
    )) {
      introduce(
        {
          socket,
          side,
          key: proofKey(key),
          self: { id, address: '', version: '0.0.0' },
          binding: '',
          secrets: world.secrets,
          timers: world.timers,
        },
        {
          proven: (peer) => trusted(`the server ${id} takes ${peer.id} for one of its cluster`),
          failed() {},
        },
      );
    }
  }
}
