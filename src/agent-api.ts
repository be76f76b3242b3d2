/** An agent's API and its options, in the main thread and in its readers. */
import { hostname } from 'node:os';
import type { DefaultPolicy } from './acl/authorizer.ts';
import type { RunningNode } from './agent-node.ts';
import type { ReaderSettings } from './agent-reader.ts';
import type { Telemetry, TelemetrySettings } from './agent-telemetry.ts';
import { openUi, type UiSettings } from './agent-ui.ts';
import { Api, type ApiOptions } from './api/api.ts';
import type { AuditOptions, AuditSink } from './api/audit.ts';
import { AuditFile } from './api/audit-file.ts';
import { type ConnectionLimits, isLoopback } from './api/http-server.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import type { World } from './base/ports.ts';
import { limits } from './model/limits.ts';
import type { Log } from './server/context.ts';
import type { State } from './state/types.ts';

/** The options of an agent (`agent.ts`) that its API follows from. */
interface ApiSettings {
  readonly version: string;
  readonly region: string;
  readonly datacenter: string;
  readonly log: Log;
  readonly http?: { readonly host: string } | undefined;
  readonly certificate?: ServerCertificate | undefined;
  readonly node?: { readonly name?: string | undefined } | undefined;
  readonly server?: { readonly name?: string | undefined };
  readonly audit?:
    | { readonly to: string | AuditSink; readonly events: AuditOptions['events'] }
    | undefined;
  readonly connections?: ConnectionLimits;
  readonly aclEnabled?: boolean;
  readonly aclDefaultPolicy?: DefaultPolicy;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly advertise?: readonly string[] | undefined;
  readonly issuer?: string | undefined;
  readonly configuration?: (() => object) | undefined;
  readonly telemetry?: TelemetrySettings | undefined;
  readonly ui?: UiSettings | undefined;
}

/** The options of the API, derived from the options of the agent, as plain data. */
export function apiOptionsOf(options: ApiSettings) {
  const { version, certificate } = options;
  return {
    version,
    name: options.node?.name ?? options.server?.name ?? 'roster',
    connections: options.connections ?? {
      perAddressMax: limits.http.connectionsPerAddressMax,
      perLoopbackMax: limits.http.connectionsPerLoopbackMax,
    },
    hosts: [hostname(), ...(options.allowedHosts ?? []), ...(options.advertise ?? []).map(nameOf)],
    certificate,
  };
}

export const aclOptionsOf = (options: ApiSettings): ReaderSettings['acl'] => ({
  enabled: options.aclEnabled ?? true,
  defaultPolicy: options.aclDefaultPolicy ?? 'deny',
  datacenter: options.datacenter,
});

/** The parts of an agent that its API needs. */
interface ApiParts
  extends Pick<
    ApiOptions,
    'server' | 'log' | 'node' | 'servers' | 'metricsOfReaders' | 'profileOfReader'
  > {
  readonly sink: AuditSink | undefined;
  readonly telemetry: Telemetry | undefined;
  /** The metrics of the node in this process, for the collector; absent or empty without one. */
  readonly metricsOfNode?: (() => ReturnType<RunningNode['metrics']> | undefined) | undefined;
}

/** The API of an agent, which also gives a collector its metrics. */
export function newApi(
  options: ApiSettings & { readonly world: World; readonly reload?: ApiOptions['reload'] },
  { sink, telemetry, metricsOfNode, ...parts }: ApiParts,
  closing: { add(close: () => unknown): void },
): Api {
  const { audit, world, reload, configuration, log, ui } = options;
  const source = openUi(ui, { timers: world.timers, log });
  closing.add(() => source?.close());
  const api = new Api({
    ...apiOptionsOf(options),
    ...parts,
    reload,
    configuration,
    ui: { source, look: ui ?? {} },
    tracing: telemetry?.tracing,
    acl: { ...aclOptionsOf(options), secrets: world.secrets },
    audit: audit && sink && { sink, events: audit.events },
  });
  telemetry?.push(async () => [
    ...JSON.parse(await api.metrics()),
    ...((await metricsOfNode?.()) ?? []),
  ]);
  return api;
}

/** Where the lines of the audit log go. `close` ends it. */
export function auditSinkOf(
  { audit, log }: ApiSettings,
  closing: { add(close: () => unknown): void },
): AuditSink | undefined {
  if (audit === undefined || typeof audit.to !== 'string')
    return audit?.to as AuditSink | undefined;
  const file = new AuditFile(audit.to, log);
  closing.add(() => file.close());
  return file;
}

/** The way to a collector of traces and metrics, if one is configured. */
export async function telemetryOf(
  { telemetry, ...options }: ApiSettings & { readonly world: World },
  state: State,
  closing: { add(close: () => unknown): void },
): Promise<Telemetry | undefined> {
  if (telemetry === undefined) return undefined;
  const { startTelemetry } = await import('./agent-telemetry.ts');
  const { name } = apiOptionsOf(options);
  const started = await startTelemetry(telemetry, { ...options, name, state });
  closing.add(() => started.close());
  return started;
}

/** The settings of a reader. */
export function readerSettingsOf(options: ApiSettings, rootKey: Uint8Array): ReaderSettings {
  const { audit, region, datacenter, issuer, log } = options;
  return {
    region,
    datacenter,
    issuer,
    rootKey,
    api: apiOptionsOf(options),
    ui: options.ui,
    acl: aclOptionsOf(options),
    audit: audit && {
      file: typeof audit.to === 'string' ? audit.to : undefined,
      events: audit.events,
    },
    isVerbose: log.isLevelEnabled?.('debug') === true,
    isTraced: options.telemetry !== undefined,
  };
}

/** The name in `host:port`. */
const nameOf = (address: string): string => address.replace(/:\d+$/, '');

/** Warns of an API that is open to others. */
export function warnOfExposure({ http, certificate, aclEnabled, log }: ApiSettings): void {
  if (aclEnabled === false) {
    log.warn({}, 'access control is off: whoever reaches the API may do everything');
  }
  if (http !== undefined && !isLoopback(http.host) && certificate === undefined) {
    const { host } = http;
    log.warn(
      { host },
      'the API listens beyond this machine without TLS: tokens can be read on the way',
    );
  }
}
