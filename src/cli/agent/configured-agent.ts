import type { AgentOptions } from './options.ts';
import type { AgentSettings } from './settings.ts';

export interface ReadAgent {
  readonly settings: AgentSettings;
  /** The options of these settings; only to be used without faults. */
  readonly options: AgentOptions;
}

/** The settings of an agent, and the place where it may read them again. */
export interface ConfiguredAgent extends ReadAgent {
  readonly source: {
    /** Whether there are configuration files. */
    readonly hasFiles: boolean;
    /** Reads the files, and checks all settings. */
    read(): Promise<ReadAgent & { readonly faults: readonly string[] }>;
  };
}
