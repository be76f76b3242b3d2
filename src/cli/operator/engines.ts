import type { EtcdOptions } from '../agent/engine-settings.ts';

/** The stores of an agent that does not run. */
export interface StoreOptions {
  readonly dataDirectory: string;
  readonly etcd: EtcdOptions;
}

type EmbeddedOptions = Pick<StoreOptions, 'dataDirectory'>;

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

export type ExaminationStep = 'structure' | 'read' | 'rows' | 'search';

export interface StoreFault {
  readonly at: string;
  readonly fault: string;
}

/** The embedded store of a data directory, and what a repair loses of it. */
export interface StoreReport {
  readonly directory: string;
  /** Of the state as far as it is legible. */
  readonly index: number;
  readonly rows: number;
  readonly faults: readonly StoreFault[];
  /** Rows with a field that is at fault. A repair keeps them as they are. */
  readonly faultyRows: readonly StoreFault[];
  readonly lostRows: readonly {
    readonly table: string;
    /** `undefined`: this part of the key is illegible. */
    readonly key: readonly (string | undefined)[];
    readonly index: number | undefined;
    readonly change: 'written' | 'deleted';
    readonly isCertain: boolean;
  }[];
  readonly lostPieces: readonly {
    readonly at: string;
    readonly fromIndex?: number | undefined;
    readonly toIndex?: number | undefined;
  }[];
}

export interface RepairedStore extends StoreReport {
  /** `undefined`: nothing was changed. */
  readonly repaired?: { readonly index: number; readonly damaged: string };
}

type Examination = (step: ExaminationStep, bytes: number) => void;

/** Work on stores that no agent uses. Rejects with `CliError`. */
export interface EngineCommands {
  /** `progress` is told before each step, and with the bytes of the step from time to time. */
  migrate(
    options: StoreOptions & { readonly to: 'etcd' | 'sqlite' },
    progress: (step: MigrationStep, bytes: number) => void,
  ): Promise<MigratedStores>;
  recover(options: StoreOptions & { readonly from: 'etcd' | 'disk' }): Promise<RecoveredStores>;
  checkStore(options: EmbeddedOptions, progress: Examination): Promise<StoreReport>;
  repairStore(
    options: EmbeddedOptions & { readonly mayLose: boolean; readonly isWithoutRootKey: boolean },
    progress: Examination,
  ): Promise<RepairedStore>;
}
