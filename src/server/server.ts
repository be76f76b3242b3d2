import type { Clock, World } from '../base/ports.ts';
import type { ClusterVersion } from '../model/cluster-version/cluster-version.ts';
import { type RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { StreamOpener } from '../model/node-stream/stream-connection.ts';
import type { SchedulerConfiguration } from '../scheduler/view.ts';
import { newestVersions, type TableVersions } from '../state/form.ts';
import { allTables, clusterVersions, nodes } from '../state/tables.ts';
import type { Change, Term } from '../state/types.ts';
import { type BootstrapReset, noReset } from './acl/bootstrap.ts';
import type { ServerContext } from './context.ts';
import { EventLog } from './events/event-log.ts';
import { HandOver } from './hand-over.ts';
import { KeptAnswers } from './idempotency/kept-answers.ts';
import { ScopedWrites } from './idempotency/request-scope.ts';
import type { Keyring } from './keyring/keyring.ts';
import { Leading } from './leading.ts';
import { LoginService } from './login/login.ts';
import { leaderlessSince } from './nodes/leaderless.ts';
import { NodeStreams } from './nodes/streams.ts';
import type { Advertised } from './peering/context.ts';
import type { ThreadEnds } from './readers/thread-ends.ts';
import type { ServerOptions } from './server-options.ts';
import { alone, type Contact, type Servers } from './servers.ts';
import { SnapshotRestorer } from './snapshots/restore.ts';
import { SnapshotSaver } from './snapshots/save.ts';
import { lacking } from './upgrade/versions.ts';

/**
 * A server, whether it leads or follows. While it leads it has a `Leading`.
 *
 * Invariants
 *  V1. Each term of this process has a `Leading` of its own, and there is none outside a term.
 *  V2. A server that follows answers from its replica, its own connections and its own newest commits.
 */
export class Server {
  readonly context: ServerContext;
  readonly streams = new NodeStreams();
  readonly keptAnswers: KeptAnswers;
  readonly events: EventLog;
  readonly bootstrapReset: BootstrapReset;
  readonly logins: LoginService;
  readonly keyring: Keyring;
  readonly issuer: string | undefined;
  /** Where this server stands. */
  readonly datacenter: string;
  /** Of the program. */
  readonly version: string;
  /** The newest version of each table that it reads. */
  readonly tables: TableVersions;
  readonly servers: Servers;
  readonly snapshots: SnapshotSaver;
  readonly restorer: SnapshotRestorer;
  readonly handOver: HandOver;
  readonly #options: ServerOptions;
  #leading: Leading | undefined;
  /** The term of `#leading`. */
  #term: Term | undefined;
  #advertised: Advertised | undefined;
  #isHeard: boolean;
  /** Why it can no longer read what the others write. */
  #outdated: string | undefined;
  #unfollow: readonly (() => void)[] = [];

  constructor(options: ServerOptions) {
    const { state, log, region, keyring } = options;
    const world = withClock(options.world, state.clock);
    this.#options = options;
    const openEvaluations = () => this.#leading?.dispatcher.size ?? 0;
    this.bootstrapReset = options.bootstrapReset ?? noReset;
    const writes = new ScopedWrites(state);
    const { stopwatch, planRowsMax } = options;
    const own = { state: writes.state, box: keyring, openEvaluations };
    this.context = { ...own, world, stopwatch, log, region, planRowsMax };
    this.keptAnswers = new KeptAnswers({ state, writes, world, box: keyring });
    this.keyring = keyring;
    this.events = new EventLog(state, world.clock);
    this.issuer = options.issuer;
    this.datacenter = options.datacenter;
    this.version = options.version ?? '0.0.0';
    this.tables = options.tables ?? newestVersions(allTables);
    this.#isHeard = options.isHeardLater !== true;
    const leads = () => this.#leading !== undefined;
    this.servers = options.servers ?? alone(leads, options.readers?.streamTo);
    const { servers } = this;
    this.handOver = new HandOver({ state, servers, world, leads: () => this.leads });
    this.snapshots = new SnapshotSaver(this.context, this.version);
    this.restorer = new SnapshotRestorer(this.context, keyring);
    const { outbound, datacenter } = options;
    const { context } = this;
    this.logins = new LoginService({ context, bookkeeping: state, outbound, datacenter });
    if (!keyring.isForeign) this.#takeTerm(state.leading);
    keyring.onForeign(() => this.#giveUp(foreign));
  }

  /** From now on it leads in each term. Resolves once it leads, if a term is under way already. */
  async start(): Promise<void> {
    const { state } = this.context;
    if (this.keyring.isForeign) return;
    this.#unfollow = [
      state.onLeadership((term) => this.#followTerm(term)),
      state.onCommit((changes) => this.#followNodes(changes)),
      state.onCommit((changes) => this.#followVersions(changes)),
      state.onReplaced(() => this.#dropUnknownNodes()),
    ];
    // A term may have begun or ended since this server was made.
    if (state.leading !== this.#term) this.#takeTerm(state.leading);
    const leading = this.#leading;
    try {
      await leading?.start();
    } catch (error) {
      // Another server may lead by now, and this one may lead later.
      if (this.isAlone) throw error;
      this.#noteFailedBeginning(leading, error);
    }
  }

  stop(): void {
    for (const unfollow of this.#unfollow) unfollow();
    this.#leading?.stop();
    this.events.stop();
    this.streams.closeAll();
  }

  /** From now on nodes reach this server, also through the others. */
  beHeard(): void {
    this.#isHeard = true;
    this.#leading?.expectNodes();
  }

  /** Whether this server leads and takes writes. */
  get leads(): boolean {
    return this.#leading?.isStarted === true;
  }

  /** Why this server answers nothing; `undefined`: it answers. */
  get notReady(): RosterError | undefined {
    const reason = this.silence;
    return reason === undefined ? undefined : refusal('not-ready', { reason });
  }

  /** The reason in {@link notReady}. */
  get silence(): string | undefined {
    if (this.#outdated !== undefined || !this.keyring.isForeign) return this.#outdated;
    return 'its root key is missing, or is another one than that of the cluster. Give it the root key of the other servers';
  }

  /** Whether it is the only server there can be. */
  get isAlone(): boolean {
    return this.#options.servers === undefined;
  }

  /** Whether a term of this server is under way, even if its loops do not run yet. */
  get isLeading(): boolean {
    return this.#leading !== undefined;
  }

  /** When its term began, by its clock; `undefined`: it does not lead. */
  get leadsSinceMs(): number | undefined {
    return this.leads ? this.#leading?.sinceMs : undefined;
  }

  /** Ends of other threads of the agent, if it has any. */
  get threadEnds(): ThreadEnds | undefined {
    return this.#options.threadEnds;
  }

  /** The age of its state from which on it answers no `stale` requests. */
  get staleMaxMs(): number {
    return this.#options.staleMaxMs ?? limits.servers.staleMaxMs;
  }

  /** The last contact of this server with the leader. */
  contact(): Contact {
    if (this.leads) return { ...ownContact, LastContact: Math.round(this.silentMs) };
    return {
      LastContact: this.servers.lastContactMs(),
      KnownLeader: this.servers.leader() !== undefined,
    };
  }

  /**
   * Milliseconds for which the log has been silent; 0 if no longer than is usual. A leader that was asleep, or is cut off from
   * the log, does not know yet that another server may lead.
   */
  get silentMs(): number {
    const silentMs = this.#options.logContactMs?.() ?? 0;
    return silentMs <= limits.servers.leaderSilentMs ? 0 : silentMs;
  }

  /** The loops of the term under way. @throws RosterError `not-leader` */
  get leading(): Leading {
    if (this.#leading === undefined) throw refusal('not-leader');
    return this.#leading;
  }

  /**
   * Resolves when the state shows all that was durable at the call. `undefined` where this server holds
   * the log alone and always does. @throws RosterError `no-leader`
   */
  exact(): Promise<void> | undefined {
    const exact = this.context.state.exact();
    return exact?.catch(() => {
      throw refusal('no-leader');
    });
  }

  /** Since when no server leads. @throws RosterError `no-leader`: this server cannot know. */
  leaderlessSince(): Promise<number> {
    return leaderlessSince(this.context, this.servers);
  }

  /** Shows that this server can write, for `consistent` reads. @throws RosterError `no-leader` */
  async proveLeadership(): Promise<void> {
    if (this.context.state.closed !== undefined) throw refusal('no-leader');
  }

  /** The addresses that peers are told from now on, whenever this server leads. */
  advertise(advertised: Advertised): void {
    this.#advertised = advertised;
    this.#leading?.peerings.advertise(advertised);
  }

  /** Told to peers whenever this server leads. It is known here also while another one does. */
  get advertised(): Advertised {
    return this.#advertised ?? { addresses: [], caPems: [] };
  }

  /** The configuration that holds until operators set their own. */
  get schedulerDefaults(): SchedulerConfiguration {
    return this.#options.scheduler;
  }

  /** The node's connection to another server. @throws RosterError `node-unreachable` */
  async streamElsewhere(nodeId: string): Promise<StreamOpener> {
    const patience = { deadlineMs: limits.node.commandTimeoutMs };
    const connection = await this.servers.streamTo(nodeId, patience).catch(() => undefined);
    if (connection === undefined) throw refusal('node-unreachable', { node: nodeId });
    return connection;
  }

  /** A node that was purged is no more waited for, and has nothing to say here. */
  forgetNode(nodeId: string): void {
    this.#leading?.heartbeats.forget(nodeId);
    this.streams.drop(nodeId, purged);
  }

  get heartbeats() {
    return this.leading.heartbeats;
  }

  get dispatcher() {
    return this.leading.dispatcher;
  }

  get decisions() {
    return this.leading.decisions;
  }

  get planner() {
    return this.leading.planner;
  }

  get plans() {
    return this.leading.plans;
  }

  get returns() {
    return this.leading.returns;
  }

  get garbage() {
    return this.leading.garbage;
  }

  get peerings() {
    return this.leading.peerings;
  }

  get exchange() {
    return this.leading.exchange;
  }

  /** It can neither lead nor answer, so it leaves the log to the others. */
  #giveUp(reason: string): void {
    const { state, log } = this.context;
    log.error({}, `${reason}: it answers nothing`);
    this.#takeTerm(undefined);
    state.close().catch((error: unknown) => log.error({ error }, 'the state could not be closed'));
  }

  #newLeading(term: Term): Leading {
    const forgetNode = (nodeId: string) => this.forgetNode(nodeId);
    const { servers, version, tables } = this;
    const own = { servers, version, tables, isShared: !this.isAlone };
    const means = { forgetNode, saver: this.snapshots, isHeard: () => this.#isHeard, own };
    const leading = new Leading(this.context, term, this.#options, means);
    if (this.#advertised !== undefined) leading.peerings.advertise(this.#advertised);
    return leading;
  }

  #followTerm(term: Term | undefined): void {
    const { log } = this.context;
    if (this.keyring.isForeign) return;
    this.#takeTerm(term);
    if (this.#leading === undefined) {
      log.info({}, 'this server follows');
      return;
    }
    const leading = this.#leading;
    log.info({ term: term?.epoch }, 'this server leads');
    leading.start().catch((error: unknown) => this.#noteFailedBeginning(leading, error));
  }

  #takeTerm(term: Term | undefined): void {
    this.#leading?.stop();
    this.#term = term;
    this.#leading = term && this.#newLeading(term);
  }

  #noteFailedBeginning(leading: Leading | undefined, error: unknown): void {
    const { state, log } = this.context;
    if (this.#leading !== leading || state.closed !== undefined) return;
    log.error({ error }, 'this server could not begin to lead');
  }

  /** A restore may have taken nodes away that are connected here. */
  #dropUnknownNodes(): void {
    const known = this.context.state.read().table(nodes);
    this.streams.dropAll((nodeId) => known.has(nodeId), purged);
  }

  /** The others may write the state in a form now that this server does not read. */
  #followVersions(changes: readonly Change[]): void {
    for (const { table, after } of changes) {
      if (table !== clusterVersions.name || after === undefined) continue;
      const lacks = lacking(this.tables, (after as unknown as ClusterVersion).Tables);
      if (lacks.length === 0) continue;
      this.#outdated = `the servers write tables that this program of version ${this.version} does not read (${lacks.join(', ')})`;
      this.#giveUp(this.#outdated);
      return;
    }
  }

  /** Another server may have purged a node that is connected here. */
  #followNodes(changes: readonly Change[]): void {
    if (this.#leading !== undefined) return;
    for (const { table, before, after } of changes) {
      if (table !== nodes.name || after !== undefined) continue;
      this.streams.drop((before as unknown as { readonly ID: string }).ID, purged);
    }
  }
}

/** Transactions go by the clock of the state, where several processes write it. */
const withClock = (world: World, clock: Clock | undefined): World =>
  clock === undefined ? world : { ...world, clock };

const ownContact: Contact = { LastContact: 0, KnownLeader: true };

const purged = 'the node was purged';

const foreign = 'the root key of this server opens no key of the cluster';
