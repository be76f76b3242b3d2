/** Runs commands in process, for tests. */
import { join, relative } from 'node:path/posix';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { FileFault, type FunctionFiles } from '../language/hcl/functions/ports.ts';
import { type Handler, type Reply, type SeenRequest, serve } from '../sdk/server.test-helper.ts';
import type { AgentOptions } from './agent/options.ts';
import type { CliEnvironment, FileInProgress, Output } from './environment.ts';
import type { Page } from './login/page.ts';
import type { EngineCommands } from './operator/engines.ts';
import { runCli } from './run-cli.ts';

export interface Setting {
  readonly server?: Handler | Readonly<Record<string, Reply | Reply[]>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  /** Width of the output: 100 at a terminal, unlimited in a pipe. */
  readonly columns?: number;
  /** Standard input is a terminal too, of this height. */
  readonly height?: number;
  /** Takes the texts that a pager shows, instead of a pager that cannot be started. */
  readonly paged?: [command: string, text: string][];
  readonly agentExitCode?: number;
  readonly engines?: Partial<EngineCommands>;
  /** The queries of the browser's redirects, in order. */
  readonly redirects?: readonly string[];
  /** Called when the redirects are used up, with a way to let time pass. */
  readonly onAlone?: (advance: (durationMs: number) => Promise<void>) => void;
  /** Called with every write to standard output; may interrupt. */
  readonly onOutput?: (text: string, interrupt: () => void) => void;
  /** Called with every write to standard error. */
  readonly onNote?: (text: string) => void;
  /** The time that passes before the server answers a request. */
  readonly passesMs?: (request: SeenRequest) => number;
  /** Closes the output after this many writes. */
  readonly readerLeavesAfter?: number;
}

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly seen: readonly SeenRequest[];
  readonly agent: AgentOptions | undefined;
  /** The addresses that the browser opened. */
  readonly opened: readonly string[];
  /** The pages that the browser showed. */
  readonly pages: readonly Page[];
  /** The written files, by path. */
  readonly written: Readonly<Record<string, string>>;
}

const noStores = () => Promise.reject(new Error('there are no stores here'));

/** The time of every test. Fixtures are some seconds older. */
export const nowMs = Date.UTC(2026, 0, 1);

export async function run(words: readonly string[], setting: Setting = {}): Promise<Ran> {
  const world = new SimulatedWorld(1, nowMs);
  await using server = await serve(serverIn(setting, world));
  const interrupts = new Set<() => void>();
  const interrupt = () => {
    for (const stop of interrupts) stop();
  };
  const stdout = collector(setting, setting.readerLeavesAfter, (text) =>
    setting.onOutput?.(text, interrupt),
  );
  const stderr = collector(setting, Number.POSITIVE_INFINITY, setting.onNote);
  let agent: AgentOptions | undefined;
  const opened: string[] = [];
  const pages: Page[] = [];
  const written: Record<string, string> = {};
  const environment: CliEnvironment = {
    startAgent: async (options) => {
      agent = options;
      return setting.agentExitCode ?? 0;
    },
    engines: {
      migrate: noStores,
      recover: noStores,
      checkStore: noStores,
      repairStore: noStores,
      ...setting.engines,
    },
    stdout,
    stderr,
    page: async (command, text) => setting.paged?.push([command, text]) !== undefined,
    terminal: terminalOf(setting),
    stdin: {
      isTerminal: setting.height !== undefined,
      read: async function* () {
        yield Buffer.from(setting.stdin ?? '');
      },
    },
    env: { ROSTER_ADDR: server.address, ...setting.env },
    clock: world.clock,
    timers: world.timers,
    secrets: world.secrets,
    random: world.random,
    browser: browserOf(setting, world, { opened, pages }),
    writeFile: async (path, text, how) => {
      const exists = setting.files?.[path] !== undefined;
      if (how === 'new' && exists) throw systemError('EEXIST', path);
      written[path] = text;
    },
    functionFiles: (directory) => filesIn(setting.files ?? {}, directory),
    writeSecretFile: async (path, text) => {
      written[path] = text;
    },
    readFile: async (path) => fileIn(setting, path),
    listDirectory: async (path) => namesIn(setting.files ?? {}, path),
    readBytes: async (path) => Buffer.from(fileIn(setting, path), 'latin1'),
    readPieces: (path) => pieceOf(() => Buffer.from(fileIn(setting, path), 'latin1')),
    beginFile: async (path) => inProgress(path, written),
    onInterrupt: (stop) => {
      interrupts.add(stop);
      return () => interrupts.delete(stop);
    },
    build: { version: '1.2.3', node: '24.0.0', platform: 'linux-x64' },
  };
  const exitCode = await runCli(words, environment);
  const text = (output: { text: string }) => output.text.replaceAll(server.address, 'ADDRESS');
  return {
    exitCode,
    stdout: text(stdout),
    stderr: text(stderr),
    seen: server.seen,
    agent,
    opened,
    pages,
    written,
  };
}

function serverIn({ server = {}, passesMs }: Setting, world: SimulatedWorld): Handler {
  const handler = handlerOf(server);
  return async (request) => {
    await world.advance(passesMs?.(request) ?? 0);
    return handler(request);
  };
}

/** The names in a directory, which exists if a file is in it. */
function namesIn(files: Readonly<Record<string, string>>, path: string) {
  const below = Object.keys(files).filter((file) => file.startsWith(`${path}/`));
  const names = new Set(below.map((file) => file.slice(path.length + 1).split('/')[0]!));
  return names.size === 0 ? undefined : [...names];
}

const terminalOf = ({ height, columns: width = 100 }: Setting): CliEnvironment['terminal'] =>
  height === undefined
    ? undefined
    : { setRaw: () => {}, onResize: () => () => {}, size: () => ({ height, width }) };

async function* pieceOf(read: () => Uint8Array): AsyncIterable<Uint8Array> {
  yield read();
}

function inProgress(path: string, written: Record<string, string>): FileInProgress {
  let text = '';
  return {
    async write(bytes) {
      text += Buffer.from(bytes).toString('latin1');
    },
    async finish() {
      written[path] = text;
    },
    async discard() {},
  };
}

interface Browsed {
  readonly opened: string[];
  readonly pages: Page[];
}

function browserOf(
  { redirects: given = [], onAlone }: Setting,
  world: SimulatedWorld,
  { opened, pages }: Browsed,
): CliEnvironment['browser'] {
  const redirects = [...given];
  return {
    open: (url) => opened.push(url),
    awaitRedirect: async (address, signal) => ({
      uri: `http://${address}/oidc/callback`,
      next: () => {
        const redirect = redirects.shift();
        if (redirect !== undefined) {
          const query = new URLSearchParams(redirect);
          return Promise.resolve({ query, answer: async (page) => void pages.push(page) });
        }
        onAlone?.((durationMs) => world.advance(durationMs));
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      },
      close: async () => {},
    }),
  };
}

function fileIn({ files }: Setting, path: string): string {
  const text = files?.[path];
  if (text !== undefined) return text;
  const inside = Object.keys(files ?? {}).some((one) => one.startsWith(`${path}/`));
  throw systemError(inside || path === '.' ? 'EISDIR' : 'ENOENT', path);
}

const reasons = {
  ENOENT: 'no such file',
  EISDIR: 'illegal operation on a directory',
  EEXIST: 'file already exists',
} as const;

const systemError = (code: keyof typeof reasons, path: string): Error =>
  Object.assign(new Error(`${code}: ${reasons[code]}, open '${path}'`), { code });

/** The files of the setting, for functions of job files. */
function filesIn(files: Readonly<Record<string, string>>, directory: string): FunctionFiles {
  const within = (path: string) => join(directory, path);
  return {
    read: (path) => {
      const text = files[within(path)];
      if (text === undefined) throw new FileFault('there is no such file');
      return Buffer.from(text);
    },
    exists: (path) => files[within(path)] !== undefined,
    list: (path) =>
      Object.keys(files)
        .filter((name) => within(path) === '.' || name.startsWith(`${within(path)}/`))
        .map((name) => relative(within(path), name)),
    absolute: (path) => join('/here', within(path)),
    home: () => '/home',
  };
}

function collector(
  { isTerminal = false, columns = isTerminal ? 100 : Number.POSITIVE_INFINITY }: Setting,
  mostPieces = Number.POSITIVE_INFINITY,
  onText: (text: string) => void = () => {},
): Output & { text: string } {
  const gone = new AbortController();
  const output = {
    text: '',
    isTerminal,
    columns,
    closed: gone.signal,
    async write(chunk: string | Uint8Array) {
      if (gone.signal.aborted) return;
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      output.text += text;
      pieces++;
      if (pieces >= mostPieces) gone.abort();
      onText(text);
    },
  };
  let pieces = 0;
  return output;
}

/**
 * Answers by `METHOD /path`, without the query. A list of answers is used in order, each once;
 * later requests get no answer.
 */
function handlerOf(answers: NonNullable<Setting['server']>): Handler {
  if (typeof answers === 'function') return answers;
  const given = new Map<string, number>();
  return ({ method, path }) => {
    const key = `${method} ${decodeURIComponent(path)}`;
    const found = answers[key];
    if (found === undefined) {
      const problem = { code: 'route-not-found', detail: `The test does not answer ${key}` };
      return { status: 404, json: problem };
    }
    if (!Array.isArray(found)) return found;
    const count = given.get(key) ?? 0;
    given.set(key, count + 1);
    return found[count] ?? { write: () => {} };
  };
}
