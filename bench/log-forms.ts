/** Durable appends in the store's SQLite, beside files of our own: the measurement behind the form of the log. */
import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { SqliteStore } from '../src/state/engine/sqlite-store.ts';
import { temporaryFolder } from './agent.ts';
import { alternate, type Benchmark, type Figure, type Setting } from './benchmark.ts';
import { limits } from './limits.ts';

const { appends, sizes } = limits.logForms;

export const logForms: Benchmark = {
  name: 'log-forms',
  title: 'Durable appends one after another: the store, and files of our own',
  baseline:
    'a file to which each batch is appended with its checksum, and one sync. For the store, on space that was written before',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const figures: Figure[] = [];
    for (const bytes of sizes) figures.push(...(await figuresOf(setting, bytes)));
    return {
      figures,
      notes: [
        `${appends} appends for each figure, in one thread and without HTTP. The store is that of an agent: SQLite with its ` +
          'write-ahead log, a checksum, the number of the last batch beside it, and the copies of the log into the database. ' +
          'Space “written before” is a file that had its length and its sync already, as the write-ahead log has after its ' +
          'first copy. A log of our own would also need snapshots, pruning and its own tests.',
      ],
    };
  },
};

async function figuresOf(setting: Setting, bytes: number): Promise<readonly Figure[]> {
  const progress = (text: string) => setting.progress(`${bytes} bytes: ${text}`);
  const once = { ...setting, progress };
  const store = await alternate(
    once,
    () => inFolder((folder) => storeRate(folder, bytes)),
    () => inFolder((folder) => fileRate(folder, bytes, true)),
  );
  const space = await alternate(
    once,
    () => inFolder((folder) => fileRate(folder, bytes, true)),
    () => inFolder((folder) => fileRate(folder, bytes, false)),
  );
  return [
    { name: `${bytes} bytes: the store`, unit: '/s', ...store },
    { name: `${bytes} bytes: a file, on space written before`, unit: '/s', ...space },
  ];
}

async function inFolder(measure: (folder: string) => number): Promise<number> {
  const folder = temporaryFolder();
  try {
    return measure(folder.path);
  } finally {
    await folder.remove();
  }
}

function storeRate(folder: string, bytes: number): number {
  const store = new SqliteStore({ directory: folder });
  while (store.loadNext().length > 0);
  const perSecond = rateOf((number) => {
    const batch = { firstIndex: number, lastIndex: number, bytes: new Uint8Array(bytes).fill(1) };
    store.append(batch, number - 1);
    store.checkpoint();
  });
  store.close();
  return perSecond;
}

function fileRate(folder: string, bytes: number, isWritten: boolean): number {
  const file = openSync(join(folder, 'log'), 'w');
  const batch = new Uint8Array(bytes).fill(1);
  const head = Buffer.alloc(headBytes);
  const length = headBytes + bytes;
  if (isWritten) {
    const whole = Buffer.alloc(length * appends);
    writeSync(file, whole, 0, whole.length, 0);
    fsyncSync(file);
  }
  const perSecond = rateOf((number) => {
    head.writeUInt32BE(crc32(batch, number));
    writeSync(file, Buffer.concat([head, batch]), 0, length, (number - 1) * length);
    fdatasyncSync(file);
  });
  closeSync(file);
  return perSecond;
}

/** Not in limits: number, length and checksum of a batch. */
const headBytes = 16;

function rateOf(append: (number: number) => void): number {
  const startMs = performance.now();
  for (let number = 1; number <= appends; number++) append(number);
  return (appends / (performance.now() - startMs)) * 1000;
}
