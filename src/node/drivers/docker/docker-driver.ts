import { join } from 'node:path';
import type { AuthConfig } from 'dockerode';
import { durationMs } from '../../../base/duration.ts';
import type { Clock, Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import type { Defences } from '../../defences.ts';
import { durationNs } from '../config.ts';
import {
  type Driver,
  type DriverCommand,
  type DriverExec,
  DriverFailure,
  type DriverFingerprint,
  type DriverHandle,
  type DriverTask,
  type DriverUsage,
} from '../driver.ts';
import { checkSources } from '../volumes.ts';
import { AwaitedRun } from './awaited-run.ts';
import { asBlock, type DockerConfig, dockerConfigFaults } from './config.ts';
import { execInContainer } from './container-exec.ts';
import { collectsLogs, containerOptions, imageName, type Processor } from './container-options.ts';
import { ContainerRun } from './container-run.ts';
import { containerUsage } from './container-usage.ts';
import { NodeContainers, thisProcess } from './containers.ts';
import { Images } from './images.ts';
import { containerName, type RunLabels, readLabels } from './labels.ts';
import { LogCollector } from './log-collector.ts';
import { askedMounts, offeredMounts, ownMounts } from './mounts.ts';
import { Runtime, reasonOf, statusOf } from './runtime.ts';
import type { DockerSettings } from './settings.ts';
import { startFailure } from './start-failure.ts';

export interface DockerDriverOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly settings: DockerSettings;
  /** The node's data directory, which identifies its containers on a shared runtime. */
  readonly dataDirectory: string;
  /** Containers must not outlive this process, however it ends. */
  readonly endWithAgent: boolean;
  /** May name the runtime's socket (`DOCKER_HOST`). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly processor: Processor;
  readonly defences?: Defences | undefined;
}

interface AttachedRun {
  readonly handle: ContainerRun;
  readonly logs: LogCollector | undefined;
  readonly image: string;
}

type Tell = (sentence: string) => void;

/**
 * Runs tasks as containers of a Docker or Podman runtime on this machine.
 *
 * Invariants
 *  D1. The labels of a container have all that another agent needs to take it up (`labels.ts`), and
 *      only containers with this node's label are touched. A container that was to end with its
 *      agent is removed by the next agent.
 *  D2. A run has at most one container, by its name: a second start starts nothing.
 *  D3. A container that cannot be removed is removed when the runtime answers again.
 */
export class DockerDriver implements Driver {
  readonly name = 'docker';
  readonly capabilities = {
    sendSignals: true,
    exec: true,
    fileSystemIsolation: 'image',
    networkModes: ['host', 'task', 'none'],
  } as const;
  readonly defaultKillSignal = 'SIGTERM';
  readonly refreshMs = limits.docker.refreshMs;

  readonly #options: DockerDriverOptions;
  readonly #runtime: Runtime;
  readonly #images: Images;
  readonly #containers: NodeContainers;
  readonly #runs = new Map<string, AttachedRun>();
  /** Runs whose containers have to be removed. */
  readonly #leftovers = new Set<string>();
  /** Every run that this agent has started or taken up. */
  readonly #own = new Set<string>();
  /** The runs to keep, while a request to end all others has to be repeated. */
  #claimed: ReadonlySet<string> | undefined;
  #attributes: Readonly<Record<string, string>> = {};

  constructor(options: DockerDriverOptions) {
    this.#options = options;
    const { settings, environment, clock, timers } = options;
    const userId = process.getuid?.() ?? 0;
    const search = { socket: settings.socket, environment, userId };
    this.#runtime = new Runtime(search, { clock, timers });
    this.#images = new Images(this.#runtime, { clock, timers }, settings.imageDelayMs);
    this.#containers = new NodeContainers(this.#runtime, options.dataDirectory);
    this.#runtime.onReturn(() => void this.#catchUp());
  }

  async fingerprint(): Promise<DriverFingerprint> {
    try {
      const found = await this.#runtime.ping();
      if ('absent' in found) {
        return { detected: false, healthy: false, description: found.absent, attributes: {} };
      }
      const { allowVolumes = false, allowPrivileged = false } = this.#options.settings;
      this.#attributes = {
        version: found.version,
        api_version: found.apiVersion,
        runtime: found.kind,
        'volumes.enabled': String(allowVolumes),
        'privileged.enabled': String(allowPrivileged),
      };
      return this.#fingerprintOf(true, 'Healthy');
    } catch (error) {
      return this.#fingerprintOf(false, (error as Error).message);
    }
  }

  #fingerprintOf(healthy: boolean, description: string): DriverFingerprint {
    return { detected: true, healthy, description, attributes: this.#attributes };
  }

  validate(config: Readonly<Record<string, unknown>>) {
    return dockerConfigFaults(config, this.#options.settings);
  }

  async start(task: DriverTask): Promise<DriverHandle> {
    const { runId, tell = () => {} } = task;
    this.#own.add(runId);
    try {
      const known = await this.recoverNow(runId, tell);
      if (known !== undefined) return known;
      return await this.#createContainer(task, tell);
    } catch (error) {
      // Nobody needs the rest of a failed start.
      await this.#removeRun(runId);
      throw startFailure(error);
    }
  }

  async #createContainer(task: DriverTask, tell: Tell): Promise<DriverHandle> {
    const config = task.config as unknown as DockerConfig;
    const { settings, processor, defences } = this.#options;
    const pullTimeoutNs = durationNs(config.image_pull_timeout);
    const pulled = this.#images.ensure({
      image: imageName(config.image),
      isForced: config.force_pull === true,
      auth: authOf(config),
      timeoutMs:
        pullTimeoutNs === undefined ? limits.docker.pullTimeoutMs : durationMs(pullTimeoutNs),
      tell,
    });
    await unlessOver(pulled, task.over);
    await checkSources(task);
    const asked = await askedMounts(task, config, settings);
    const mounts = [...ownMounts(task, defences), ...offeredMounts(task), ...asked];
    const labels = this.#labelsOf(task, config);
    const runtime = this.#runtime.identity?.kind ?? 'docker';
    const parts = { task, config, mounts, labels, processor, runtime, defences };
    const options = containerOptions(parts);
    if (labels.logs !== undefined) {
      const { settings: logs, markPath } = labels.logs;
      await LogCollector.prepare(task.runId, logs, markPath);
    }
    const { id } = await this.#runtime.call((client) => client.createContainer(options));
    await this.#runtime.call(async (client) => {
      const container = client.getContainer(id);
      const { giveDirectories } = await import('./image-user.ts');
      await giveDirectories(container, task.directories);
      await container.start();
    });
    const tty = config.tty === true;
    return this.#attachRun({ id, image: imageName(config.image), labels, tty }, tell);
  }

  #labelsOf(task: DriverTask, config: DockerConfig): RunLabels {
    const { dataDirectory, endWithAgent } = this.#options;
    // In a directory that the container does not see.
    const markPath = join(task.directories.root, 'private', 'container-log.json');
    return {
      runId: task.runId,
      owner: dataDirectory,
      endsWith: endWithAgent ? thisProcess() : '',
      logs: collectsLogs(task, config) ? { settings: task.logs, markPath } : undefined,
    };
  }

  async #attachRun(
    found: {
      readonly id: string;
      readonly image: string;
      readonly labels: RunLabels;
      readonly tty: boolean;
    },
    tell: Tell,
  ): Promise<ContainerRun> {
    const { clock, timers, settings, defences } = this.#options;
    const { id: containerId, image, labels, tty } = found;
    const { runId } = labels;
    const runtime = this.#runtime;
    const logs =
      labels.logs &&
      (await LogCollector.open({
        runtime,
        timers,
        runId,
        containerId,
        tty,
        defences,
        ...labels.logs,
      }));
    const handle = new ContainerRun({
      runtime,
      clock,
      timers,
      runId,
      containerId,
      logs,
      tell,
      unreachableTimeoutMs: settings.unreachableTimeoutMs ?? limits.docker.unreachableTimeoutMs,
      remove: () => this.#removeRun(runId),
    });
    this.#own.add(runId);
    this.#runs.set(runId, { handle, logs, image });
    this.#images.use(image);
    return handle;
  }

  async recover(runId: string, tell: Tell = () => {}): Promise<DriverHandle | undefined> {
    this.#own.add(runId);
    try {
      return await this.recoverNow(runId, tell);
    } catch (error) {
      tell(reasonOf(error));
      const { clock, timers, settings } = this.#options;
      return new AwaitedRun({
        runtime: this.#runtime,
        clock,
        timers,
        runId,
        tell,
        unreachableTimeoutMs: settings.unreachableTimeoutMs ?? limits.docker.unreachableTimeoutMs,
        find: () => this.recoverNow(runId, tell),
        remove: () => this.#removeRun(runId),
      });
    }
  }

  /** Rejects when the runtime does not answer. */
  async recoverNow(runId: string, tell: Tell): Promise<DriverHandle | undefined> {
    const attached = this.#runs.get(runId);
    if (attached !== undefined) return attached.handle;
    const name = containerName(runId);
    const found = await this.#runtime
      .call((client) => client.getContainer(name).inspect())
      .catch((error: unknown) => {
        if (statusOf(error) === 404) return undefined;
        throw error;
      });
    if (found === undefined) return undefined;
    const labels = readLabels(found.Config.Labels);
    const isOurs = labels?.runId === runId && this.#containers.owns(labels);
    if (!isOurs || found.State.Status === 'created' || found.State.Status === 'initialized') {
      // The container never began, or is another node's; in that case the start will fail.
      if (isOurs) await this.#removeRun(runId);
      return undefined;
    }
    const { Tty: tty = false, Image: image } = found.Config;
    return this.#attachRun({ id: found.Id, image, labels, tty }, tell);
  }

  async exec(runId: string, command: DriverCommand): Promise<DriverExec> {
    const { timers } = this.#options;
    return execInContainer(this.#runtime, timers, this.#containerOf(runId), command);
  }

  usage(runId: string): Promise<DriverUsage | undefined> {
    return containerUsage(this.#runtime, this.#containerOf(runId));
  }

  #containerOf(runId: string): string {
    return this.#runs.get(runId)?.handle.containerId ?? containerName(runId);
  }

  async endUnclaimed(claimed: ReadonlySet<string>): Promise<void> {
    this.#claimed = claimed;
    const found = await this.#runtime.ping().catch(() => undefined);
    if (found !== undefined && !('absent' in found)) await this.#catchUp();
  }

  /** Kills every container of this node at once. */
  async killAll(): Promise<void> {
    const mine = await this.#containers.list().catch(() => []);
    await Promise.all(mine.map(({ id }) => this.#containers.remove(id)));
  }

  /** Called when the agent ends. Its containers go on, unless they must end with it. */
  async close(): Promise<void> {
    if (this.#options.endWithAgent && this.#runtime.identity !== undefined) await this.killAll();
    this.#runtime.close();
    await Promise.all([...this.#runs.values()].map(({ logs }) => logs?.leave()));
  }

  /** D3. Never rejects. */
  async #catchUp(): Promise<void> {
    for (const runId of this.#leftovers) await this.#removeRun(runId);
    const claimed = this.#claimed;
    if (claimed === undefined) return;
    try {
      const isUnclaimed = (runId: string) => !claimed.has(runId) && !this.#own.has(runId);
      await this.#containers.endUnclaimed(isUnclaimed);
      this.#claimed = undefined;
    } catch {
      // The runtime is unreachable again; its return will repeat this.
    }
  }

  /** Never rejects. */
  async #removeRun(runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    const isGone = await this.#containers.remove(run?.handle.containerId ?? containerName(runId));
    if (isGone) this.#leftovers.delete(runId);
    else this.#leftovers.add(runId);
    if (run === undefined) return;
    this.#runs.delete(runId);
    this.#images.release(run.image);
  }
}

/** Stops waiting when the task is ended. The download goes on for later tasks. */
async function unlessOver(work: Promise<void>, over = new AbortController().signal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(new DriverFailure('the task was ended before it began', false));
  if (over.aborted) end();
  over.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    over.removeEventListener('abort', end);
    work.catch(() => {});
    promise.catch(() => {});
  }
}

function authOf(config: DockerConfig): AuthConfig | undefined {
  if (config.auth === undefined) return undefined;
  const {
    username = '',
    password = '',
    email,
    server_address: serveraddress = '',
  } = asBlock(config.auth);
  return { username, password, serveraddress, ...(email !== undefined && { email }) };
}
