import type { Variable } from '../../model/variable/variable.ts';
import { defaultIdentityName } from '../../model/workload/claims.ts';
import { type ServerApi, statusOf } from '../server-api.ts';
import type { IdentitySource } from './identity-source.ts';

/** The task in whose name something is read. */
export interface ReadingTask {
  readonly allocation: string;
  readonly task: string;
  readonly namespace: string;
}

export interface VariableAnswer {
  /** Give it back to wait for a change. */
  readonly index: number;
  /** `undefined`: there is none. */
  readonly variable: Variable | undefined;
}

export interface VariableQuestion {
  readonly path: string;
  /** Wait until the answer's own index is greater; 0: answer at once. */
  readonly index: number;
  readonly waitMs: number;
}

/**
 * What the node reads in the name of a task, with the task's own token: so it is exactly what the
 * task may read. For templates.
 */
export class WorkloadReader {
  readonly #api: Pick<ServerApi, 'variable'>;
  readonly #source: IdentitySource;
  readonly #task: ReadingTask;
  #token: Promise<string> | undefined;

  constructor(api: Pick<ServerApi, 'variable'>, source: IdentitySource, task: ReadingTask) {
    this.#api = api;
    this.#source = source;
    this.#task = task;
  }

  /** Rejects with an error that has the HTTP `status`: 403 when the task may not read it. */
  async readVariable(question: VariableQuestion, signal: AbortSignal): Promise<VariableAnswer> {
    const read = async () => {
      const { namespace } = this.#task;
      return this.#api.variable({ namespace, ...question }, await this.#current(signal), signal);
    };
    const before = this.#token;
    try {
      return await read();
    } catch (error) {
      // A token may be done with, its key taken out: then another one is tried, once.
      if (statusOf(error) !== 403 || before === undefined) throw error;
      if (this.#token === before) this.#token = undefined;
      return read();
    }
  }

  #current(signal: AbortSignal): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    const { allocation: AllocID, task: Task } = this.#task;
    const request = { AllocID, Task, Name: defaultIdentityName };
    const token = this.#source.issue(request, signal).then(({ Token }) => Token);
    this.#token = token;
    token.catch(() => {
      if (this.#token === token) this.#token = undefined;
    });
    return token;
  }
}
