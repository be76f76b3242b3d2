import type { EtcdOptions } from '../agent/engine-settings.ts';

/** The stores of an agent that does not run. */
export interface StoreOptions {
  readonly dataDirectory: string;
  readonly etcd: EtcdOptions;
}

export type MigrationStep = 'read' | 'write' | 'compare';

export interface MigratedStores {
  readonly index: number;
  readonly rows: number;
  readonly hash: string;
  readonly from: string;
  readonly to: string;
}

export interface RecoveredStores {
  /** Index of the state that goes on. */
  readonly from: number;
  /** Index that it has now. */
  readonly index: number;
  /** Whether another server had recovered the log before. */
  readonly wasRecovered: boolean;
  readonly to: string;
}

/** Work on stores that no agent uses. Rejects with `CliError`. */
export interface EngineCommands {
  /** `progress` is told before each step, and with the bytes of the step from time to time. */
  migrate(
    options: StoreOptions & { readonly to: 'etcd' | 'sqlite' },
    progress: (step: MigrationStep, bytes: number) => void,
  ): Promise<MigratedStores>;
  recover(options: StoreOptions & { readonly from: 'etcd' | 'disk' }): Promise<RecoveredStores>;
}
