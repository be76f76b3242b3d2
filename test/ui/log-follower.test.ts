/** The part of a log that a page holds. Every byte of it is shown or counted. */
import { expect, test } from 'vitest';
import type { FilePiece } from '../../src/sdk/frames.ts';
import { styledParts } from '../../ui/src/pages/allocations/logs/ansi.ts';
import { shownParts } from '../../ui/src/pages/allocations/logs/highlight.ts';
import { LogBuffer } from '../../ui/src/pages/allocations/logs/log-buffer.ts';
import { LogFollower, type LogSource } from '../../ui/src/pages/allocations/logs/log-follower.ts';
import { HeldSearch, searchWhole } from '../../ui/src/pages/allocations/logs/log-search.ts';
import { wordsOfCommand } from '../../ui/src/pages/allocations/terminal/command-words.ts';
import { choicesOf } from '../support/random.ts';

const fileBytes = 300_000;
const pieceBytes = 32_768;

/** A log of rotated files, as a node gives it: `kept` files at most. */
class Log implements LogSource {
  readonly fullFileBytesMin = fileBytes - 1000;
  readonly #kept: number;
  readonly #knowsSizes: boolean;
  /** Called before each piece. */
  beforePiece = (): void => {};
  isOver = false;
  text = '';

  constructor({ kept = 1000, knowsSizes = true } = {}) {
    this.#kept = kept;
    this.#knowsSizes = knowsSizes;
  }

  get #files(): readonly number[] {
    const last = Math.max(0, Math.ceil(this.text.length / fileBytes) - 1);
    const first = Math.max(0, last - this.#kept + 1);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  }

  sizes() {
    const size = (file: number) => Math.min(fileBytes, this.text.length - file * fileBytes);
    const known = new Map(this.#files.map((file) => [file, size(file)]));
    return Promise.resolve(this.#knowsSizes ? known : undefined);
  }

  async *pieces({ origin, offset, follow }: Parameters<LogSource['pieces']>[0]) {
    const start = this.#files[0]! * fileBytes;
    let at = origin === 'start' ? start + offset : Math.max(start, this.text.length - offset);
    for (;;) {
      this.beforePiece();
      const file = Math.floor(at / fileBytes);
      const isLost = file < this.#files[0]!;
      if (isLost) at = this.#files[0]! * fileBytes;
      const from = isLost ? this.#files[0]! : file;
      const end = Math.min(at + pieceBytes, (from + 1) * fileBytes, this.text.length);
      if (end === at && (!follow || this.isOver)) return;
      const data = new TextEncoder().encode(this.text.slice(at, end));
      const event = isLost ? 'file deleted' : undefined;
      if (end > at) yield piece(from, at - from * fileBytes, data, event);
      at = end;
    }
  }
}

const piece = (
  file: number,
  offset: number,
  data: Uint8Array,
  event: string | undefined,
): FilePiece => ({ file: `alloc/logs/app.stdout.${file}`, offset, data, event });

function follow(log: Log) {
  const buffer = new LogBuffer();
  let nowMs = 0;
  const follower = new LogFollower({
    source: log,
    buffer,
    nowMs: () => nowMs,
    pause: (delayMs) => {
      nowMs += delayMs;
      return Promise.resolve();
    },
    changed: () => {},
  });
  let pushed = 0;
  const push = buffer.push.bind(buffer);
  buffer.push = (bytes) => {
    pushed += bytes.length;
    push(bytes);
  };
  return { buffer, follower, pushed: () => pushed, pass: (ms: number) => (nowMs += ms) };
}

const lines = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join('');

const held = (buffer: LogBuffer): readonly string[] =>
  Array.from({ length: buffer.count }, (_, index) => buffer.at(index)!.plain);

test.each([1, 2, 3])('each byte of a flood is shown once or counted (%s)', async (seed) => {
  const chance = choicesOf(seed);
  const log = new Log();
  log.text = lines(1000);
  const { buffer, follower, pushed, pass } = follow(log);
  let left = 120;
  let written = 1000;
  log.beforePiece = () => {
    pass(chance.below(40));
    if (left-- <= 0) {
      log.isOver = true;
      return;
    }
    const count = chance.below(2) === 0 ? chance.below(30) : chance.below(20_000);
    log.text += lines(count, written);
    written += count;
  };
  await follower.run(new AbortController().signal);
  const { bytes, isExact } = buffer.skipped;
  expect(isExact).toBe(true);
  expect(follower.before! + pushed() + bytes).toBe(log.text.length);
  expect(bytes).toBeGreaterThan(0);
  expect(held(buffer).at(-1)).toBe(`line ${written - 1}`);
  expect(buffer.count).toBeLessThanOrEqual(5000);
});

test('without the sizes of files the count is a lower bound, and says so', async () => {
  const log = new Log({ knowsSizes: false, kept: 2 });
  log.text = lines(10);
  const { buffer, follower, pushed } = follow(log);
  let left = 100;
  const more = lines(4000);
  log.beforePiece = () => {
    if (left-- > 0) log.text += more;
    else log.isOver = true;
  };
  await follower.run(new AbortController().signal);
  expect(buffer.skipped.isExact).toBe(false);
  expect(pushed() + buffer.skipped.bytes).toBeLessThanOrEqual(log.text.length);
  expect(held(buffer).at(-1)).toBe('line 3999');
  expect(follower.before).toBeUndefined();
});

test('after a pause it goes on at the end, and counts what was printed meanwhile', async () => {
  const log = new Log();
  log.text = lines(10);
  log.isOver = true;
  const { buffer, follower, pushed } = follow(log);
  await follower.run(new AbortController().signal);
  log.text += lines(100_000, 10);
  await follower.run(new AbortController().signal);
  expect(pushed() + buffer.skipped.bytes).toBe(log.text.length);
  expect(held(buffer).at(-1)).toBe('line 100009');
});

test('a search of what is held finds each line once, also as lines come, grow and go', () => {
  const buffer = new LogBuffer();
  const search = new HeldSearch(buffer);
  const push = (text: string) => buffer.push(new TextEncoder().encode(text));
  push('one \u001b[31mERR\u001b[0mor\ntwo\nthree err');
  const texts = () =>
    search.find('error').map((number) => buffer.at(number - buffer.at(0)!.number)!.plain);
  expect(texts()).toEqual(['one ERRor']);
  push('or at its end\nfour\n');
  expect(texts()).toEqual(['one ERRor', 'three error at its end']);
  expect(search.find('ERR')).toHaveLength(1);
  expect(texts()).toEqual(['one ERRor', 'three error at its end']);
  push(lines(6000));
  push('another error\n');
  expect(texts()).toEqual(['another error']);
  // A line that is held in parts has its text across two of them.
  push(`${'x'.repeat(16 * 1024 - 3)}error${'x'.repeat(100)}\n`);
  expect(search.find('error')).toHaveLength(2);
});

test('a search of the whole log counts all lines and shows the last with their neighbours', async () => {
  const text = `${lines(3000)}tail without an end`;
  async function* bytes() {
    const all = new TextEncoder().encode(text);
    for (let at = 0; at < all.length; at += 1000) yield all.subarray(at, at + 1000);
  }
  const about = { nowMs: () => 0, pause: () => Promise.resolve(), progress: () => {} };
  const found = await searchWhole({ ...about, bytes: bytes(), text: 'line 29' });
  expect(found).toMatchObject({ count: 111, linesRead: 3001, bytesRead: text.length });
  expect(found.hits.at(-1)).toEqual({
    line: 3000,
    text: 'line 2999',
    before: ['line 2997', 'line 2998'],
    after: ['tail without an end'],
  });
  const last = await searchWhole({ ...about, bytes: bytes(), text: 'without' });
  expect(last.hits.map(({ line }) => line)).toEqual([3001]);
});

test('colours become classes, all other sequences go, and a match is marked across colours', () => {
  const text = 'a\u001b[1;31mbad\u001b[0m \u001b]0;title\u0007\u001b[2Jend\u001b[38;5;9m!';
  expect(styledParts(text)).toEqual([
    { text: 'a', look: '' },
    { text: 'bad', look: 'bold red' },
    { text: ' ', look: '' },
    { text: 'end', look: '' },
    { text: '!', look: '' },
  ]);
  const marked = shownParts('a\u001b[31mbc\u001b[0md', 'abcd', 'cd').filter(
    ({ isMatch }) => isMatch,
  );
  expect(marked.map((part) => [part.text, part.look])).toEqual([
    ['c', 'red'],
    ['d', ''],
  ]);
});

test('a typed command is split as a shell does', () => {
  expect(wordsOfCommand(`ls -l '/a folder' "b \\"c\\"" d\\ e ""`)).toEqual([
    'ls',
    '-l',
    '/a folder',
    'b "c"',
    'd e',
    '',
  ]);
  expect(wordsOfCommand('  ')).toEqual([]);
});
