import type { Timers, World } from '../../base/ports.ts';
import type { NodeRegistration } from '../../model/node/node.ts';
import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';
import type { Transport } from '../../sdk/transport.ts';
import { noFiles } from '../allocation-runner/files.ts';
import { Allocations } from '../allocations.ts';
import { restartHandler, signalHandler } from '../command-handlers.ts';
import { type Crash, MockDriver, type MockDriverOptions } from '../drivers/mock.ts';
import { NodeServices } from '../hooks/services/node-services.ts';
import { passed } from '../hooks/services/probes/probe.ts';
import type { IdentityStore } from '../identity.ts';
import { logsHandler } from '../logs/logs-handler.ts';
import { Registration } from '../registration.ts';
import { reasonOf, type ServerApi } from '../server-api.ts';
import { sdkServerApi } from '../server-api-sdk.ts';
import { ServerContact } from '../server-contact.ts';
import { answerServers, followAssignments, sendHeartbeats } from '../server-loops.ts';
import { StatusReporter } from '../status-reporter.ts';
import { absentHandlers } from './absent-handlers.ts';
import { describeVirtualNode, type VirtualNodeSettings, virtualDrivers } from './described.ts';
import { VirtualLogs } from './virtual-logs.ts';

export interface VirtualNodeOptions {
  readonly world: World;
  readonly name: string;
  readonly settings: VirtualNodeSettings;
  readonly region: string;
  /** Makes a connection to the servers. */
  readonly connect: () => Transport;
  /** Opens the stream to a server, and returns the node's end. */
  readonly openStream: (nodeId: string) => StreamSocket;
  /** Makes an introduction token, for the first registration. */
  readonly introduction: () => Promise<string>;
  readonly behaviourOf: MockDriverOptions['behaviourOf'];
  readonly onNotice: (sentence: string) => void;
}

/** A virtual node from one start to the loss of its power. */
export class VirtualLife {
  readonly #options: VirtualNodeOptions;
  readonly #id: string;
  readonly #world: World;
  readonly #over = new AbortController();
  readonly #transport: Transport;
  readonly #api: ServerApi;
  readonly #drivers: ReadonlyMap<string, MockDriver>;
  readonly #logs = new VirtualLogs();
  readonly #contact: ServerContact;
  readonly #registration: Registration;
  readonly #reporter: StatusReporter;
  readonly #services: NodeServices;
  readonly #allocations: Allocations;
  readonly #begun: Promise<void>;

  constructor(options: VirtualNodeOptions, id: string, identities: IdentityStore) {
    const { onNotice, behaviourOf } = options;
    const { signal } = this.#over;
    const world = { ...options.world, timers: timersUntil(signal, options.world.timers) };
    this.#options = options;
    this.#id = id;
    this.#world = world;
    this.#transport = options.connect();
    this.#api = sdkServerApi({
      addresses: ['http://virtual.servers'],
      transport: this.#transport,
      openStream: async () => options.openStream(id),
    });
    this.#drivers = new Map(
      virtualDrivers.map((name) => [name, newDriver(name, world, behaviourOf, this.#logs)]),
    );
    this.#contact = new ServerContact({ ...world, dataDirectory: nowhere, onNotice });
    this.#registration = new Registration({
      world,
      identities,
      signal,
      onNotice,
      api: this.#api,
      contact: this.#contact,
      introduction: options.introduction,
      onRegistered: () => this.#services.reporter.repeat(),
    });
    const node = describeVirtualNode(id, options.name, options.settings);
    this.#registration.describe(node);
    this.#reporter = this.#newReporter();
    this.#services = this.#newServices();
    this.#allocations = this.#newAllocations(node);
    this.#begun = this.#begin();
  }

  async registered(): Promise<void> {
    await this.#begun;
    await this.#registration.done();
  }

  /** As `VirtualNode.crash`. */
  crash(allocId: string, crash?: Crash): number {
    const counts = [...this.#drivers.values()].map((driver) => driver.crash(allocId, crash));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** None of its timers runs any more, and no server hears of it. */
  end(): void {
    this.#over.abort();
    void this.#transport.close();
  }

  async #begin(): Promise<void> {
    await this.#registration.readIdentity();
    const context = {
      world: this.#world,
      api: this.#api,
      registration: this.#registration,
      contact: this.#contact,
      signal: this.#over.signal,
      onNotice: this.#options.onNotice,
    };
    const allocation = (id: string) => this.#allocations.get(id);
    const { timers } = this.#world;
    const handlers = new Map([
      ...absentHandlers,
      ['logs', logsHandler({ timers, allocation, read: (query) => this.#logs.read(query) })],
      ['restart', restartHandler(allocation)],
      ['signal', signalHandler(allocation)],
      ['checks', this.#services.checksHandler],
    ]);
    void sendHeartbeats(context);
    void followAssignments(context, (assignments) => this.#allocations.apply(assignments));
    void answerServers(context, handlers);
  }

  #newReporter(): StatusReporter {
    return new StatusReporter({
      ...this.#world,
      send: (reports, signal) =>
        this.#asRegistered((token) => this.#api.reportStatus(this.#id, reports, token, signal)),
      onDelivered: (reports) => this.#allocations.noteDelivered(reports),
      onError: (error) => this.#noteFailure('the status of allocations was not reported', error),
    });
  }

  #newServices(): NodeServices {
    const services = new NodeServices({
      ...this.#world,
      probe: async () => passed('virtual'),
      send: (reports, signal) =>
        this.#asRegistered((token) => this.#api.reportServices(this.#id, reports, token, signal)),
      onError: (error) => this.#noteFailure('the services were not reported', error),
      onRefused: ({ AllocID }, error) =>
        this.#noteFailure(`the services of ${AllocID} are refused`, error),
    });
    services.noteRestored();
    return services;
  }

  #newAllocations(node: NodeRegistration): Allocations {
    const { region, onNotice } = this.#options;
    return new Allocations(
      {
        region,
        onNotice,
        world: this.#world,
        dataDirectory: nowhere,
        files: noFiles,
        drivers: this.#drivers,
        node: () => this.#registration.node ?? node,
        // Nobody goes on from the time of the last contact.
        contact: { leftMs: (graceMs) => this.#contact.leftMs(graceMs), keep() {} },
        hostEnvironment: {},
        taskHooks: [this.#services.taskHook],
        allocationHooks: [this.#services.allocationHook],
        changed: (report) => this.#reporter.report(report),
      },
      (id) => {
        this.#reporter.forget(id);
        this.#logs.forget(id);
      },
    );
  }

  async #asRegistered(report: (token: string) => Promise<void>): Promise<void> {
    await this.#registration.done();
    await report(this.#registration.secret);
  }

  #noteFailure(sentence: string, error: unknown): void {
    if (this.#over.signal.aborted) return;
    this.#options.onNotice(`${sentence}: ${reasonOf(error)}`);
    this.#registration.noteError(error);
  }
}

/** The names of paths, where nothing is. */
const nowhere = '/virtual';

/** The start and the end of a task take time, as on a machine: servers tell its events apart by their times. */
const defaults = { start_block_for: '100ms', kill_after: '100ms' };

const newDriver = (
  name: string,
  world: World,
  behaviourOf: MockDriverOptions['behaviourOf'],
  logs: VirtualLogs,
) =>
  new MockDriver(world, {
    ...(name !== 'mock' && { name }),
    behaviourOf,
    defaults,
    onOutput: ({ allocId, taskName }, type, text) => logs.write(allocId, taskName, type, text),
  });

/** Timers that do not run any more once the signal aborts. */
function timersUntil(over: AbortSignal, timers: Timers): Timers {
  const unlessOver = (run: () => void) => () => {
    if (!over.aborted) run();
  };
  return {
    after: (delayMs, run) => timers.after(delayMs, unlessOver(run)),
    soon: (run) => timers.soon(unlessOver(run)),
    unhurried: (run) => timers.unhurried(unlessOver(run)),
  };
}
