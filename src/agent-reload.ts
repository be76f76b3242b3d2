/** Reads the configuration of a running agent again, and puts it to use. */
import type { AgentChange } from './agent.ts';
import type { AuditedSignal } from './api/audit.ts';
import { auditedReload, type Reloaded } from './api/reload.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import type { ConfiguredAgent } from './cli/agent/configured-agent.ts';
import { type AgentOptions, agentOptions } from './cli/agent/options.ts';
import { changesOf } from './cli/agent/reload-changes.ts';
import type { SettingName } from './cli/agent/settings.ts';
import { invalid, RosterError } from './model/errors.ts';
import type { TrustedTexts } from './sdk/tls-trust.ts';
import type { Log } from './server/context.ts';

/** The parts of a running agent that take settings. */
export interface ReloadedParts {
  setLogLevel(level: AgentOptions['logLevel']): void;
  configure(change: AgentChange): Promise<void>;
  /** Absent: the agent speaks no TLS. */
  readonly certificate?: InUse<ServerCertificate> | undefined;
  /** Absent: the node is beside a server. */
  readonly trust?: InUse<TrustedTexts> | undefined;
  /** Absent: a node alone, which has no audit log. */
  readonly auditSignal?: ((signal: AuditedSignal) => void) | undefined;
}

/** Certificates that are in use, and the way to others. */
interface InUse<T> {
  /** Those of the start. */
  readonly first: T;
  /** @throws Error if a file cannot be read, or is faulty */
  read(options: AgentOptions): Promise<T | undefined>;
  /** @throws Error if they are faulty; then those before stay in use */
  renew(next: T): void;
}

/**
 * The reloads of an agent.
 *
 * Invariants
 *  R1. A reload changes nothing unless all files, the certificate's included, are without a fault.
 *  R2. One reload runs at a time, and none before the agent has started.
 *  R3. A setting that needs a restart is named at every reload until the files have its old value again.
 */
export class Reloader {
  readonly #source: ConfiguredAgent['source'];
  readonly #log: Log;
  #settings: ConfiguredAgent['settings'];
  #certificate: ServerCertificate | undefined;
  #trust: TrustedTexts | undefined;
  readonly #started: Promise<ReloadedParts>;
  #start: (parts: ReloadedParts) => void = () => {};
  #last: Promise<unknown>;

  constructor({ source, settings }: Pick<ConfiguredAgent, 'source' | 'settings'>, log: Log) {
    this.#source = source;
    this.#settings = settings;
    this.#log = log;
    this.#started = new Promise((resolve) => {
      this.#start = resolve;
    });
    this.#last = this.#started;
  }

  /** The settings in use. A setting that needs a restart has its old value. */
  get settings(): ConfiguredAgent['settings'] {
    return this.#settings;
  }

  /** The agent has started. */
  use(parts: ReloadedParts): void {
    this.#certificate = parts.certificate?.first;
    this.#trust = parts.trust?.first;
    this.#start(parts);
  }

  /** @throws RosterError `configuration-faulty` with all faults */
  readonly reload = (): Promise<Reloaded> => {
    const reloaded = this.#last.then(async () => this.#reloadOnce(await this.#started));
    this.#last = reloaded.catch(() => {});
    return reloaded;
  };

  /** Reloads at a signal, which has no answer: the log says what has changed. */
  async reloadAt(signal: AuditedSignal['signal']): Promise<void> {
    const { auditSignal } = await this.#started;
    try {
      const made = auditedReload(await this.reload());
      auditSignal?.({ signal, made });
    } catch (error) {
      const isRefusal = error instanceof RosterError;
      // A signal must not end the agent.
      if (!isRefusal) this.#log.error({ error }, 'the configuration could not be reloaded');
      auditSignal?.({ signal, code: isRefusal ? error.code : 'internal-error' });
    }
  }

  async #reloadOnce(parts: ReloadedParts): Promise<Reloaded> {
    const { faults, settings: read } = await this.#source.read();
    if (faults.length > 0) throw this.#refusalOf(faults);
    const { changed, needRestart, settings } = changesOf(this.#settings, read);
    const options = agentOptions(settings, []);
    const renewed = await this.#renewCertificates(parts, options);
    const { logLevel, drivers, node, ui } = options;
    parts.setLogLevel(logLevel);
    await parts.configure({
      drivers,
      meta: node.meta,
      nodeClass: node.class,
      isRemoteExecDisabled: node.isRemoteExecDisabled,
      ui,
      isVerbose: logLevel === 'debug' || logLevel === 'trace',
    });
    this.#settings = settings;
    const reloaded = { Changed: [...new Set([...changed, ...renewed])], NeedRestart: needRestart };
    this.#log.info(auditedReload(reloaded), 'the configuration was read again');
    return reloaded;
  }

  /** Uses the certificates of the files. Returns the settings whose files have changed. */
  async #renewCertificates(
    { certificate, trust }: ReloadedParts,
    options: AgentOptions,
  ): Promise<readonly SettingName[]> {
    try {
      const changed: SettingName[] = [];
      const note = (setting: SettingName) => changed.push(setting);
      this.#certificate = await renewed(certificate, this.#certificate, options, [
        filesOfTls,
        note,
      ]);
      this.#trust = await renewed(trust, this.#trust, options, [filesOfTrust, note]);
      return changed;
    } catch (error) {
      throw this.#refusalOf([(error as Error).message]);
    }
  }

  #refusalOf(messages: readonly string[]): RosterError {
    this.#log.error({ faults: messages }, 'the configuration is faulty: nothing was changed');
    const faults = messages.map((message) => ({ pointer: '', message }));
    return invalid('configuration-faulty', faults);
  }
}

type FilesOf<T> = readonly (readonly [keyof T, SettingName])[];

/** Renews what is in use by its files, and notes the settings whose files have changed. */
async function renewed<T extends object>(
  inUse: InUse<T> | undefined,
  before: T | undefined,
  options: AgentOptions,
  [files, note]: readonly [FilesOf<T>, (setting: SettingName) => void],
): Promise<T | undefined> {
  const next = await inUse?.read(options);
  if (inUse === undefined || before === undefined || next === undefined) return before;
  inUse.renew(next);
  for (const [part, setting] of files) if (before[part] !== next[part]) note(setting);
  return next;
}

const filesOfTls: FilesOf<ServerCertificate> = [
  ['certificate', 'tls.cert_file'],
  ['privateKey', 'tls.key_file'],
  ['authorities', 'tls.ca_file'],
];

const filesOfTrust: FilesOf<TrustedTexts> = [
  ['caCertificate', 'ca_cert'],
  ['clientCertificate', 'client_cert'],
  ['clientKey', 'client_key'],
];
