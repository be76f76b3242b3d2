import { isServerTerminal } from '../../../model/allocation/allocation-rules.ts';
import type { CheckResult } from '../../../model/check-result/check-result.ts';
import { modeOf, statusOfAll } from '../../../model/check-result/check-rules.ts';
import { limits } from '../../../model/limits.ts';
import { isSame } from '../../../model/same.ts';
import type { ServicesReport } from '../../../model/service-registration/service-registration.ts';
import { hookOf, isSidecar } from '../../allocation-runner/stages.ts';
import {
  type Driver,
  type DriverCommand,
  type DriverExec,
  DriverFailure,
} from '../../drivers/driver.ts';
import type { AllocationHook, AllocationHookContext, Unready } from '../hook.ts';
import { type DescribedCheck, type DescribedService, describeServices } from './described.ts';
import type { Gate } from './gate.ts';
import type { Probe } from './probes/probe.ts';
import { RunningCheck } from './running-check.ts';
import type { ServiceReporter } from './service-reporter.ts';

export interface ServicesSurroundings {
  readonly reporter: Pick<ServiceReporter, 'report' | 'told'>;
  readonly probe: Probe;
  /** `gate` is for checks over the network, `scriptGate` for those that run commands. */
  readonly gate: Gate;
  readonly scriptGate: Gate;
}

/** A running task, as its checks need it. */
export interface ServingTask {
  readonly driver: Driver | undefined;
  readonly runId: () => string | undefined;
}

interface Standing {
  readonly description: DescribedService;
  readonly checks: readonly RunningCheck[];
}

/**
 * The services and checks of one allocation. Source: docs/behaviour/job-specification.md#services.
 *
 * Invariants
 *  A1. A service is registered while its task runs, or all main tasks of its group if it names
 *      none: from their start until they are about to be ended, or have ended.
 *  A2. Its checks run for the same time. An update in place begins changed services and checks
 *      anew, and leaves the others alone.
 *  A3. Nothing is reported before the tasks of an earlier agent have been taken up and their checks
 *      have run once, so that a new agent deregisters nothing that still runs.
 */
export class AllocationServices implements AllocationHook {
  readonly name = 'services';
  readonly #context: AllocationHookContext;
  readonly #surroundings: ServicesSurroundings;
  readonly #onClosed: () => void;
  readonly #serving = new Map<string, ServingTask>();
  readonly #standing = new Map<string, Standing>();
  #described: readonly DescribedService[] | undefined;
  #hasBegun = false;
  #isOver = false;
  #told: ServicesReport | undefined;
  #mustTell: boolean;
  readonly #faults = new Set<string>();

  constructor(
    context: AllocationHookContext,
    surroundings: ServicesSurroundings,
    options: {
      /** An earlier agent may have registered services that no longer exist. */
      readonly isRestored: boolean;
      readonly onClosed: () => void;
    },
  ) {
    this.#context = context;
    this.#surroundings = surroundings;
    this.#onClosed = options.onClosed;
    // The servers' registrations are unknown.
    if (options.isRestored) this.#told = { AllocID: context.id, Services: [] };
    this.#mustTell = options.isRestored;
  }

  async beforeStart(): Promise<void> {
    this.#hasBegun = true;
    this.#sync();
  }

  updated(): void {
    this.#described = undefined;
    this.#sync();
  }

  async ending(): Promise<void> {
    await this.withdraw();
  }

  async close({ isDone }: { readonly isDone: boolean }): Promise<void> {
    if (isDone) this.#end();
    this.#isOver = true;
    for (const { checks } of this.#standing.values()) for (const check of checks) check.close();
    this.#standing.clear();
    this.#onClosed();
  }

  /** Deregisters the services finally, and waits a short time for the servers. */
  async withdraw(): Promise<void> {
    this.#end();
    await this.#farewell();
  }

  taskStarted(task: string, serving: ServingTask): void {
    this.#serving.set(task, serving);
    this.#sync();
    this.#context.changed();
  }

  async taskEnding(task: string): Promise<void> {
    this.taskEnded(task);
    await this.#farewell();
  }

  taskEnded(task: string): void {
    if (this.#serving.delete(task)) this.#sync();
  }

  results(): Readonly<Record<string, CheckResult>> {
    const checks = [...this.#standing.values()].flatMap((standing) => standing.checks);
    return Object.fromEntries(checks.map(({ result }) => [result.ID, result]));
  }

  /** The checks that keep it from being healthy. */
  unready(): readonly Unready[] {
    if (this.#isOver) return [];
    return this.#all().flatMap((description) => {
      const { checks } = description;
      if (checks.length === 0 || !this.#counts(description)) return [];
      const known = this.#standing.get(description.told.ID)?.checks;
      const lacking = checks.filter((check, index) =>
        known === undefined ? modeOf(check.check) === 'healthiness' : !known[index]!.isSatisfied,
      );
      return lacking.map((check) => ({
        task: check.restarts[0] ?? '',
        lack: `Check "${check.check.Name}" of the service "${check.service}" not passing`,
      }));
    });
  }

  /** Services of tasks that do not run all the time count only while they are registered. */
  #counts({ tasks, told }: DescribedService): boolean {
    if (this.#standing.has(told.ID)) return true;
    return this.#context
      .group()
      .Tasks.filter(({ Name }) => tasks.includes(Name))
      .every((task) => hookOf(task) === 'main' || isSidecar(task));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sync();
  }

  /** Servers have deregistered the services of allocations that they stop. */
  async #farewell(): Promise<void> {
    if (this.#told === undefined || isServerTerminal(this.#context.allocation())) return;
    await this.#surroundings.reporter.told(this.#context.id, limits.service.farewellMs);
  }

  #all(): readonly DescribedService[] {
    this.#described ??= describeServices({
      allocation: this.#context.allocation(),
      group: this.#context.group(),
      lookup: (task) => this.#context.environment(task).lookup,
    });
    return this.#described;
  }

  /** A1, A2: registers and ends services as the running tasks demand. */
  #sync(): void {
    const wanted = this.#isOver ? [] : this.#all().filter((one) => this.#isServed(one));
    const byId = new Map(wanted.map((description) => [description.told.ID, description]));
    for (const [id, standing] of this.#standing) {
      if (byId.has(id)) continue;
      for (const check of standing.checks) check.close();
      this.#standing.delete(id);
    }
    for (const [id, description] of byId) this.#stand(id, description);
    this.#reportServices();
  }

  #isServed({ tasks, fault, told }: DescribedService): boolean {
    const runs = tasks.length > 0 && tasks.every((task) => this.#serving.has(task));
    if (runs && fault !== undefined) this.#tellFault(told.ServiceName, fault);
    return runs && fault === undefined;
  }

  #tellFault(service: string, fault: string): void {
    const sentence = `the service "${service}" cannot be registered: ${fault}`;
    if (this.#faults.has(sentence)) return;
    this.#faults.add(sentence);
    this.#context.onNotice(`allocation ${this.#context.id}: ${sentence}`);
  }

  #stand(id: string, description: DescribedService): void {
    const before = this.#standing.get(id)?.checks ?? [];
    const checks = description.checks.map((described) => {
      const same = before.find((check) => isSame(check.description, described));
      return same ?? this.#newCheck(described);
    });
    for (const check of before) if (!checks.includes(check)) check.close();
    this.#standing.set(id, { description, checks });
    for (const check of checks) if (!before.includes(check)) check.start();
  }

  #newCheck(described: DescribedCheck): RunningCheck {
    const { probe, gate, scriptGate } = this.#surroundings;
    return new RunningCheck(described, {
      world: this.#context.world,
      allocId: this.#context.id,
      probe,
      gate: described.check.Type === 'script' ? scriptGate : gate,
      exec: (task, command) => this.#exec(task, command),
      changed: () => {
        this.#reportServices();
        this.#context.changed();
      },
      restart: (tasks, reason) => this.#restart(tasks, reason),
    });
  }

  async #exec(task: string, command: DriverCommand): Promise<DriverExec> {
    const serving = this.#serving.get(task);
    const runId = serving?.runId();
    if (serving === undefined || runId === undefined) {
      throw new DriverFailure(`the task "${task}" is not running`, true);
    }
    const { driver } = serving;
    if (driver?.exec === undefined || !driver.capabilities.exec) {
      throw new DriverFailure(`the driver of the task "${task}" runs no commands in it`, false);
    }
    return driver.exec(runId, command);
  }

  #restart(tasks: readonly string[], reason: string): void {
    for (const task of tasks) {
      if (!this.#serving.has(task)) continue;
      // A task that has ended meanwhile needs no restart.
      void this.#context
        .controls(task)
        ?.restart(reason, { isFailure: true })
        .catch(() => {});
    }
  }

  /** A3: the result of an earlier agent's check counts until this agent has run the check. */
  get #isUncertain(): boolean {
    const standing = [...this.#standing.values()];
    return standing.some(({ checks }) => checks.some(({ isDone }) => !isDone));
  }

  #reportServices(): void {
    if (!this.#hasBegun) return;
    const Services = [...this.#standing.values()].map(({ description, checks }) => ({
      ...description.told,
      Status: statusOfAll(checks.map(({ status }) => status)),
    }));
    const report: ServicesReport = { AllocID: this.#context.id, Services };
    const isNews = this.#told === undefined ? Services.length > 0 : !isSame(this.#told, report);
    if (!isNews && !this.#mustTell) return;
    if (this.#mustTell && this.#isUncertain) return;
    this.#mustTell = false;
    this.#told = report;
    this.#surroundings.reporter.report(report);
  }
}
