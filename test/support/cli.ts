import type { Clock, Timers } from '../../src/base/ports.ts';
import type { CliEnvironment, FileInProgress, Output } from '../../src/cli/environment.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { locate, normalizeWords } from '../../src/cli/words.ts';
import type { Transport } from '../../src/sdk/transport.ts';
import { rootToken, type TestApi } from './api.ts';

export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliSetting {
  readonly token?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Takes the files that the command completes, which later commands may read. */
  readonly written?: Map<string, Uint8Array>;
}

/** Runs commands against the server without a port, on simulated time. */
export function cliOf(api: TestApi) {
  return async (words: readonly string[], setting: CliSetting = {}): Promise<CliRun> => {
    const [stdout, stderr] = [collector(), collector()];
    const { clock, timers }: { clock: Clock; timers: Timers } = api.world;
    const environment: CliEnvironment = {
      stdout,
      stderr,
      clock,
      timers,
      startAgent: async () => 1,
      engines: {
        migrate: noStores,
        recover: noStores,
        checkStore: noStores,
        repairStore: noStores,
      },
      secrets: api.world.secrets,
      random: api.world.random,
      browser: {
        open: () => {},
        awaitRedirect: () => Promise.reject(new Error('there is no browser here')),
      },
      page: () => Promise.reject(new Error('there is no pager here')),
      writeFile: () => Promise.reject(new Error('there are no files here')),
      functionFiles: () => {
        throw new Error('there are no files here');
      },
      writeSecretFile: () => Promise.reject(new Error('there are no files here')),
      stdin: {
        isTerminal: false,
        read: async function* () {
          yield Buffer.from(setting.stdin ?? '');
        },
      },
      env: { ROSTER_TOKEN: setting.token ?? rootToken },
      readFile: async (path) => fileIn(setting, path),
      listDirectory: async () => undefined,
      readBytes: async (path) => Buffer.from(fileIn(setting, path)),
      readPieces: (path) =>
        pieceOf(() => setting.written?.get(path) ?? Buffer.from(fileIn(setting, path))),
      beginFile: async (path) => inProgress(path, setting.written ?? new Map()),
      onInterrupt: () => () => {},
      build: { version: '0.0.0', node: '24.0.0', platform: 'linux-x64' },
      transport: transportOf(api),
    };
    const exitCode = await runCli(words, environment);
    return { exitCode, stdout: stdout.text, stderr: stderr.text };
  };
}

const noStores = () => Promise.reject(new Error('there are no stores here'));

/** The simulated seconds that a command may take. */
const patienceS = 600;

/**
 * Runs a command that watches, while `pass` lets one simulated second after another pass. Its code is
 * loaded first, since loading takes real time, in which all the simulated time could pass. From then on it
 * waits for the server and the simulated time alone.
 */
export async function watched(
  cli: (words: readonly string[]) => Promise<CliRun>,
  words: readonly string[],
  pass: () => Promise<void>,
): Promise<CliRun> {
  await Promise.all([
    locate(normalizeWords(words)).entry?.load(),
    import('../../src/cli/program.ts'),
    import('../../src/cli/context.ts'),
    import('../../src/cli/errors.ts'),
  ]);
  let isOver = false;
  const running = cli(words).finally(() => {
    isOver = true;
  });
  for (let second = 0; !isOver; second++) {
    if (second === patienceS) throw new Error(`roster ${words.join(' ')} does not come to an end`);
    await pass();
  }
  return running;
}

function fileIn({ files }: CliSetting, path: string): string {
  const text = files?.[path];
  if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
  return text;
}

const transportOf = (api: TestApi): Transport => ({
  async send({ method, path, headers, body, signal }) {
    const called = await api.call(method, path, {
      headers,
      token: null,
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    });
    return { ...called, body: once(called.bytes) };
  },
  close: async () => {},
});

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

async function* pieceOf(read: () => Uint8Array): AsyncIterable<Uint8Array> {
  yield read();
}

function inProgress(path: string, written: Map<string, Uint8Array>): FileInProgress {
  const pieces: Uint8Array[] = [];
  return {
    async write(bytes) {
      pieces.push(bytes);
    },
    async finish() {
      written.set(path, Buffer.concat(pieces));
    },
    async discard() {},
  };
}

function collector(): Output & { text: string } {
  return {
    text: '',
    isTerminal: false,
    columns: Number.POSITIVE_INFINITY,
    closed: new AbortController().signal,
    async write(chunk) {
      this.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    },
  };
}
