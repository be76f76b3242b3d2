import type { World } from '../base/ports.ts';
import type { Tracer } from '../base/tracer.ts';
import type { LogLines } from '../model/monitor/log-lines.ts';
import type { Defences } from './defences.ts';
import type { DriverSettings } from './drivers/allowed.ts';
import type { Driver } from './drivers/driver.ts';
import type { IsolationSettings } from './drivers/isolation/settings.ts';
import type { NodeSettings } from './fingerprint/fingerprint.ts';
import type { ArtifactSettings } from './hooks/artifacts/settings.ts';
import type { Probe } from './hooks/services/probes/probe.ts';
import type { TemplateData } from './hooks/templates/template-data.ts';
import type { ServerApi } from './server-api.ts';
import type { StreamHandlerOptions } from './stream-handlers.ts';
import type { launchSupervisor } from './supervisor/launch.ts';

export interface NodeAgentOptions {
  readonly world: World;
  readonly api: ServerApi;
  /** It exists and belongs to the agent's user. */
  readonly dataDirectory: string;
  readonly version: string;
  readonly region: string;
  readonly settings: NodeSettings;
  /** Reads the introduction token, for the first registration. */
  readonly introduction?: (() => Promise<string>) | undefined;
  /** Tasks end with this process, however it ends, if no data directory is to be kept. */
  readonly endWithAgent: boolean;
  /** The agent's environment, of which tasks see a part. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isolation?: IsolationSettings;
  /** The directory in which the agents of this machine record their user ids. */
  readonly uidRegistry?: string;
  /** Drivers besides those whose tasks are processes. In the simulator, instead of them. */
  readonly drivers?: readonly Driver[];
  readonly withoutRawExec?: boolean;
  /** Default: all drivers but `raw_exec`. */
  readonly allowedDrivers?: DriverSettings;
  readonly probe?: Probe;
  /** Where templates read services and variables. Without it, such templates fail. */
  readonly templateData?: TemplateData;
  /** Bounds and permissions of artifacts. Default: `limits.artifact`. */
  readonly artifacts?: Partial<ArtifactSettings>;
  /** Keep secrets in memory where this machine can. Default: in directories on disk. */
  readonly secretsInMemory?: boolean;
  /** Default: all. A test may leave one out to show its effect. */
  readonly defences?: Defences;
  /** Starts the process that owns the tasks. Default: the product's own supervisor. */
  readonly launchSupervisor?: typeof launchSupervisor;
  /** The log of the agent, for readers elsewhere. Without it, its lines cannot be read. */
  readonly logLines?: LogLines | undefined;
  readonly reload?: StreamHandlerOptions['reload'];
  /** Takes the spans of tasks that start. Without it the servers make them. */
  readonly tracer?: Tracer | undefined;
  /** Told each sentence that an operator should know. */
  readonly onNotice: (sentence: string) => void;
}
