import {
  type Dependency,
  dependencyKey,
  describeDependency,
  type TemplateEnvironment,
} from '../../../language/template/run-context.ts';
import type { Defences } from '../../defences.ts';
import type { IdentitySource } from '../../workload/identity-source.ts';
import { WorkloadToken } from '../../workload/workload-token.ts';
import type { TaskHookContext } from '../hook.ts';
import { WatchedFile } from './file-data.ts';
import { taskPath } from './task-path.ts';
import { TemplateFailure } from './task-template.ts';
import type { DataReader, DataWatch, TemplateData } from './template-data.ts';

export interface TemplatesOptions {
  /** Absent: templates that read services or variables fail. */
  readonly data?: TemplateData | undefined;
  /** Issues the tokens for reading; absent: templates read without a token. */
  readonly identities?: IdentitySource | undefined;
  readonly defences?: Defences | undefined;
}

/** The values that a task's templates read, watched for changes. */
export class TemplateWatches {
  readonly #context: TaskHookContext;
  readonly #options: TemplatesOptions;
  readonly #token: WorkloadToken | undefined;
  readonly #onChange: (key: string) => void;
  readonly #watches = new Map<string, DataWatch>();

  /** `onChange` gets the key of the changed value. */
  constructor(
    context: TaskHookContext,
    options: TemplatesOptions,
    onChange: (key: string) => void,
  ) {
    this.#context = context;
    this.#options = options;
    this.#onChange = onChange;
    const { identities } = options;
    const workload = { allocation: context.allocation().ID, task: context.task().Name };
    this.#token = identities && new WorkloadToken(identities, workload, context.world.clock);
  }

  /** For a rendering, which begins a watch for each value that it reads. */
  environment(): TemplateEnvironment {
    const { environment, world } = this.#context;
    return {
      variables: environment().variables,
      nowMs: () => world.clock.nowMs(),
      lookup: (dependency) => {
        const { state } = this.#watchOf(dependency);
        return state.kind === 'known' ? state.value : undefined;
      },
    };
  }

  isPending(dependency: Dependency): boolean {
    return this.#watches.get(dependencyKey(dependency))?.state.kind === 'pending';
  }

  /** @throws TemplateFailure for missing values whose attempts have failed */
  failOn(missing: readonly Dependency[]): void {
    for (const dependency of missing) {
      const state = this.#watches.get(dependencyKey(dependency))?.state;
      if (state?.kind !== 'failed') continue;
      const name = describeDependency(dependency);
      throw new TemplateFailure(`${name} cannot be read: ${state.reason}`, true);
    }
  }

  /** Values that have failed are read again when a template next needs them. */
  dropFailed(): void {
    this.#dropWhere((_, { state }) => state.kind === 'failed');
  }

  /** Drops the values that no template has read in its last attempt. */
  dropUnread(isRead: (key: string) => boolean): void {
    this.#dropWhere((key) => !isRead(key));
  }

  close(): void {
    this.#dropWhere(() => true);
  }

  #dropWhere(isToDrop: (key: string, watch: DataWatch) => boolean): void {
    for (const [key, watch] of this.#watches) {
      if (!isToDrop(key, watch)) continue;
      watch.close();
      this.#watches.delete(key);
    }
  }

  #watchOf(dependency: Dependency): DataWatch {
    const key = dependencyKey(dependency);
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const watch = this.#newWatch(dependency, () => this.#onChange(key));
    this.#watches.set(key, watch);
    return watch;
  }

  #newWatch(dependency: Dependency, onChange: () => void): DataWatch {
    const { directories, environment, world } = this.#context;
    const { data, defences } = this.#options;
    if (dependency.kind === 'file') {
      const file = taskPath(dependency.name, environment().lookup, directories);
      return new WatchedFile(file, world.timers, { defences, onChange });
    }
    if (data === undefined) {
      return { state: { kind: 'failed', reason: 'this node has no servers' }, close: () => {} };
    }
    return data.watch(dependency, this.#reader(), onChange);
  }

  /** The task in whose name values are read. */
  #reader(): DataReader {
    const { allocation, task } = this.#context;
    const namespace = allocation().Namespace;
    const token = this.#token;
    if (token === undefined) {
      return { namespace, identity: '', token: async () => undefined, refused: () => {} };
    }
    return {
      namespace,
      identity: `${allocation().ID}/${task().Name}`,
      token: (signal) => token.current(signal),
      refused: () => token.refused(),
    };
  }
}
