/** Where an agent finds the files of its web interface: beside the program, in the executable, or made in a checkout. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCheckout } from './agent-program.ts';
import { type NamedBytes, uiFilesOf } from './api/ui/files.ts';
import type { UiAbsence, UiSource } from './api/ui/ui.ts';
import { isInExecutable } from './base/executable.ts';
import { delay, type Timers } from './base/ports.ts';
import { limits } from './model/limits.ts';
import type { Log } from './server/context.ts';

/** The settings of the web interface, as plain data. */
export interface UiSettings {
  /** The default is `true`. */
  readonly isEnabled?: boolean;
  /** The environment that the interface shows, such as "production". */
  readonly label?: string | undefined;
  /** The colour of the label, as `#rrggbb`. */
  readonly color?: string | undefined;
  /** The folder of the built interface; by default that of the program. */
  readonly folder?: string | undefined;
}

interface UiPorts {
  readonly timers: Timers;
  readonly log: Log;
}

interface OpenUi extends UiSource {
  close(): void;
}

/** The files of the interface; `undefined`: it is not served. */
export function openUi(
  { isEnabled = true, folder }: UiSettings = {},
  ports: UiPorts,
): OpenUi | undefined {
  if (!isEnabled) return undefined;
  if (folder !== undefined) return sourceOf(() => filesBelow(folder));
  if (isInExecutable(import.meta.url)) return sourceOf(filesInExecutable);
  const beside = fileURLToPath(new URL('ui', import.meta.url));
  if (existsSync(join(beside, 'index.html'))) return sourceOf(() => filesBelow(beside));
  const maker = isCheckout ? makerAbove(dirname(beside)) : undefined;
  if (maker === undefined) return sourceOf(async () => noFiles);
  return new MadeUi(maker, ports);
}

const noFiles: UiAbsence = {
  kind: 'missing',
  reason: 'The program was installed without the files of the web interface.',
};

const sourceOf = (read: () => Promise<readonly NamedBytes[] | UiAbsence>): OpenUi => ({
  read: async () => {
    const found = await read();
    return 'kind' in found ? found : uiFilesOf(found);
  },
  close: () => {},
});

/** Every file, by its path below the folder. */
async function filesBelow(folder: string): Promise<readonly NamedBytes[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Promise.all(
    paths.sort().map(async (path) => [relative(folder, path), await readFile(path)] as const),
  );
}

/** The executable has the files as assets. */
async function filesInExecutable(): Promise<readonly NamedBytes[]> {
  const { getAssetKeys, getRawAsset } = process.getBuiltinModule('node:sea');
  return getAssetKeys()
    .filter((key) => key.startsWith(assetFolder))
    .map((key) => [key.slice(assetFolder.length), new Uint8Array(getRawAsset(key))] as const);
}

const assetFolder = 'ui/';

/** The program of a checkout that makes the files. A bundle of a checkout is somewhere below it. */
function makerAbove(folder: string): string | undefined {
  const path = join(folder, 'tools/ui/cached.ts');
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder ? undefined : makerAbove(above);
}

/**
 * The interface of a checkout. The first request has another process make its files, unless they are as new as their
 * sources; so an agent starts as fast as without them.
 */
class MadeUi implements OpenUi {
  readonly #maker: string;
  readonly #ports: UiPorts;
  readonly #closing = new AbortController();
  #folder: Promise<string | undefined> | undefined;

  constructor(maker: string, ports: UiPorts) {
    this.#maker = maker;
    this.#ports = ports;
  }

  async read(): ReturnType<UiSource['read']> {
    this.#folder ??= this.#makeFiles();
    const waited = delay(this.#ports.timers, limits.ui.filesWaitMs).then(() => 'later' as const);
    const folder = await Promise.race([this.#folder, waited]);
    if (folder === 'later') {
      return { kind: 'made', reason: 'This takes some seconds after a change of its source.' };
    }
    if (folder !== undefined) return uiFilesOf(await filesBelow(folder));
    // The next request tries again.
    this.#folder = undefined;
    return {
      kind: 'missing',
      reason: 'Its files could not be made: "npm run ui -- build" tells the reason.',
    };
  }

  close(): void {
    this.#closing.abort();
  }

  /** Resolves with the folder, or with `undefined` if it could not be made. */
  #makeFiles(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    let printed = '';
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', this.#maker], {
      stdio: ['ignore', 'pipe', 'ignore'],
      signal: this.#closing.signal,
      timeout: limits.ui.filesMakeMs,
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.once('error', () => resolve(undefined));
    child.once('close', (code) => {
      if (code !== 0) this.#ports.log.warn({ code }, 'the web interface could not be made');
      // The build may print warnings before.
      resolve(code === 0 ? printed.trim().split('\n').at(-1) : undefined);
    });
    return promise;
  }
}
