import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { uiStreamPath } from '../../model/ui-stream/messages.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Change } from '../../state/types.ts';
import { problemAnswer } from '../answers.ts';
import { pathOf, requestOf } from '../http-request.ts';
import type { Upgrade } from '../http-server.ts';
import { foreignPage, type OwnHosts } from '../own-site.ts';
import type { Observation, Pipeline } from '../pipeline.ts';
import { hangUp, ownSocket } from '../raw-answer.ts';
import { wantsWebSocket, webSockets } from '../web-sockets.ts';
import { SharedWatches } from './shared-watches.ts';
import { UiConnection } from './ui-connection.ts';

export interface UiSocketsOptions {
  readonly pipeline: Pipeline;
  readonly leader: {
    readonly isKnown: () => boolean;
    /** Calls `listen` when that may have changed. Returns the end. */
    readonly onChange: (listen: () => void) => () => void;
  };
  readonly hosts: OwnHosts;
  readonly observe: (observation: Observation) => void;
}

type Here = Pick<ServerContext, 'state' | 'world' | 'log'>;

/** Tables with the rules of tokens. A namespace has policies that all its tokens have. */
const ofRules: ReadonlySet<string> = new Set(['acl-policies', 'acl-roles', 'namespaces']);
const ofTokens = 'acl-tokens';

/** The connections of the web interface. DESIGN.md */
export class UiSockets {
  readonly #options: UiSocketsOptions & Here & { readonly knowsLeader: () => boolean };
  readonly #shared: SharedWatches;
  /** Also those that have not said hello. */
  readonly #open = new Set<UiConnection>();
  readonly #entered = new Set<UiConnection>();
  readonly #unsubscribe: readonly (() => void)[];
  /** `undefined`: not looked at. A reader has no API yet that could tell it while this is made. */
  #knewLeader: boolean | undefined;

  constructor({ state, world, log }: Here, options: UiSocketsOptions) {
    const { isKnown, onChange } = options.leader;
    this.#options = { ...options, state, world, log, knowsLeader: isKnown };
    this.#shared = new SharedWatches(this.#options);
    this.#unsubscribe = [
      state.onCommit((changes) => this.#noteChanges(changes)),
      state.onReplaced(() => this.#checkAll()),
      onChange(() => this.#noteLeader()),
    ];
  }

  get upgrade(): Upgrade {
    const { hosts, log } = this.#options;
    const refuse = (_: IncomingMessage, socket: Socket, refused: RosterError): void =>
      hangUp(socket, problemAnswer(refused));
    const accept = webSockets({ messageBytesMax: limits.uiStream.messageBytesMax, refuse });
    return {
      isAsked: (raw) => wantsWebSocket(raw) && pathOf(raw.url ?? '') === uiStreamPath,
      take: (raw, socket, head) => {
        ownSocket(socket);
        const request = requestOf(raw);
        const foreign = foreignPage(request, hosts);
        if (foreign !== undefined) {
          refuse(
            raw,
            socket,
            refusal('foreign-site', { header: foreign.name, value: foreign.value }),
          );
          return;
        }
        accept(raw, socket, head, (webSocket) => {
          socket.setKeepAlive(true, limits.stream.pingIntervalMs);
          const connection = new UiConnection(
            {
              ...this.#options,
              shared: this.#shared,
              enter: (entering) => this.#enterConnection(entering),
              onFailure: (error) => log.error({ error }, 'a page of the interface failed'),
            },
            webSocket,
            request,
          );
          this.#open.add(connection);
          webSocket.once('close', () => {
            this.#open.delete(connection);
            this.#entered.delete(connection);
          });
          void connection.serve();
        });
      },
    };
  }

  /** The number of connections. */
  get size(): number {
    return this.#entered.size;
  }

  /** The number of watched paths. */
  get watches(): number {
    return this.#shared.size;
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const connection of [...this.#open]) connection.goAway();
  }

  #enterConnection(connection: UiConnection): void {
    const limit = limits.uiStream.connectionsPerServerMax;
    if (this.#entered.size >= limit) throw refusal('too-many-ui-connections', { limit });
    this.#entered.add(connection);
  }

  #noteChanges(changes: readonly Change[]): void {
    if (this.#entered.size === 0) return;
    if (changes.some(({ table }) => ofRules.has(table))) this.#shared.readAgain();
    const tokens = changes.flatMap(({ table, before }) =>
      table === ofTokens && before !== undefined
        ? [(before as unknown as { readonly AccessorID: string }).AccessorID]
        : [],
    );
    if (tokens.length === 0) return;
    const names = new Set(tokens);
    const meant = [...this.#entered].filter(
      ({ accessor }) => accessor !== undefined && names.has(accessor),
    );
    // The view may move after this call.
    this.#options.world.timers.soon(() => {
      for (const connection of meant) connection.checkToken();
    });
  }

  /** Without a leader, answers may be behind: watches and pages are told at once. */
  #noteLeader(): void {
    const isKnown = this.#options.knowsLeader();
    if (isKnown === this.#knewLeader) return;
    this.#knewLeader = isKnown;
    this.#shared.readAgain();
    for (const connection of [...this.#open]) connection.noteLeader();
  }

  #checkAll(): void {
    this.#shared.readAgain();
    this.#options.world.timers.soon(() => {
      for (const connection of [...this.#entered]) connection.checkToken();
    });
  }
}
