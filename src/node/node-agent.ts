import { durationMs } from '../base/duration.ts';
import { delay, type World } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { Allocations } from './allocations.ts';
import { Backoff } from './backoff.ts';
import { restartHandler, signalHandler } from './command-handlers.ts';
import type { Driver, Drivers } from './drivers/driver.ts';
import { rawExecDriver } from './drivers/raw-exec.ts';
import { hostEnvironment } from './environment/host-environment.ts';
import { execHandler } from './exec/exec-handler.ts';
import { fingerprint, type NodeSettings } from './fingerprint/fingerprint.ts';
import { dispatchPayloadHook } from './hooks/dispatch-payload.ts';
import { type NodeIdentity, readIdentity, writeIdentity } from './identity.ts';
import { logsHandler } from './logs/logs-handler.ts';
import { type ServerApi, statusOf } from './server-api.ts';
import { StatusReporter } from './status-reporter.ts';
import { runStream } from './stream-loop.ts';
import { SupervisorClient } from './supervisor/client.ts';

export interface NodeAgentOptions {
  readonly world: World;
  readonly api: ServerApi;
  /** Exists and is this user's. */
  readonly dataDirectory: string;
  readonly version: string;
  readonly region: string;
  readonly settings: NodeSettings;
  /** Shown at the first registration; later the node shows its own secret. */
  readonly introductionToken?: string;
  /** Tasks end with this process, however it ends: for an agent that keeps nothing. */
  readonly endWithAgent: boolean;
  /** The agent's environment, of which tasks see a part. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Besides `raw_exec`. In the simulator, instead of it. */
  readonly drivers?: readonly Driver[];
  readonly withoutRawExec?: boolean;
  /** What an operator should know. */
  readonly onNotice: (sentence: string) => void;
}

/**
 * What runs on every machine: registers it, keeps it alive in the servers' eyes, runs the
 * allocations that they assign, and answers over the one stream that it opens to them.
 *
 * Invariants
 *  N1. Losing the servers ends no task and loses no report.
 *  N2. What ran is taken up (`restore`) before the servers are asked what should run.
 *  N3. Each loop waits with growing, jittered pauses after an error, and none waits for another.
 */
export class NodeAgent {
  readonly #options: NodeAgentOptions;
  readonly #stop = new AbortController();
  readonly #supervisor: SupervisorClient | undefined;
  readonly #drivers: Drivers;
  #identity: NodeIdentity | undefined;
  #node: NodeRegistration | undefined;
  #allocations: Allocations | undefined;
  #reporter: StatusReporter | undefined;
  #registering: Promise<number> | undefined;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(options: NodeAgentOptions) {
    this.#options = options;
    const { dataDirectory, endWithAgent, onNotice, world, drivers = [] } = options;
    const { timers, random } = world;
    if (options.withoutRawExec !== true) {
      const client = { dataDirectory, endWithAgent, timers, random, onNotice };
      this.#supervisor = new SupervisorClient(client);
    }
    const builtIn = this.#supervisor === undefined ? [] : [rawExecDriver(this.#supervisor)];
    this.#drivers = new Map([...builtIn, ...drivers].map((driver) => [driver.name, driver]));
  }

  /** The node's id; empty before `start`. */
  get id(): string {
    return this.#identity?.id ?? '';
  }

  get allocations(): Pick<Allocations, 'get' | 'all'> | undefined {
    return this.#allocations;
  }

  /**
   * Takes up what an earlier agent left and begins to talk to the servers. Resolves before they
   * answer. Rejects when the data directory cannot be used.
   */
  async start(): Promise<void> {
    const { world, dataDirectory, version, settings, region, onNotice } = this.#options;
    this.#identity = await readIdentity(dataDirectory, world);
    const [node] = await Promise.all([
      fingerprint({
        id: this.#identity.id,
        version,
        dataDirectory,
        settings,
        drivers: this.#drivers,
        clock: world.clock,
      }),
      this.#supervisor?.connect(),
    ]);
    this.#node = node;
    const reporter = this.#newReporter();
    this.#reporter = reporter;
    this.#allocations = new Allocations(
      {
        world,
        dataDirectory,
        drivers: this.#drivers,
        node: () => node,
        region,
        hostEnvironment: hostEnvironment(this.#options.environment),
        taskHooks: [dispatchPayloadHook],
        allocationHooks: [],
        changed: (report) => reporter.report(report),
        onNotice,
      },
      (id) => reporter.forget(id),
    );
    await this.#allocations.restore();
    for (const report of this.#allocations.undelivered) reporter.report(report);
    this.#loops = Promise.all([this.#heartbeats(), this.#assignments(), this.#stream()]);
  }

  /**
   * Ends the agent. With `stopTasks` the tasks end, too, and the next start begins them again;
   * without, they go on and the next start finds them.
   */
  async stop({ stopTasks }: { readonly stopTasks: boolean }): Promise<void> {
    this.#stop.abort();
    await this.#loops;
    if (stopTasks) await this.#allocations?.suspend();
    else await this.#allocations?.leave();
    await this.#reporter?.stop(stopGraceMs);
    if (stopTasks) await this.#supervisor?.shutdown();
    else await this.#supervisor?.close();
  }

  /** Kills every task at once, also while `stop` gives them time. Resolves when they are gone. */
  async killTasks(): Promise<void> {
    await this.#supervisor?.killAll();
  }

  #newReporter(): StatusReporter {
    const { world, api, onNotice } = this.#options;
    const { clock, timers, random } = world;
    return new StatusReporter({
      clock,
      timers,
      random,
      send: async (reports, signal) => {
        await this.#registered();
        await api.reportStatus(this.id, reports, this.#secret, signal);
      },
      onDelivered: (reports) => this.#allocations?.noteDelivered(reports),
      onError: (error) => {
        onNotice(`the status of allocations could not be reported: ${reasonOf(error)}`);
        this.#noteError(error);
      },
    });
  }

  get #secret(): string {
    return this.#identity?.secret ?? '';
  }

  /** Resolves, with the time to live in ms, when a server knows this node. */
  #registered(): Promise<number> {
    this.#registering ??= this.#register();
    return this.#registering;
  }

  /** A server that does not know this node, or its secret, must be told again. */
  #noteError(error: unknown): void {
    const status = statusOf(error);
    if (status === 404 || status === 403) this.#registering = undefined;
  }

  async #register(): Promise<number> {
    const { api, onNotice } = this.#options;
    const backoff = this.#backoff(limits.node.registrationRetryMs);
    const { signal } = this.#stop;
    for (;;) {
      try {
        const body = { Node: this.#node!, SecretID: this.#secret };
        const { HeartbeatTTL } = await this.#withTokens((token) =>
          api.register(body, token, signal),
        );
        await this.#noteIntroduced();
        return durationMs(HeartbeatTTL);
      } catch (error) {
        if (signal.aborted) throw error;
        onNotice(`the node could not register: ${reasonOf(error)}`);
      }
      await backoff.wait(signal);
      if (signal.aborted) throw new Error('the node is stopping');
    }
  }

  /** The node's own secret once a server took it; when servers have lost it, the introduction. */
  async #withTokens<T>(call: (token: string) => Promise<T>): Promise<T> {
    const { introductionToken } = this.#options;
    const secret = this.#secret;
    if (introductionToken === undefined) return call(secret);
    if (!this.#identity?.introduced) return call(introductionToken);
    try {
      return await call(secret);
    } catch (error) {
      if (statusOf(error) !== 403 && statusOf(error) !== 404) throw error;
      return call(introductionToken);
    }
  }

  async #noteIntroduced(): Promise<void> {
    if (this.#identity === undefined || this.#identity.introduced) return;
    this.#identity = { ...this.#identity, introduced: true };
    await writeIdentity(this.#options.dataDirectory, this.#identity);
  }

  async #heartbeats(): Promise<void> {
    const { api, world } = this.#options;
    await this.#repeat('the heartbeat failed', async (signal, onSuccess) => {
      let ttlMs = await this.#registered();
      while (!signal.aborted) {
        // Well before the time is up, and not all nodes at once.
        await delay(world.timers, ttlMs * (0.4 + 0.2 * world.random.fraction()), signal);
        if (signal.aborted) return;
        ttlMs = durationMs((await api.heartbeat(this.id, this.#secret, signal)).HeartbeatTTL);
        onSuccess();
      }
    });
  }

  async #assignments(): Promise<void> {
    const { api } = this.#options;
    const waitMs = limits.node.allocationsPollWaitMs;
    await this.#repeat('the assignments could not be read', async (signal, onSuccess) => {
      await this.#registered();
      // A new start of the loop reads all again: what was said while it was down is not lost.
      for (let index = 0; !signal.aborted; ) {
        const answer = await api.assignments(this.id, { index, waitMs }, this.#secret, signal);
        if (signal.aborted) return;
        index = answer.index;
        this.#allocations?.apply(answer.assignments);
        onSuccess();
      }
    });
  }

  async #stream(): Promise<void> {
    const { api, world, onNotice } = this.#options;
    const allocation = (id: string) => this.#allocations?.get(id);
    const handlers = new Map<string, StreamHandler>([
      [
        'exec',
        execHandler({
          allocation,
          isDisabled: this.#options.settings.isRemoteExecDisabled ?? false,
        }),
      ],
      ['logs', logsHandler({ timers: world.timers, allocation })],
      ['restart', restartHandler(allocation)],
      ['signal', signalHandler(allocation)],
    ]);
    const options = {
      timers: world.timers,
      random: world.random,
      handlers,
      open: async (signal: AbortSignal) => {
        await this.#registered();
        return api.openStream(this.id, this.#secret, signal);
      },
      onError: (error: unknown) => {
        onNotice(`the stream to the servers failed: ${reasonOf(error)}`);
        this.#noteError(error);
      },
    };
    await runStream(options, this.#stop.signal);
  }

  /** Runs until the agent stops, again after each error. */
  async #repeat(
    failure: string,
    run: (signal: AbortSignal, onSuccess: () => void) => Promise<void>,
  ): Promise<void> {
    const { signal } = this.#stop;
    const backoff = this.#backoff(limits.stream.reconnectMaxMs);
    while (!signal.aborted) {
      try {
        await run(signal, () => backoff.reset());
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onNotice(`${failure}: ${reasonOf(error)}`);
        this.#noteError(error);
      }
      await backoff.wait(signal);
    }
  }

  #backoff(maxMs: number): Backoff {
    const { timers, random } = this.#options.world;
    return new Backoff({ minMs: limits.stream.reconnectMinMs, maxMs, timers, random });
  }
}

const stopGraceMs = 1000;

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
