import { Resolver } from '../acl/resolve.ts';
import type { Server } from '../server/server.ts';
import type { LogHealth } from '../state/log-health.ts';
import { problemAnswer } from './answers.ts';
import { type AuditedSignal, type AuditOptions, auditTo, signalLine } from './audit.ts';
import { Denials } from './denials.ts';
import type { ForeignDialect } from './dialect/dialect.ts';
import { ExecSockets } from './exec-socket.ts';
import { Forwarding } from './forward.ts';
import { Gate } from './gate.ts';
import type { Answer, Request } from './http.ts';
import { requestOf } from './http-request.ts';
import { type ConnectionLimits, HttpServer, type Listening } from './http-server.ts';
import { Metrics, type ReaderMetrics } from './metrics/metrics.ts';
import { serverFamilies, threadFamilies } from './metrics/server-families.ts';
import type { StateFamilies } from './metrics/state-families.ts';
import { NamedServer } from './named-server.ts';
import { nodeStreamUpgrade } from './node-stream.ts';
import { openApi } from './openapi/openapi.ts';
import { ownHosts } from './own-site.ts';
import { PeeringSockets } from './peering-stream.ts';
import { type Observation, Pipeline } from './pipeline.ts';
import type { Route } from './route.ts';
import type { AgentFacts } from './routes/agent.ts';
import { type RouteOptions, routesOf } from './routes.ts';
import { spokenIn } from './serve.ts';
import type { ServerCertificate } from './server-certificate.ts';
import { type ServersDoor, ServersSockets } from './servers-stream.ts';
import { withoutSecrets } from './token.ts';
import { traceRequest } from './trace-request.ts';
import { transportRefusal } from './transport-refusal.ts';
import { Ui, type UiOptions } from './ui/ui.ts';
import { UiSockets } from './ui-stream/ui-sockets.ts';
import { firstOf } from './web-sockets.ts';

export interface ApiOptions extends RouteOptions {
  readonly server: Server;
  readonly connections: ConnectionLimits;
  /** Host names of this server, besides addresses and the names of the machine itself. */
  readonly hosts?: readonly string[];
  /** The web interface; absent: it is not served. */
  readonly ui?: UiOptions | undefined;
  /** Further dialects, each with its own paths. */
  readonly dialects?: readonly ForeignDialect[];
  /** `undefined`: the server does not use TLS. */
  readonly certificate?: ServerCertificate | undefined;
  /** The id of the node in this process, if there is one. */
  readonly node?: () => string | undefined;
  /** Takes the connections of other servers; `undefined`: there are none. */
  readonly servers?: ServersDoor | undefined;
  /** The settings of the agent without secrets, for `GET /v1/agent/self`. */
  readonly configuration?: (() => object) | undefined;
  /** The health of a log that several servers share; absent without one. */
  readonly log?: (() => LogHealth) | undefined;
  /** `undefined`: no audit log is written. */
  readonly audit?: AuditOptions | undefined;
  /** The metrics of the readers of this agent; absent without readers. */
  readonly metricsOfReaders?: (() => Promise<readonly ReaderMetrics[]>) | undefined;
}

/** The HTTP API of one server. Routes are served over a port or called directly. */
export class Api {
  readonly routes: readonly Route[];
  /** The web interface beside the routes. */
  readonly ui: Ui;
  readonly #options: ApiOptions;
  readonly #pipeline: Pipeline;
  readonly #metrics: Metrics;
  readonly #audit: ((observation: Observation) => void) | undefined;
  readonly #resolver: Resolver;
  readonly #denials = new Denials(() => this.#options.server.context.world.clock.nowMs());
  readonly #execSockets: ExecSockets;
  readonly #uiSockets: UiSockets;
  readonly #peeringSockets: PeeringSockets;
  readonly #serversSockets: ServersSockets | undefined;
  #http: HttpServer | undefined;
  #certificate: ServerCertificate | undefined;
  #stateFamilies: StateFamilies | undefined;
  #address = '';

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#certificate = options.certificate;
    const { server, dialects = [] } = options;
    const hosts = ownHosts(options.hosts ?? []);
    this.ui = new Ui(hosts, options.ui);
    const { state, world, box } = server.context;
    this.#resolver = new Resolver({ ...options.acl, box, clock: world.clock });
    state.onReplaced(() => this.#resolver.forgetFingerprints());
    this.#metrics = this.#newMetrics();
    this.#audit = options.audit && auditTo(options.audit, world.clock);
    this.routes = routesOf({
      server,
      resolver: this.#resolver,
      denials: this.#denials,
      ui: this.ui,
      facts: this.#agentFacts(),
      certificate: () => this.#certificate,
      address: () => this.#address,
      options,
    });
    this.#pipeline = new Pipeline({
      routes: [...this.routes, ...dialects.flatMap((one) => spokenIn(one, this.routes))],
      dialects,
      home: { region: server.context.region, datacenter: server.datacenter },
      state,
      world,
      resolve: (snapshot, secret, connection) =>
        this.#resolver.resolve(snapshot, secret, connection),
      gate: new Gate(hosts),
      keptAnswers: server.keptAnswers,
      notReady: () => server.notReady,
      proveLeadership: () => server.proveLeadership(),
      forwarding: server.isAlone
        ? undefined
        : new Forwarding({
            servers: server.servers,
            timers: world.timers,
            clock: world.clock,
            takesWrites: () => server.handOver.takesWrites,
            beginWrite: () => server.handOver.beginWrite(),
            exact: () => server.exact(),
            contactMs: () => server.contact().LastContact,
            staleMaxMs: server.staleMaxMs,
            isReader: options.isReader,
          }),
      named: options.isReader ? undefined : new NamedServer(server.servers),
      contact: () => server.contact(),
      observe: (observation) => this.#observe(observation),
      defaultPolicy: options.acl.enabled ? this.#resolver.defaultPolicy : undefined,
    });
    this.#execSockets = new ExecSockets({
      pipeline: this.#pipeline,
      timers: world.timers,
      requestOf,
      onFailure: (error) => server.context.log.error({ error }, 'a session failed'),
    });
    this.#uiSockets = new UiSockets(server.context, {
      pipeline: this.#pipeline,
      leader: leaderKnownBy(server),
      hosts,
      observe: (observation) => this.#observe(observation),
    });
    this.#peeringSockets = new PeeringSockets({
      server,
      requestOf,
      observe: (observation) => this.#observe(observation),
    });
    this.#serversSockets = options.servers && new ServersSockets(options.servers);
  }

  /** Answers a request that did not come through the port. */
  handle(request: Request): Answer | Promise<Answer> {
    return this.ui.answer(request) ?? this.#pipeline.handle(request);
  }

  /** Serves a request that another server of the cluster hands on. */
  answer(request: Request): Answer | Promise<Answer> {
    return this.#pipeline.answer(request);
  }

  /** `host:port`; empty before `listen`. */
  get address(): string {
    return this.#address;
  }

  /** Resolves with the address. Rejects with the system's error (`EADDRINUSE` …). */
  async listen(listening: Listening): Promise<string> {
    this.#http = new HttpServer({
      handle: (request) => this.handle(request),
      readsBody: (method, path) => this.#pipeline.readsBody(method, path),
      refuse: (fault) => problemAnswer(transportRefusal(fault)),
      upgrade: firstOf(
        nodeStreamUpgrade({
          server: this.#options.server,
          pipeline: this.#pipeline,
          requestOf,
          observe: (observation) => this.#observe(observation),
        }),
        this.#uiSockets.upgrade,
        this.#execSockets.upgrade,
        this.#peeringSockets.upgrade,
        ...(this.#serversSockets === undefined ? [] : [this.#serversSockets.upgrade]),
      ),
      connections: this.#options.connections,
      certificate: this.#certificate,
    });
    const { host } = listening;
    const taken = await this.#http.listen(listening);
    this.reachedAt(host.includes(':') ? `[${host}]:${taken}` : `${host}:${taken}`);
    return this.#address;
  }

  /** Notes where other threads listen for it. */
  reachedAt(address: string): void {
    this.#address = address;
  }

  /** The metrics of the agent, as JSON. */
  metrics(): Promise<string> {
    return this.#metrics.text('json');
  }

  /** Counts of this thread, for the main thread. */
  metricsOfThread(): ReaderMetrics {
    return this.#metrics.ofThread();
  }

  /** Changes the TLS certificate of later connections. */
  renewCertificate(certificate: ServerCertificate): void {
    this.#certificate = certificate;
    this.#http?.renew(certificate);
  }

  /** Notes a signal to the agent in the audit log. */
  auditSignal(signal: AuditedSignal): void {
    const { audit, server } = this.#options;
    audit?.sink.write(signalLine(signal, server.context.world.clock.nowMs()));
  }

  /** Answers pending requests and accepts no more. */
  async close(): Promise<void> {
    this.#pipeline.stop();
    this.#stateFamilies?.stop();
    this.#execSockets.close();
    this.#uiSockets.close();
    this.#peeringSockets.close();
    this.#serversSockets?.close();
    await this.#http?.close();
  }

  #newMetrics(): Metrics {
    const { server, isReader, metricsOfReaders } = this.#options;
    return new Metrics({
      world: server.context.world,
      ofThread: () =>
        threadFamilies({
          server,
          parked: this.#pipeline.parked,
          sessions: this.#execSockets.size,
          ui: this.#uiSockets,
          connections: this.#http?.connections ?? 0,
          resolved: this.#resolver.counts,
        }),
      ofServer: isReader ? undefined : () => this.#familiesOfServer(),
      ofReaders: metricsOfReaders,
    });
  }

  async #familiesOfServer() {
    const { server, log } = this.#options;
    const { StateFamilies } = await import('./metrics/state-families.ts');
    this.#stateFamilies ??= new StateFamilies(server.context);
    return [...serverFamilies(server, log?.()), ...(await this.#stateFamilies.read())];
  }

  #agentFacts(): AgentFacts {
    const { server, name, version, configuration = () => ({}), node, log } = this.#options;
    let document: string | undefined;
    return {
      name,
      version,
      configuration,
      region: server.context.region,
      address: () => this.#address,
      servers: server.servers,
      writesClosed: () => server.context.state.closed,
      node: () => node?.(),
      log: () => log?.(),
      metrics: this.#metrics,
      openApi: () => {
        document ??= JSON.stringify(openApi(this.routes, version));
        return document;
      },
    };
  }

  #observe(observation: Observation): void {
    const { trail } = observation;
    const isCountedThere = trail.forwardedTo !== undefined && trail.code === undefined;
    // Metrics show the trace beside the duration.
    if (this.#options.tracing !== undefined) traceRequest(this.#options.tracing, observation);
    if (!this.#options.isReader || !isCountedThere) this.#metrics.observe(observation);
    this.#audit?.(observation);
    this.#denials.observe(observation);
    const { request, status, durationMs, failure, requestId } = observation;
    const { log } = this.#options.server.context;
    if (failure === undefined) {
      if (log.isLevelEnabled?.('debug') === false) return;
      log.debug({ method: request.method, path: request.path, status, durationMs }, 'request');
      return;
    }
    const url = withoutSecrets(`${request.path}?${request.query}`);
    log.error({ method: request.method, url, requestId, error: failure }, 'request failed');
  }
}

const leaderKnownBy = (server: Server) => ({
  isKnown: () => server.contact().KnownLeader,
  onChange: (listen: () => void) => server.servers.onLeader(listen),
});
