import { closeSync, mkdtempSync, readFileSync, rmSync, write, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FifoPool } from './fifo-pool.ts';
import { LogWriter } from './log-writer.ts';
import { PipeReader } from './pipe-reader.ts';

let directory: string;
let pool: FifoPool;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-pipes-'));
  pool = new FifoPool(directory);
});
afterEach(() => rmSync(directory, { recursive: true }));

async function open() {
  const { output, writeEnd } = (await pool.take((fd) => new PipeReader(fd)))!;
  return {
    output,
    print: (text: string) => writeSync(writeEnd, text),
    /** Resolves once the bytes are in the pipe, which may be full for a while. */
    printLater: (text: string) => promisify(write)(writeEnd, Buffer.from(text)),
    end: () => closeSync(writeEnd),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const ended = (output: PipeReader) => new Promise<void>((resolve) => output.on('end', resolve));

test('nothing is read before resume, and nothing is lost', async () => {
  const { output, print, end } = await open();
  print('early');
  end();
  await turn();
  await turn();
  let read = '';
  output.on('data', (bytes) => {
    read += bytes;
  });
  output.resume();
  await ended(output);
  expect(read).toBe('early');
});

test('a paused pipe blocks its writer, and goes on later', async () => {
  const { output, print, end } = await open();
  const read: string[] = [];
  output.on('data', (bytes) => {
    read.push(bytes.toString());
    output.pause();
  });
  output.resume();
  print('first');
  while (read.length === 0) await turn();
  print('second');
  for (let count = 0; count < 5; count++) await turn();
  expect(read).toEqual(['first']);
  output.resume();
  while (read.length === 1) await turn();
  expect(read).toEqual(['first', 'second']);
  end();
  output.resume();
  await ended(output);
});

test('a destroyed pipe ends, and its writer gets an error', async () => {
  const { output, print, end } = await open();
  const closed = new Promise<void>((resolve) => output.on('close', resolve));
  output.destroy();
  await closed;
  expect(() => print('x')).toThrow('EPIPE');
  end();
});

test('the logs of busy pipes have each its own bytes', async () => {
  const names = ['one', 'two', 'three'];
  const tasks = await Promise.all(
    names.map(async (name) => {
      const pipe = await open();
      const settings = { directory, name, maxFiles: 100, maxFileBytes: 300_000, disabled: false };
      return { name, ...pipe, writer: new LogWriter(pipe.output, settings, 'stdout') };
    }),
  );
  const texts = names.map((name) =>
    Array.from(
      { length: 400 },
      (_, line) => `${`${name} ${line} `.repeat(1 + ((line * 37) % 300))}\n`,
    ),
  );
  await Promise.all(
    tasks.map(async ({ printLater, end }, index) => {
      for (const text of texts[index]!) await printLater(text);
      end();
    }),
  );
  await Promise.all(tasks.map(({ writer }) => writer.drained));
  expect(names.map(logOf)).toEqual(texts.map((lines) => lines.join('')));
});

function logOf(name: string): string {
  let text = '';
  for (let index = 0; ; index++) {
    try {
      text += readFileSync(join(directory, `${name}.stdout.${index}`), 'utf8');
    } catch {
      return text;
    }
  }
}
