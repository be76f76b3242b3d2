import { type Client, createClient } from '../sdk/client.ts';
import type { CliEnvironment } from './environment.ts';
import { CliError, exitCodes, Interrupted } from './errors.ts';
import type { Options } from './options.ts';
import { createScreen, type Screen } from './render/screen.ts';
import { unreadableReason } from './unreadable.ts';

/** The environment of a command after its words are parsed. */
export interface Context {
  readonly environment: CliEnvironment;
  readonly client: Client;
  readonly screen: Screen;
  /** Standard error, for progress and warnings if the result is JSON. */
  readonly notes: Screen;
  readonly isJson: boolean;
  /** Show whole ids instead of short ones. */
  readonly isVerbose: boolean;
  readonly namespace: string | undefined;
  readonly partition: string | undefined;
  readonly nowMs: number;
  json(value: unknown): Promise<void>;
  /** Prints an answer as JSON, or else by `print`. Resolves with the exit code of success. */
  show(answer: unknown, print: () => Promise<void>): Promise<number>;
  id(id: string): string;
  /**
   * Runs an endless task until Ctrl-C, or until the output is closed.
   * @throws Interrupted
   */
  untilInterrupted<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export const defaultAddress = 'http://127.0.0.1:4720';

export async function createContext(
  environment: CliEnvironment,
  options: Options,
): Promise<Context> {
  const { env, stdout, stderr, clock } = environment;
  const client = await connect(environment, options);
  const isVerbose = options.flag('verbose');
  const isJson = options.flag('json');
  const json = (value: unknown) => stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  return {
    environment,
    client,
    screen: createScreen(stdout, isColored(environment, options)),
    notes: createScreen(stderr, false),
    isJson,
    isVerbose,
    namespace: options.text('namespace') ?? (env.ROSTER_NAMESPACE || undefined),
    partition: partitionIn(env, options),
    nowMs: clock.nowMs(),
    json,
    show: async (answer, print) => {
      await (isJson ? json(answer) : print());
      return exitCodes.ok;
    },
    id: (id) => (isVerbose ? id : id.slice(0, 8)),
    untilInterrupted: (run) => untilInterrupted(environment, run),
  };
}

/** The client for the given flags and environment variables. */
export async function connect(
  { env, readFile, transport, random }: CliEnvironment,
  options: Options,
): Promise<Client> {
  const read = async (option: string, variable: string, what: string) => {
    const path = options.text(option) ?? (env[variable] || undefined);
    if (path === undefined) return undefined;
    const flag = `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return readPem(readFile, path, what, `Check ${variable} or ${flag}: it names a PEM file.`);
  };
  return createClient({
    address: addressesIn(options.text('address') ?? (env.ROSTER_ADDR || defaultAddress)),
    random,
    token: options.text('token') ?? (env.ROSTER_TOKEN || undefined),
    namespace: options.text('namespace') ?? (env.ROSTER_NAMESPACE || undefined),
    partition: partitionIn(env, options),
    caCertificate: await read('caCert', 'ROSTER_CACERT', 'certificate authority'),
    clientCertificate: await read('clientCert', 'ROSTER_CLIENT_CERT', 'certificate to show'),
    clientKey: await read('clientKey', 'ROSTER_CLIENT_KEY', 'key of the certificate to show'),
    transport,
  });
}

const addressesIn = (list: string): readonly string[] =>
  list.split(',').map((address) => address.trim());

const partitionIn = (env: CliEnvironment['env'], options: Options): string | undefined =>
  options.text('partition') ?? (env.ROSTER_PARTITION || undefined);

async function readPem(
  readFile: CliEnvironment['readFile'],
  path: string,
  what: string,
  hint: string,
): Promise<string> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = unreadableReason(error as Error);
    throw new CliError(`The ${what} cannot be read: ${reason}.`, { hint });
  }
}

/** Follows https://no-color.org, FORCE_COLOR and TERM. */
function isColored({ env, stdout }: CliEnvironment, options: Options): boolean {
  if (options.flag('noColor') || env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true;
  return stdout.isTerminal && env.TERM !== 'dumb';
}

async function untilInterrupted<T>(
  { onInterrupt, stdout }: CliEnvironment,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort(new Interrupted());
  const undo = onInterrupt(stop);
  stdout.closed.addEventListener('abort', stop);
  if (stdout.closed.aborted) stop();
  try {
    return await run(controller.signal);
  } finally {
    undo();
    stdout.closed.removeEventListener('abort', stop);
  }
}
