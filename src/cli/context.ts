import { type Client, createClient } from '../sdk/client.ts';
import { type AnswerPrinter, answerPrinter } from './answer.ts';
import { isColored } from './colors.ts';
import type { CliEnvironment } from './environment.ts';
import { CliError, exitCodes, Interrupted } from './errors.ts';
import { withLeaderlessNote } from './leaderless-note.ts';
import type { Options } from './options.ts';
import { createScreen, type Screen } from './render/screen.ts';
import { readText } from './text-file.ts';
import { unreadableReason } from './unreadable.ts';

/** The environment of a command after its words are parsed. */
export interface Context extends AnswerPrinter {
  readonly environment: CliEnvironment;
  readonly client: Client;
  readonly screen: Screen;
  /** Standard error, for progress and warnings if the result is JSON. */
  readonly notes: Screen;
  /** Show whole ids instead of short ones. */
  readonly isVerbose: boolean;
  readonly namespace: string | undefined;
  readonly partition: string | undefined;
  readonly nowMs: number;
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
  isAnonymous = false,
): Promise<Context> {
  const { env, stdout, stderr, clock } = environment;
  const answers = await answerPrinter(environment, options);
  const client = await connect(environment, options, isAnonymous);
  const isVerbose = options.flag('verbose');
  return {
    ...answers,
    environment,
    client,
    screen: createScreen(stdout, isColored(stdout, env, options.flag('noColor'))),
    notes: createScreen(stderr, false),
    isVerbose,
    namespace: options.text('namespace') ?? (env.ROSTER_NAMESPACE || undefined),
    partition: partitionIn(env, options),
    nowMs: clock.nowMs(),
    show: async (answer, print) => {
      await (answers.isJson ? answers.json(answer) : print());
      return exitCodes.ok;
    },
    id: (id) => (isVerbose ? id : id.slice(0, 8)),
    untilInterrupted: (run) => untilInterrupted(environment, run),
  };
}

/** The client for the given flags and environment variables. */
export async function connect(
  environment: CliEnvironment,
  options: Options,
  isAnonymous = false,
): Promise<Client> {
  const { env, transport, random } = environment;
  const read = async (option: string, variable: string, what: string) => {
    const path = options.text(option) ?? (env[variable] || undefined);
    if (path === undefined) return undefined;
    const flag = `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return readPem(environment, path, what, `Check ${variable} or ${flag}: it names a PEM file.`);
  };
  return createClient({
    address: addressesOf(environment, options),
    random,
    token: isAnonymous ? undefined : await tokenIn(environment, options),
    namespace: options.text('namespace') ?? (env.ROSTER_NAMESPACE || undefined),
    partition: partitionIn(env, options),
    caCertificate: await read('caCert', 'ROSTER_CACERT', 'certificate authority'),
    clientCertificate: await read('clientCert', 'ROSTER_CLIENT_CERT', 'certificate to show'),
    clientKey: await read('clientKey', 'ROSTER_CLIENT_KEY', 'key of the certificate to show'),
    transport,
    around: (own) => withLeaderlessNote(own, environment),
  });
}

/** The secret of the token: that of the options, and otherwise that of the environment. @throws CliError */
async function tokenIn(environment: CliEnvironment, options: Options): Promise<string | undefined> {
  const { env } = environment;
  const [token, file] = [options.text('token'), options.text('tokenFile')];
  if (token !== undefined && file !== undefined) {
    throw new CliError('--token and --token-file contradict each other.');
  }
  const secret = token ?? (file === undefined ? env.ROSTER_TOKEN || undefined : undefined);
  const path = file ?? (env.ROSTER_TOKEN_FILE || undefined);
  if (secret !== undefined || path === undefined) return secret;
  const read = (await readText({ environment }, path, 'secret of a token')).trim();
  // An anonymous request would be refused for a reason that leads astray.
  if (read === '') throw new CliError(`"${path}" holds no token.`);
  return read;
}

/** The addresses of servers that are given. */
export const addressesOf = (
  { env }: Pick<CliEnvironment, 'env'>,
  options: Options,
): readonly string[] =>
  (options.text('address') ?? (env.ROSTER_ADDR || defaultAddress))
    .split(',')
    .map((address) => address.trim());

const partitionIn = (env: CliEnvironment['env'], options: Options): string | undefined =>
  options.text('partition') ?? (env.ROSTER_PARTITION || undefined);

async function readPem(
  environment: CliEnvironment,
  path: string,
  what: string,
  hint: string,
): Promise<string> {
  try {
    return await (path === '-'
      ? readText({ environment }, path, what)
      : environment.readFile(path));
  } catch (error) {
    const reason = unreadableReason(error as Error);
    throw new CliError(`The ${what} cannot be read: ${reason}.`, { hint });
  }
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
