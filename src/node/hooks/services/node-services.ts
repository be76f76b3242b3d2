import type { CheckResult } from '../../../model/check-result/check-result.ts';
import { limits } from '../../../model/limits.ts';
import type { StreamHandler } from '../../../model/node-stream/stream-connection.ts';
import { allocationNotHere, writeHead, writeText } from '../../stream-answer.ts';
import { streamParams } from '../../stream-params.ts';
import type { AllocationHookFactory, TaskHookFactory } from '../hook.ts';
import { AllocationServices, type ServicesSurroundings } from './allocation-services.ts';
import { Gate } from './gate.ts';
import type { Probe } from './probes/probe.ts';
import { ServiceReporter, type ServiceReporterOptions } from './service-reporter.ts';

/** The services and checks of a node: its hooks, its reports, and the results of checks. */
export class NodeServices {
  readonly reporter: ServiceReporter;
  readonly #surroundings: ServicesSurroundings;
  readonly #allocations = new Map<string, AllocationServices>();
  #isRestoring = true;

  constructor(options: ServiceReporterOptions & { readonly probe: Probe }) {
    const { concurrentMax, perAllocationMax, scriptsMax } = limits.check;
    this.reporter = new ServiceReporter(options);
    this.#surroundings = {
      reporter: this.reporter,
      probe: options.probe,
      gate: new Gate(concurrentMax, perAllocationMax),
      scriptGate: new Gate(scriptsMax, scriptsMax),
    };
  }

  /** To be called when the allocations of an earlier agent have been taken up. */
  noteRestored(): void {
    this.#isRestoring = false;
  }

  readonly allocationHook: AllocationHookFactory = (context) => {
    const services = new AllocationServices(context, this.#surroundings, {
      isRestored: this.#isRestoring,
      onClosed: () => {
        if (this.#allocations.get(context.id) === services) this.#allocations.delete(context.id);
      },
    });
    this.#allocations.set(context.id, services);
    return services;
  };

  readonly taskHook: TaskHookFactory = (context) => {
    const services = () => this.#allocations.get(context.allocation().ID);
    const name = () => context.task().Name;
    return {
      name: 'services',
      started: () => services()?.taskStarted(name(), context),
      ending: async () => services()?.taskEnding(name()),
      ended: async () => services()?.taskEnded(name()),
    };
  };

  /** The results of an allocation's checks, by their ids; `undefined`: it does not run here. */
  readonly resultsOf = (allocId: string): Readonly<Record<string, CheckResult>> | undefined =>
    this.#allocations.get(allocId)?.results();

  /** Streams of the kind `checks`: `alloc_id`. After the head comes JSON: results by check. */
  readonly checksHandler: StreamHandler = async (stream, given) => {
    const id = streamParams(given).text('alloc_id');
    const results = this.resultsOf(id);
    if (results === undefined) throw allocationNotHere(id);
    await writeHead(stream);
    await writeText(stream, JSON.stringify(results));
  };

  /** Deregisters all services, as the tasks end with the agent. */
  async withdraw(): Promise<void> {
    await Promise.all([...this.#allocations.values()].map((one) => one.withdraw()));
  }
}
