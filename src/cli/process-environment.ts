import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { World } from '../base/ports.ts';
import type { CliEnvironment, FileInProgress, Output, Terminal } from './environment.ts';
import { functionFiles } from './function-files.ts';
import { systemBrowser } from './login/browser.ts';
import { showByPager } from './system-pager.ts';

type Process = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'stdin' | 'env' | 'on' | 'once' | 'off'>;

export function processEnvironment(
  process: Process,
  options: Pick<CliEnvironment, 'startAgent' | 'engines' | 'build'> & {
    readonly world: Pick<World, 'clock' | 'timers' | 'secrets' | 'random'>;
  },
): CliEnvironment {
  const { startAgent, engines, build, world } = options;
  return {
    startAgent,
    engines,
    build,
    clock: world.clock,
    timers: world.timers,
    secrets: world.secrets,
    random: world.random,
    browser: systemBrowser,
    page: (command, text) => showByPager(process, command, text),
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    stdin: {
      isTerminal: process.stdin.isTTY === true,
      read: () => process.stdin,
      close: () => void process.stdin.destroy(),
    },
    terminal: terminalOf(process),
    env: process.env,
    readFile: (path) => readFile(path, 'utf8'),
    listDirectory: (path) => readdir(path).catch(() => undefined),
    readBytes: (path) => readFile(path),
    readPieces: (path) => createReadStream(path),
    beginFile: (path) => beginFile(path, `${path}.${world.secrets.uuid()}`),
    writeFile: (path, text, how) => writeFile(path, text, { flag: how === 'new' ? 'wx' : 'w' }),
    functionFiles: (directory) => functionFiles(directory, process.env.HOME),
    async writeSecretFile(path, text) {
      // An existing file could be readable for others, and would stay so if it were only overwritten.
      const made = `${path}.${world.secrets.uuid()}`;
      await writeFile(made, text, { mode: 0o600, flag: 'wx' });
      await rename(made, path);
    },
    onInterrupt(run) {
      // Once, so that a second Ctrl-C ends a command that hangs.
      process.once('SIGINT', run);
      return () => void process.off('SIGINT', run);
    },
  };
}

async function beginFile(path: string, temporary: string): Promise<FileInProgress> {
  const file = await open(temporary, 'wx', 0o600);
  return {
    async write(bytes) {
      await file.writeFile(bytes);
    },
    async finish() {
      await file.sync();
      await file.close();
      await rename(temporary, path);
      // The new name is durable once its directory is.
      const directory = await open(dirname(path));
      await directory.sync().finally(() => directory.close());
    },
    async discard() {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
    },
  };
}

function terminalOf({ stdin, stdout }: Process): Terminal | undefined {
  if (stdin.isTTY !== true || stdout.isTTY !== true) return undefined;
  return {
    setRaw: (isRaw) => void stdin.setRawMode(isRaw),
    size: () => ({ height: stdout.rows, width: stdout.columns }),
    onResize: (run) => {
      stdout.on('resize', run);
      return () => void stdout.off('resize', run);
    },
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  const gone = new AbortController();
  const failed = (error: NodeJS.ErrnoException): void => {
    // The reader has closed the pipe (`roster … | head`).
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    gone.abort();
  };
  stream.on('error', failed);
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.isTTY === true ? stream.columns : Number.POSITIVE_INFINITY;
    },
    closed: gone.signal,
    write: (chunk) =>
      new Promise((resolve) => {
        if (gone.signal.aborted || chunk.length === 0) return resolve();
        stream.write(chunk, (error) => {
          // Stops before the next write; the event of the error comes later.
          if (error) failed(error);
          resolve();
        });
      }),
  };
}
