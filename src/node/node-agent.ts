import { join, relative } from 'node:path';
import { durationMs } from '../base/duration.ts';
import { delay, type World } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { filesHandler } from './allocation-files/files-handler.ts';
import { Allocations } from './allocations.ts';
import { Backoff } from './backoff.ts';
import { collectHandler } from './collect-handler.ts';
import { restartHandler, signalHandler } from './command-handlers.ts';
import { snapshotHandler } from './disks/snapshot-handler.ts';
import type { Driver, Drivers } from './drivers/driver.ts';
import type { IsolationSettings } from './drivers/isolation/isolate.ts';
import { processDrivers } from './drivers/processes.ts';
import { hostEnvironment } from './environment/host-environment.ts';
import { execHandler } from './exec/exec-handler.ts';
import { fingerprint, type NodeSettings, withDriversOf } from './fingerprint/fingerprint.ts';
import { artifactsHook } from './hooks/artifacts/artifacts.ts';
import type { ArtifactSettings } from './hooks/artifacts/settings.ts';
import { diskHook } from './hooks/disk.ts';
import { dispatchPayloadHook } from './hooks/dispatch-payload.ts';
import { identityHook } from './hooks/identity.ts';
import { memoryDirectoriesHook } from './hooks/memory-directories.ts';
import { NodeServices } from './hooks/services/node-services.ts';
import type { Probe } from './hooks/services/probes/probe.ts';
import { realProbe } from './hooks/services/probes/real-probe.ts';
import type { TemplateData } from './hooks/templates/template-data.ts';
import { templatesHook } from './hooks/templates/templates-hook.ts';
import { volumesHook } from './hooks/volumes.ts';
import { type NodeIdentity, readIdentity, writeIdentity } from './identity.ts';
import { logsHandler } from './logs/logs-handler.ts';
import { findMemoryMounts, type MemoryMounts } from './memory-mounts/mounts.ts';
import { type ServerApi, statusOf } from './server-api.ts';
import { AllocationStatistics } from './statistics/allocation-statistics.ts';
import { allocationUsageHandler, nodeUsageHandler } from './statistics/statistics-handlers.ts';
import { StatusReporter } from './status-reporter.ts';
import { runStream } from './stream-loop.ts';
import { SupervisorClient } from './supervisor/client.ts';
import { BatchedIdentitySource, type IdentitySource } from './workload/identity-source.ts';

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
  /** What isolated tasks see and may do. */
  readonly isolation?: IsolationSettings;
  /** Besides those whose tasks are processes. In the simulator, instead of them. */
  readonly drivers?: readonly Driver[];
  readonly withoutRawExec?: boolean;
  /** Instead of checks over the real network. */
  readonly probe?: Probe;
  /** Where templates read services and variables; without, those that do fail. */
  readonly templateData?: TemplateData;
  /** What is fetched for tasks, and how much of it; the defaults are those of `limits.artifact`. */
  readonly artifacts?: Partial<ArtifactSettings>;
  /** Keep secrets in memory where this machine can; without, they are directories like others. */
  readonly secretsInMemory?: boolean;
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
  readonly #identities: IdentitySource;
  #identity: NodeIdentity | undefined;
  #mounts: MemoryMounts | undefined;
  #node: NodeRegistration | undefined;
  #allocations: Allocations | undefined;
  #reporter: StatusReporter | undefined;
  #services: NodeServices | undefined;
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
    this.#identities = this.#newIdentities();
    const { environment, isolation = {} } = options;
    const builtIn =
      this.#supervisor === undefined
        ? []
        : processDrivers(this.#supervisor, isolation, environment.PATH ?? '');
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
    const secretsAttributes = await this.#findMounts();
    const [described] = await Promise.all([
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
    const node = { ...described, Attributes: { ...described.Attributes, ...secretsAttributes } };
    this.#node = node;
    const reporter = this.#newReporter();
    this.#reporter = reporter;
    const services = this.#newServices();
    this.#services = services;
    this.#allocations = new Allocations(
      {
        world,
        dataDirectory,
        drivers: this.#drivers,
        node: () => this.#node ?? node,
        region,
        hostEnvironment: hostEnvironment(this.#options.environment),
        taskHooks: [
          identityHook(this.#identities),
          dispatchPayloadHook,
          volumesHook(this.#options.settings.hostVolumes),
          artifactsHook(this.#options.artifacts),
          templatesHook({ data: this.#options.templateData, identities: this.#identities }),
          services.taskHook,
        ],
        allocationHooks: [
          diskHook({
            predecessor: (id) => this.#allocations?.get(id),
            snapshot: (id, signal) => this.#options.api.snapshot(id, this.#secret, signal),
          }),
          ...(this.#mounts === undefined ? [] : [memoryDirectoriesHook(this.#mounts)]),
          services.allocationHook,
        ],
        changed: (report) => reporter.report(report),
        onNotice,
      },
      (id) => reporter.forget(id),
    );
    await this.#allocations.restore();
    await this.#unmount((allocation) => this.#allocations?.get(allocation)?.isDone !== false);
    services.noteRestored();
    for (const report of this.#allocations.undelivered) reporter.report(report);
    this.#loops = Promise.all([
      ...[this.#heartbeats(), this.#assignments(), this.#stream()],
      this.#driverHealth(),
    ]);
  }

  /** Resolves when a server knows this node. Rejects when the agent ends before. */
  async registered(): Promise<void> {
    await this.#registered();
  }

  /**
   * Ends the agent. With `stopTasks` the tasks end, too, and the next start begins them again;
   * without, they go on and the next start finds them.
   */
  async stop({ stopTasks }: { readonly stopTasks: boolean }): Promise<void> {
    this.#stop.abort();
    await this.#loops;
    if (stopTasks) await this.#services?.withdraw();
    if (stopTasks) await this.#allocations?.suspend();
    else await this.#allocations?.leave();
    if (stopTasks) await this.#unmount(() => true);
    await this.#mounts?.close();
    await Promise.all([
      this.#reporter?.stop(stopGraceMs),
      this.#services?.reporter.stop(stopGraceMs),
    ]);
    await Promise.all([...this.#drivers.values()].map((driver) => driver.close?.()));
    if (stopTasks) await this.#supervisor?.shutdown();
    else await this.#supervisor?.close();
  }

  /** Kills every task at once, also while `stop` gives them time. Resolves when they are gone. */
  async killTasks(): Promise<void> {
    const others = [...this.#drivers.values()].map((driver) => driver.killAll?.());
    await Promise.all([this.#supervisor?.killAll(), ...others]);
  }

  #newIdentities(): IdentitySource {
    const { world, api, onNotice } = this.#options;
    return new BatchedIdentitySource({
      ...{ timers: world.timers, random: world.random, signal: this.#stop.signal },
      send: async (requests, signal) => {
        await this.#registered();
        return api.identities(this.id, requests, this.#secret, signal);
      },
      onError: (error) => {
        onNotice(`the identities of tasks could not be had: ${reasonOf(error)}`);
        this.#noteError(error);
      },
    });
  }

  /** What the node tells of where its secrets are. */
  async #findMounts(): Promise<Record<string, string>> {
    const { dataDirectory, secretsInMemory = false, onNotice } = this.#options;
    if (!secretsInMemory) return { 'storage.secrets': 'disk' };
    const { mounts, reason } = await findMemoryMounts(dataDirectory);
    this.#mounts = mounts;
    if (mounts !== undefined) return { 'storage.secrets': 'memory' };
    onNotice(`secrets are kept on the disk, since this user cannot mount memory: ${reason}`);
    return { 'storage.secrets': 'disk' };
  }

  /** Takes the memory away from allocations that an agent before this one, or this one, left. */
  async #unmount(isOver: (allocation: string) => boolean): Promise<void> {
    const { dataDirectory, onNotice } = this.#options;
    try {
      const root = join(dataDirectory, 'alloc');
      const mounted = (await this.#mounts?.mounted()) ?? [];
      const stale = mounted.filter((path) => isOver(relative(root, path).split('/')[0] ?? ''));
      await this.#mounts?.unmount(stale);
    } catch (error) {
      onNotice(`memory of former tasks is still mounted: ${reasonOf(error)}`);
    }
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

  #newServices(): NodeServices {
    const { world, api, onNotice, probe = realProbe } = this.#options;
    const { timers, random } = world;
    return new NodeServices({
      ...{ timers, random, probe },
      send: async (reports, signal) => {
        await this.#registered();
        await api.reportServices(this.id, reports, this.#secret, signal);
      },
      onError: (error) => {
        onNotice(`services could not be registered: ${reasonOf(error)}`);
        this.#noteError(error);
      },
      onRefused: ({ AllocID }, error) => {
        onNotice(`the services of allocation ${AllocID} are refused: ${reasonOf(error)}`);
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
        // Who did not know the node does not know its services.
        this.#services?.reporter.repeat();
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
    await this.#repeat('the assignments could not be read', async (signal, onSuccess) => {
      await this.#registered();
      // A new start of the loop reads all again: what was said while it was down is not lost.
      for (let index = 0; !signal.aborted; ) {
        index = await this.#applyNext(index, signal);
        if (!signal.aborted) onSuccess();
      }
    });
  }

  /** By itself, so that no answer is kept while the next one is waited for. */
  async #applyNext(index: number, signal: AbortSignal): Promise<number> {
    const wait = { index, waitMs: limits.node.allocationsPollWaitMs };
    const answer = await this.#options.api.assignments(this.id, wait, this.#secret, signal);
    if (!signal.aborted) this.#allocations?.apply(answer.assignments);
    return answer.index;
  }

  /** Tells the servers when a driver fares otherwise than it did. */
  async #driverHealth(): Promise<void> {
    const { world } = this.#options;
    const periods = [...this.#drivers.values()].flatMap(({ refreshMs }) => refreshMs ?? []);
    if (periods.length === 0) return;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await delay(world.timers, Math.min(...periods), signal);
      if (signal.aborted || this.#node === undefined) return;
      const node = await withDriversOf(this.#node, { drivers: this.#drivers, clock: world.clock });
      if (node === this.#node) continue;
      this.#node = node;
      this.#registering = undefined;
      await this.#registered().catch(() => {});
    }
  }

  async #stream(): Promise<void> {
    const { api, world, dataDirectory, onNotice } = this.#options;
    const allocation = (id: string) => this.#allocations?.get(id);
    const { CpuShares, TotalCpuCores } = this.#node!.NodeResources.Cpu;
    const coreMhz = CpuShares / Math.max(1, TotalCpuCores);
    const statistics = new AllocationStatistics(world, coreMhz);
    const handlers = new Map<string, StreamHandler>([
      ['snapshot', snapshotHandler(allocation)],
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
      ...(this.#services ? [['checks', this.#services.checksHandler] as const] : []),
      [
        'files',
        filesHandler({ timers: world.timers, root: (id) => allocation(id)?.directories.root }),
      ],
      ['allocation-usage', allocationUsageHandler(statistics, allocation)],
      ['node-usage', nodeUsageHandler({ world, dataDirectory, coreMhz })],
      ['collect', collectHandler(() => this.#allocations)],
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
