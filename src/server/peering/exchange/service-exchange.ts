import { limits } from '../../../model/limits.ts';
import { defaultPartition } from '../../../model/namespace/namespace.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import { MalformedExchange, readExchangeFrame } from '../../../model/peering/exchange-frames.ts';
import { serviceOfText, shownService } from '../../../model/peering/exports.ts';
import type { Sending } from '../../../model/peering/why.ts';
import type { ServiceRegistration } from '../../../model/service-registration/service-registration.ts';
import { importedServices, serviceRegistrations } from '../../../state/tables.ts';
import type { Change } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import type { PeerLag } from '../../servers.ts';
import type { Exchange, ExchangeLink, OpenExchange } from '../exchange.ts';
import type { ExchangeBounds } from './bounds.ts';
import { chainChange, Exported, exportingPartition, type PeerPlace } from './exported.ts';
import { Imports } from './imports.ts';
import { protocolChange } from './protocols.ts';
import { Receiver } from './receiver.ts';
import { Sender } from './sender.ts';

interface OpenStream {
  readonly link: ExchangeLink;
  readonly sender: Sender;
  readonly receiver: Receiver;
  readonly sinceMs: number;
}

/** The state of the exchange with one peer beyond stored rows. */
export interface ExchangeState {
  /** When the stream was opened; `undefined`: there is none. */
  readonly openSinceMs: number | undefined;
  /** How far a service is told to the peer. */
  readonly sending: (service: ServiceKey) => Sending;
  /** The peer has told all its exports on this stream. */
  readonly hasToldAll: boolean;
  /** When it last did so; `undefined`: not since this server became leader. */
  readonly toldAllAtMs: number | undefined;
}

/**
 * Exchanges services with all peers: each stream has a sender and a receiver.
 *
 * Invariants
 *  V1. Everything it keeps is derived from the state: a new leader builds it again.
 *  V2. A commit costs a look-up for each changed instance and each open stream.
 */
export class ServiceExchange implements Exchange {
  readonly #context: ServerContext;
  readonly #bounds: ExchangeBounds;
  readonly #stopping = new AbortController();
  readonly #streams = new Map<string, OpenStream>();
  readonly #imports = new Map<string, Imports>();
  /** When each peer last told all its exports. */
  readonly #toldAllAtMs = new Map<string, number>();
  readonly #imported = new Map<string, { readonly index: number; readonly names: string[] }>();
  #exportedNow: Exported | undefined;
  #unsubscribe: () => void = () => {};

  constructor(context: ServerContext, bounds: ExchangeBounds = limits.peering) {
    this.#context = context;
    this.#bounds = bounds;
  }

  start(): void {
    const { state } = this.#context;
    this.#exportedNow = new Exported(state);
    this.#unsubscribe = state.onCommit((changes) => this.#followCommit(changes));
  }

  stop(): void {
    this.#stopping.abort();
    this.#unsubscribe();
    for (const { sender, receiver } of this.#streams.values()) {
      sender.close();
      receiver.close();
    }
    this.#streams.clear();
  }

  open(link: ExchangeLink): OpenExchange {
    const key = keyOf(link.peering);
    const bounds = this.#bounds;
    // The newest stream replaces the others.
    this.#close(this.#streams.get(key));
    const sender = new Sender(this.#context, { exported: this.#exported, link, bounds });
    const { clock } = this.#context.world;
    const receiver = new Receiver(this.#context, {
      imports: this.#importsOf(link.peering),
      link,
      bounds,
      onComplete: () => this.#toldAllAtMs.set(key, clock.nowMs()),
    });
    const stream: OpenStream = { link, sender, receiver, sinceMs: clock.nowMs() };
    this.#streams.set(key, stream);
    sender.start();
    return {
      receive: (frame) => receiveOn(stream, frame),
      close: () => this.#close(stream),
    };
  }

  status(peering: PeerPlace): {
    readonly imported: readonly string[];
    readonly exported: readonly string[];
  } {
    const exported = this.#exported.servicesTo(peering);
    return {
      imported: this.#importedNames(peering),
      exported: exported.map((text) => shownService(serviceOfText(text))),
    };
  }

  /** Time since the oldest change that the peer has not acknowledged; `undefined`: no stream is open. */
  lagMs(peering: PeerPlace): number | undefined {
    return this.#streams.get(keyOf(peering))?.sender.lagMs;
  }

  /** The peers that have not acknowledged a change for so long, and for how long. */
  lagging(leastMs: number): readonly PeerLag[] {
    return [...this.#streams.values()].flatMap(({ link: { peering }, sender: { lagMs } }) =>
      lagMs < leastMs ? [] : [{ partition: peering.partition, name: peering.name, lagMs }],
    );
  }

  async forget(peering: PeerPlace): Promise<void> {
    const key = keyOf(peering);
    this.#close(this.#streams.get(key));
    const imports = this.#importsOf(peering);
    await imports.inTurn(() => imports.removeAll());
    this.#stopping.signal.throwIfAborted();
    this.#exported.forget(peering);
    this.#toldAllAtMs.delete(key);
    this.#imported.delete(key);
    if (!this.#streams.has(key)) this.#imports.delete(key);
  }

  stateOf(peering: PeerPlace): ExchangeState {
    const key = keyOf(peering);
    const stream = this.#streams.get(key);
    return {
      openSinceMs: stream?.sinceMs,
      sending: (service) => stream?.sender.stateOf(service) ?? { kind: 'not told' },
      hasToldAll: stream?.receiver.isComplete === true,
      toldAllAtMs: this.#toldAllAtMs.get(key),
    };
  }

  get #exported(): Exported {
    this.#exportedNow ??= new Exported(this.#context.state);
    return this.#exportedNow;
  }

  #close(stream: OpenStream | undefined): void {
    if (stream === undefined) return;
    stream.sender.close();
    stream.receiver.close();
    const key = keyOf(stream.link.peering);
    if (this.#streams.get(key) === stream) this.#streams.delete(key);
  }

  #importsOf(peering: PeerPlace): Imports {
    const key = keyOf(peering);
    const known = this.#imports.get(key);
    if (known !== undefined) return known;
    const { partition, name } = peering;
    const options = { bounds: this.#bounds, signal: this.#stopping.signal };
    const imports = new Imports(this.#context, { partition, name }, options);
    this.#imports.set(key, imports);
    return imports;
  }

  #followCommit(changes: readonly Change[]): void {
    this.#exported.follow(changes);
    if (this.#streams.size === 0) return;
    for (const change of changes) {
      if (change.table === serviceRegistrations.name) this.#noteInstance(change);
      else this.#noteEntry(change);
    }
  }

  #noteInstance({ before, after }: Change): void {
    const row = (after ?? before) as ServiceRegistration;
    const service = { namespace: row.Namespace, name: row.ServiceName };
    for (const { sender } of this.#streams.values()) {
      if (sender.peering.partition === defaultPartition) sender.noteInstance(service, row.ID);
    }
  }

  #noteEntry(change: Change): void {
    const partition = exportingPartition(change);
    const protocol = protocolChange(change);
    const chain = chainChange(change);
    if (partition === undefined && protocol === undefined && chain === undefined) return;
    for (const { sender } of this.#streams.values()) {
      if (sender.peering.partition === partition) sender.review();
      if (sender.peering.partition === protocol?.partition) sender.noteProtocol(protocol.service);
      if (sender.peering.partition === chain?.partition) sender.noteChain(chain.service);
    }
  }

  #importedNames(peering: PeerPlace): readonly string[] {
    const prefix = [peering.partition, peering.name];
    const table = this.#context.state.read().table(importedServices);
    const index = table.lastIndex({ prefix });
    const key = keyOf(peering);
    const known = this.#imported.get(key);
    if (known?.index === index) return known.names;
    const names = [...table.scan({ prefix })].map(({ Namespace: namespace, Name: name }) =>
      shownService({ namespace, name }),
    );
    this.#imported.set(key, { index, names });
    return names;
  }
}

const keyOf = ({ partition, name }: PeerPlace): string => `${partition}/${name}`;

function receiveOn({ sender, receiver }: OpenStream, received: unknown): void {
  try {
    const frame = readExchangeFrame(received);
    if (frame.type === 'acknowledge') {
      const refusal = sender.acknowledge(frame.id);
      if (refusal !== undefined) receiver.fail(refusal);
    } else receiver.receive(frame);
  } catch (error) {
    if (!(error instanceof MalformedExchange)) throw error;
    receiver.fail(error.message);
  }
}
