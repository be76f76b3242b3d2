import type { ContainerInfo } from 'dockerode';
import { bootId, isAlive, readStat } from '../../supervisor/proc.ts';
import { labelNames, type RunLabels, readLabels } from './labels.ts';
import { type Runtime, statusOf } from './runtime.ts';

export interface FoundContainer {
  readonly id: string;
  readonly labels: RunLabels;
}

/**
 * The containers of this node. Those of other nodes are not touched, unless their agent has ended
 * and they were to end with it.
 */
export class NodeContainers {
  readonly #runtime: Runtime;
  readonly #dataDirectory: string;

  constructor(runtime: Runtime, dataDirectory: string) {
    this.#runtime = runtime;
    this.#dataDirectory = dataDirectory;
  }

  /** Whether the container belongs to this node. */
  owns(labels: RunLabels | undefined): boolean {
    return labels?.owner === this.#dataDirectory;
  }

  async list(): Promise<readonly FoundContainer[]> {
    return (await this.#listRuns()).filter(({ labels }) => this.owns(labels));
  }

  /** Ends containers that `isUnclaimed`, and those of ended agents of any node. */
  async endUnclaimed(isUnclaimed: (runId: string) => boolean): Promise<void> {
    for (const { id, labels } of await this.#listRuns()) {
      const isOurs = this.owns(labels) && isUnclaimed(labels.runId);
      if (isOurs || isOrphan(labels)) await this.remove(id);
    }
  }

  /** Resolves with whether the container is gone. */
  async remove(idOrName: string): Promise<boolean> {
    try {
      await this.#runtime.call(async (client) => {
        const container = client.getContainer(idOrName);
        const labels = readLabels((await container.inspect()).Config.Labels);
        if (labels !== undefined && (this.owns(labels) || isOrphan(labels))) {
          await container.remove({ force: true, v: true });
        }
      });
      return true;
    } catch (error) {
      return statusOf(error) === 404;
    }
  }

  async #listRuns(): Promise<readonly FoundContainer[]> {
    const filters = { label: [labelNames.runId] };
    const found: ContainerInfo[] = await this.#runtime.call((client) =>
      client.listContainers({ all: true, filters }),
    );
    return found.flatMap(({ Id: id, Labels }) => {
      const labels = readLabels(Labels);
      return labels === undefined ? [] : [{ id, labels }];
    });
  }
}

/** Identifies a process for ever. */
export const thisProcess = (): string =>
  `${process.pid}:${readStat(process.pid)?.startTime}:${bootId()}`;

/** Whether it was to end with an agent that has ended. */
function isOrphan({ endsWith }: RunLabels): boolean {
  if (endsWith === '') return false;
  const [pid, startTime = '', boot] = endsWith.split(':');
  return boot !== bootId() || !isAlive(Number(pid), startTime);
}
