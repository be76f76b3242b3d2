import { join, relative } from 'node:path';
import { findMemoryMounts, type MemoryMounts } from './mounts.ts';

export interface SecretMemoryOptions {
  readonly dataDirectory: string;
  readonly isWanted: boolean;
  readonly onNotice: (sentence: string) => void;
}

/** The place of a node's task secrets: memory, or the disk. */
export class SecretMemory {
  /** `undefined`: secrets are on the disk. */
  readonly mounts: MemoryMounts | undefined;
  readonly #options: SecretMemoryOptions;

  private constructor(options: SecretMemoryOptions, mounts: MemoryMounts | undefined) {
    this.#options = options;
    this.mounts = mounts;
  }

  static async find(options: SecretMemoryOptions): Promise<SecretMemory> {
    const { dataDirectory, isWanted, onNotice } = options;
    if (!isWanted) return new SecretMemory(options, undefined);
    const { mounts, reason } = await findMemoryMounts(dataDirectory);
    if (mounts === undefined) {
      onNotice(`secrets are kept on the disk, since this user cannot mount memory: ${reason}`);
    }
    return new SecretMemory(options, mounts);
  }

  /** The attributes of the node that tell where secrets are. */
  get attributes(): Readonly<Record<string, string>> {
    return { 'storage.secrets': this.mounts === undefined ? 'disk' : 'memory' };
  }

  /** Unmounts the memory of ended allocations, also those of earlier agents. */
  async unmount(isOver: (allocation: string) => boolean): Promise<void> {
    const { dataDirectory, onNotice } = this.#options;
    try {
      const root = join(dataDirectory, 'alloc');
      const mounted = (await this.mounts?.mounted()) ?? [];
      const stale = mounted.filter((path) => isOver(relative(root, path).split('/')[0] ?? ''));
      await this.mounts?.unmount(stale);
    } catch (error) {
      onNotice(`memory of former tasks is still mounted: ${(error as Error).message}`);
    }
  }

  /** Mounts stay. */
  async close(): Promise<void> {
    await this.mounts?.close();
  }
}
