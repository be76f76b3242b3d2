import type { Timer, Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import type { Defences } from '../../defences.ts';
import { readBelow } from '../../files.ts';
import type { TaskPath } from './task-path.ts';
import type { DataState, DataWatch } from './template-data.ts';

/** A file of the task that a template reads, polled for changes. */
export class WatchedFile implements DataWatch {
  state: DataState = { kind: 'pending' };
  readonly #file: TaskPath;
  readonly #timers: Timers;
  readonly #defences: Defences | undefined;
  readonly #onChange: () => void;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(
    file: TaskPath,
    timers: Timers,
    { defences, onChange }: { defences: Defences | undefined; onChange: () => void },
  ) {
    this.#file = file;
    this.#timers = timers;
    this.#defences = defences;
    this.#onChange = onChange;
    void this.#lookAtFile();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.clear();
  }

  async #lookAtFile(): Promise<void> {
    const state = await this.#read();
    if (this.#isClosed) return;
    const { filePollMs } = limits.template;
    this.#timer = this.#timers.after(filePollMs, () => void this.#lookAtFile());
    if (JSON.stringify(state) === JSON.stringify(this.state)) return;
    this.state = state;
    this.#onChange();
  }

  async #read(): Promise<DataState> {
    const { directory, path } = this.#file;
    try {
      const bytes = await readBelow(directory, path, limits.template.fileBytesMax, this.#defences);
      return { kind: 'known', value: textOrNull(bytes) };
    } catch (error) {
      return { kind: 'failed', reason: (error as Error).message };
    }
  }
}

const textOrNull = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
