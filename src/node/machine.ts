import type { NodeRegistration } from '../model/node/node.ts';
import { allDefences } from './defences.ts';
import { asAllowed, type DriverSettings } from './drivers/allowed.ts';
import type { Drivers } from './drivers/driver.ts';
import { processDrivers } from './drivers/processes.ts';
import { fingerprint } from './fingerprint/fingerprint.ts';
import { SecretMemory } from './memory-mounts/secret-memory.ts';
import type { NodeAgentOptions } from './node-agent-options.ts';
import { SupervisorClient } from './supervisor/client.ts';
import { launchSupervisor } from './supervisor/launch.ts';

export type MachineOptions = Pick<
  NodeAgentOptions,
  | 'world'
  | 'dataDirectory'
  | 'version'
  | 'settings'
  | 'endWithAgent'
  | 'environment'
  | 'isolation'
  | 'drivers'
  | 'withoutRawExec'
  | 'allowedDrivers'
  | 'secretsInMemory'
  | 'defences'
  | 'launchSupervisor'
  | 'onNotice'
>;

interface Found {
  readonly secretMemory: SecretMemory;
  readonly described: Omit<NodeRegistration, 'ID'>;
}

/** A node's machine, whatever its servers are: its drivers, the supervisor of its tasks, and memory for secrets. */
export class Machine {
  readonly supervisor: SupervisorClient | undefined;
  readonly drivers: Drivers;
  /** The settings by which the drivers go from now on. */
  allowed: DriverSettings;
  readonly #options: MachineOptions;
  #found: Promise<Found> | undefined;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.allowed = options.allowedDrivers ?? {};
    const { dataDirectory, endWithAgent, onNotice, world, drivers = [] } = options;
    const { environment, isolation = {}, defences = allDefences } = options;
    if (options.withoutRawExec !== true) {
      const { launchSupervisor: launch = launchSupervisor } = options;
      const { timers, random } = world;
      const client = { dataDirectory, endWithAgent, timers, random, onNotice, launch };
      this.supervisor = new SupervisorClient(client);
    }
    const builtIn =
      this.supervisor === undefined
        ? []
        : processDrivers(this.supervisor, isolation, environment.PATH ?? '', defences);
    this.drivers = new Map(
      [...builtIn, ...drivers].map((driver) => [
        driver.name,
        asAllowed(driver, () => this.allowed),
      ]),
    );
  }

  /** Finds out, once, what this machine offers. Tasks of an earlier agent notice nothing of it. */
  offers(): Promise<Found> {
    this.#found ??= this.#findOffers();
    return this.#found;
  }

  async #findOffers(): Promise<Found> {
    const { world, dataDirectory, version, settings, secretsInMemory, onNotice } = this.#options;
    const isWanted = secretsInMemory ?? false;
    const known = { version, dataDirectory, settings, clock: world.clock };
    const [secretMemory, described] = await Promise.all([
      SecretMemory.find({ dataDirectory, isWanted, onNotice }),
      fingerprint({ ...known, drivers: this.drivers }),
    ]);
    const Attributes = { ...described.Attributes, ...secretMemory.attributes };
    return { secretMemory, described: { ...described, Attributes } };
  }

  /** Ends what runs for this machine. With `stopTasks` its tasks end, too. */
  async close({ stopTasks }: { readonly stopTasks: boolean }): Promise<void> {
    const found = await this.#found?.catch(() => undefined);
    await found?.secretMemory.close();
    await Promise.all([...this.drivers.values()].map((driver) => driver.close?.()));
    if (stopTasks) await this.supervisor?.shutdown();
    else await this.supervisor?.close();
  }

  /** Kills every task at once, also while `close` gives them time. */
  async killTasks(): Promise<void> {
    const others = [...this.drivers.values()].map((driver) => driver.killAll?.());
    await Promise.all([this.supervisor?.killAll(), ...others]);
  }
}
