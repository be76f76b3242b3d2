import { durationMs } from '../base/duration.ts';
import type { Timer } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import type { NodeCounters } from '../model/node/node-counters.ts';
import type { RestoredForNode } from '../model/snapshot/restore-record.ts';
import { filesWithSpares } from './allocation-runner/files.ts';
import { Allocations } from './allocations.ts';
import { allDefences } from './defences.ts';
import { hostEnvironment } from './environment/host-environment.ts';
import { artifactsHook } from './hooks/artifacts/artifacts.ts';
import { diskHook } from './hooks/disk.ts';
import { dispatchPayloadHook } from './hooks/dispatch-payload.ts';
import { identityHook } from './hooks/identity.ts';
import { memoryDirectoriesHook } from './hooks/memory-directories.ts';
import { NodeServices } from './hooks/services/node-services.ts';
import { realProbe } from './hooks/services/probes/real-probe.ts';
import { templatesHook } from './hooks/templates/templates-hook.ts';
import { volumesHook } from './hooks/volumes.ts';
import { identityIn } from './identity.ts';
import { agentLimits } from './limits.ts';
import { Machine } from './machine.ts';
import type { SecretMemory } from './memory-mounts/secret-memory.ts';
import type { NodeAgentOptions } from './node-agent-options.ts';
import { describedWith, type NodeChange } from './node-change.ts';
import { Registration } from './registration.ts';
import { type Assignment, reasonOf } from './server-api.ts';
import { ServerContact } from './server-contact.ts';
import { answerServers, followAssignments, sendHeartbeats, watchDrivers } from './server-loops.ts';
import { Spares } from './spares.ts';
import { countersOf } from './statistics/counters.ts';
import { StatusReporter } from './status-reporter.ts';
import { streamHandlers } from './stream-handlers.ts';
import { TaskTraces } from './tracing/task-traces.ts';
import { machineRegistry, UidRegistry } from './users/uid-registry.ts';
import { UserLeases } from './users/user-leases.ts';
import { BatchedIdentitySource, type IdentitySource } from './workload/identity-source.ts';

export type { NodeAgentOptions };

/**
 * The agent of a node: it registers the node, sends its heartbeats, runs the allocations that
 * servers assign to it, and answers servers over the one stream that it opens to them.
 *
 * Invariants
 *  N1. Losing the connection to the servers ends no task and loses no report.
 *  N2. Tasks of an earlier agent are taken up (`restore`) before servers are asked what should run.
 */
export class NodeAgent {
  readonly #options: NodeAgentOptions;
  readonly #stop = new AbortController();
  readonly #machine: Machine;
  readonly #spares: Spares;
  #isExecDisabled: boolean;
  readonly #identities: IdentitySource;
  readonly #contact: ServerContact;
  readonly #registration: Registration;
  readonly #traces: TaskTraces | undefined;
  #secretMemory: SecretMemory | undefined;
  #users: UserLeases | undefined;
  #allocations: Allocations | undefined;
  #reporter: StatusReporter | undefined;
  #services: NodeServices | undefined;
  /** When allocations end that a restored snapshot does not know. */
  #graceEnd: Timer | undefined;
  #loops: Promise<unknown> = Promise.resolve();

  /** `machine` is made of the same options, and is closed by `stop`. */
  constructor(options: NodeAgentOptions, machine = new Machine(options)) {
    this.#options = options;
    this.#machine = machine;
    this.#isExecDisabled = options.settings.isRemoteExecDisabled ?? false;
    const { dataDirectory, onNotice, world } = options;
    const { clock, timers } = world;
    this.#spares = new Spares(dataDirectory, timers);
    this.#contact = new ServerContact({ clock, timers, dataDirectory, onNotice });
    this.#registration = new Registration({
      world,
      onNotice,
      identities: identityIn(dataDirectory, world),
      api: options.api,
      signal: this.#stop.signal,
      contact: this.#contact,
      introduction: options.introduction,
      onRegistered: (answer) => {
        // A server that did not know the node does not know its services.
        this.#services?.reporter.repeat();
        if (answer.Restored !== undefined) this.#noteRestored(answer.Restored);
      },
    });
    this.#identities = this.#newIdentities();
    this.#traces = this.#newTraces();
  }

  /** The node's id; empty before `start`. */
  get id(): string {
    return this.#registration.id;
  }

  /** The node as it registers; `undefined` before `start`. */
  get description(): NodeRegistration | undefined {
    return this.#registration.node;
  }

  get allocations(): Pick<Allocations, 'get' | 'all'> | undefined {
    return this.#allocations;
  }

  /**
   * Takes up the tasks of an earlier agent and contacts the servers. Resolves before they answer.
   * Rejects when the data directory cannot be used.
   */
  async start(): Promise<void> {
    const node = await this.#describe();
    this.#registration.describe(node);
    const reporter = this.#newReporter();
    this.#reporter = reporter;
    const services = this.#newServices();
    this.#services = services;
    this.#users = await this.#openUsers();
    await this.#contact.restore();
    const allocations = this.#newAllocations(node, reporter, services);
    this.#allocations = allocations;
    await allocations.restore();
    await this.#secretMemory?.unmount((id) => allocations.get(id)?.isDone !== false);
    services.noteRestored();
    for (const report of allocations.undelivered) reporter.report(report);
    const { world, api, dataDirectory, onNotice } = this.#options;
    const registration = this.#registration;
    const context = {
      world,
      api,
      registration,
      contact: this.#contact,
      onNotice,
      signal: this.#stop.signal,
    };
    const handlers = streamHandlers({
      world,
      dataDirectory,
      node,
      allocations,
      checks: services,
      isExecDisabled: () => this.#isExecDisabled,
      defences: this.#options.defences,
      logLines: this.#options.logLines,
      reload: this.#options.reload,
    });
    this.#loops = Promise.all([
      sendHeartbeats(context),
      followAssignments(context, (assignments) => this.#assign(allocations, assignments)),
      answerServers(context, handlers),
      watchDrivers(context, this.#machine.drivers),
    ]);
  }

  #assign(allocations: Allocations, assignments: readonly Assignment[]): void {
    const ids = assignments.map(({ Allocation }) => Allocation.ID);
    const begun = ids.filter((id) => allocations.get(id) === undefined);
    allocations.apply(assignments);
    void this.#traces?.begin(begun);
  }

  /** The counters of the machine, of its tasks and of their checks. */
  counters(): Promise<NodeCounters> {
    const { dataDirectory } = this.#options;
    const resultsOf = (id: string) => this.#services?.resultsOf(id);
    return countersOf(dataDirectory, this.#allocations?.all ?? [], resultsOf);
  }

  /** Takes other settings while its tasks go on. Resolves when a server knows them, or none took them for a while. */
  async configure(change: NodeChange): Promise<void> {
    this.#machine.allowed = change.drivers;
    this.#isExecDisabled = change.isRemoteExecDisabled;
    const found = { drivers: this.#machine.drivers, clock: this.#options.world.clock };
    const withinMs = agentLimits.describedWithinMs;
    await this.#registration.change((node) => describedWith(node, change, found), withinMs);
  }

  /** Resolves when a server has registered this node. Rejects when the agent ends before. */
  async registered(): Promise<void> {
    await this.#registration.done();
  }

  /**
   * Ends the agent. With `stopTasks` the tasks end too, and the next agent starts them again;
   * without it they go on, and the next agent takes them up.
   */
  async stop({ stopTasks }: { readonly stopTasks: boolean }): Promise<void> {
    this.#stop.abort();
    this.#graceEnd?.clear();
    await this.#loops;
    if (stopTasks) await this.#services?.withdraw();
    if (stopTasks) await this.#allocations?.suspend();
    else await this.#allocations?.leave();
    if (stopTasks) await this.#secretMemory?.unmount(() => true);
    await this.#spares.close();
    await Promise.all([
      this.#reporter?.stop(agentLimits.stopGraceMs),
      this.#services?.reporter.stop(agentLimits.stopGraceMs),
    ]);
    await this.#contact.close();
    await this.#machine.close({ stopTasks });
    if (this.#options.endWithAgent) this.#users?.release();
  }

  /** Kills every task at once, also while `stop` gives them time. Resolves when they are gone. */
  killTasks(): Promise<void> {
    return this.#machine.killTasks();
  }

  /** The snapshot may be older than what runs here: all allocations are reported again. */
  #noteRestored({ UnknownFor }: RestoredForNode): void {
    const { world, onNotice } = this.#options;
    const forMs = durationMs(UnknownFor);
    onNotice(
      `the servers have restored a snapshot: allocations that it does not know go on for ${Math.round(forMs / 1000)} s`,
    );
    this.#allocations?.keepUnnamed();
    for (const { report } of this.#allocations?.all ?? []) this.#reporter?.report(report);
    this.#graceEnd?.clear();
    this.#graceEnd = world.timers.after(forMs, () => this.#allocations?.endUnnamed());
  }

  /** The description of this machine, once its supervisor runs. */
  async #describe(): Promise<NodeRegistration> {
    await this.#registration.readIdentity();
    const machine = this.#machine;
    const [found] = await Promise.all([machine.offers(), machine.supervisor?.connect()]);
    this.#secretMemory = found.secretMemory;
    return { ID: this.#registration.id, ...found.described };
  }

  /** `undefined`: no driver here gives users to allocations. */
  #openUsers(): Promise<UserLeases> | undefined {
    const { dataDirectory, isolation, uidRegistry = machineRegistry, onNotice } = this.#options;
    const { defences = allDefences } = this.#options;
    const isWanted = [...this.#machine.drivers.values()].some((driver) => driver.usesOwnUser);
    if (!isWanted || !defences.ownUsers) return undefined;
    return UserLeases.open({
      dataDirectory,
      onNotice,
      range: isolation?.uidRange ?? limits.node.uidRange,
      registry: new UidRegistry(uidRegistry, dataDirectory),
      defences,
      isKnown: (id) => {
        const found = this.#allocations?.get(id);
        const isOver = found === undefined || (found.isDone && !defences.keptUsers);
        return this.#allocations === undefined || !isOver;
      },
    });
  }

  #newAllocations(
    node: NodeRegistration,
    reporter: StatusReporter,
    services: NodeServices,
  ): Allocations {
    const { world, api, dataDirectory, region, defences, onNotice, ...options } = this.#options;
    const registration = this.#registration;
    const mounts = this.#secretMemory?.mounts;
    return new Allocations(
      {
        world,
        dataDirectory,
        files: filesWithSpares(this.#spares),
        defences,
        drivers: this.#machine.drivers,
        node: () => registration.node ?? node,
        contact: this.#contact,
        region,
        ...(this.#users !== undefined && { users: this.#users }),
        hostEnvironment: hostEnvironment(options.environment),
        taskHooks: [
          identityHook(this.#identities, defences),
          dispatchPayloadHook(defences),
          volumesHook(this.#options.settings.hostVolumes),
          artifactsHook(options.artifacts, defences),
          templatesHook({
            data: options.templateData,
            identities: this.#identities,
            defences,
          }),
          services.taskHook,
        ],
        allocationHooks: [
          diskHook({
            predecessor: (id) => this.#allocations?.get(id),
            snapshot: (id, signal) => api.snapshot(id, registration.secret, signal),
            defences,
          }),
          ...(mounts === undefined ? [] : [memoryDirectoriesHook(mounts)]),
          services.allocationHook,
        ],
        changed: (report) => {
          reporter.report(report);
          this.#traces?.note(report);
        },
        onNotice,
      },
      (id) => reporter.forget(id),
    );
  }

  #newIdentities(): IdentitySource {
    const { world, api } = this.#options;
    return new BatchedIdentitySource({
      timers: world.timers,
      random: world.random,
      signal: this.#stop.signal,
      send: async (requests, signal) => {
        await this.#registration.done();
        return api.identities(this.id, requests, this.#registration.secret, signal);
      },
      onError: (error) => this.#noteFailure('the identities of tasks could not be fetched', error),
    });
  }

  #newTraces(): TaskTraces | undefined {
    const { api, tracer } = this.#options;
    return (
      tracer &&
      new TaskTraces({
        tracer,
        ask: (ids) => api.traces(this.id, ids, this.#registration.secret, this.#stop.signal),
        reportOf: (id) => this.#allocations?.get(id)?.report,
      })
    );
  }

  #newReporter(): StatusReporter {
    const { world, api } = this.#options;
    const { clock, timers, random } = world;
    return new StatusReporter({
      clock,
      timers,
      random,
      send: async (reports, signal) => {
        await this.#registration.done();
        await api.reportStatus(this.id, reports, this.#registration.secret, signal);
      },
      onDelivered: (reports) => this.#allocations?.noteDelivered(reports),
      onError: (error) =>
        this.#noteFailure('the status of allocations could not be reported', error),
    });
  }

  #newServices(): NodeServices {
    const { world, api, onNotice, probe = realProbe } = this.#options;
    const { timers, random } = world;
    return new NodeServices({
      timers,
      random,
      probe,
      send: async (reports, signal) => {
        await this.#registration.done();
        await api.reportServices(this.id, reports, this.#registration.secret, signal);
      },
      onError: (error) => this.#noteFailure('services could not be registered', error),
      onRefused: ({ AllocID }, error) => {
        onNotice(`the services of allocation ${AllocID} are refused: ${reasonOf(error)}`);
      },
    });
  }

  #noteFailure(failure: string, error: unknown): void {
    this.#options.onNotice(`${failure}: ${reasonOf(error)}`);
    this.#registration.noteError(error);
  }
}
