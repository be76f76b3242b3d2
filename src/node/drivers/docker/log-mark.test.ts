import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader, readStamp } from './log-frames.ts';
import { type LogMark, noMark, StreamReading } from './log-mark.ts';

interface Entry {
  readonly key: string;
  readonly text: string;
}

const second = (number: number) => `00${1_700_000_000 + number}.000000000`;
/** A container's output: several entries may have the same time. */
const history = fc.array(
  fc.record({
    gap: fc.nat(2),
    text: fc.string({ minLength: 1, maxLength: 5, unit: 'binary-ascii' }),
  }),
  { minLength: 1, maxLength: 12 },
);

function entriesOf(printed: readonly { readonly gap: number; readonly text: string }[]): Entry[] {
  let at = 0;
  return printed.map(({ gap, text }) => {
    at += gap;
    return { key: second(at), text };
  });
}

/** Takes some of the entries, from the first with the mark's time on. */
function readOnce(reading: StreamReading, entries: readonly Entry[], most: number): string {
  reading.restart();
  let text = '';
  for (const entry of entries.slice(0, most)) {
    text += reading.take(entry.key, Buffer.from(entry.text)).data.toString();
  }
  return text;
}

test('each byte is taken once and in order, whatever is read again', () => {
  fc.assert(
    fc.property(history, fc.array(fc.nat(12), { maxLength: 5 }), (printed, ends) => {
      const entries = entriesOf(printed);
      const reading = new StreamReading(noMark);
      const taken = [...ends, entries.length].map((end) => readOnce(reading, entries, end));
      expect(taken.join('')).toBe(entries.map(({ text }) => text).join(''));
    }),
  );
});

test('an agent that knows a mark and the bytes written beyond it goes on exactly there', () => {
  fc.assert(
    fc.property(history, fc.nat(12), fc.nat(60), (printed, noted, beyond) => {
      const entries = entriesOf(printed);
      const whole = entries.map(({ text }) => text).join('');
      const before = new StreamReading(noMark);
      const written = readOnce(before, entries, noted).length;
      const known = Math.min(beyond, whole.length - written);
      const after = new StreamReading(before.mark, known);
      expect(readOnce(after, entries, entries.length)).toBe(whole.slice(written + known));
    }),
  );
});

test('output that the runtime has lost is a gap, and the rest is taken', () => {
  const mark: LogMark = { key: second(1), bytes: 3 };
  const reading = new StreamReading(mark, 2);
  expect(reading.take(second(5), Buffer.from('later'))).toEqual({
    data: Buffer.from('later'),
    isGap: true,
  });
  expect(reading.take(second(6), Buffer.from('on'))).toMatchObject({ isGap: false });
  expect(reading.mark).toEqual({ key: second(6), bytes: 2 });
});

test('output without times is identified by its length alone', () => {
  const reading = new StreamReading({ key: '', bytes: 4 }, 1);
  const taken = ['ab', 'cde', 'fg'].map((part) => reading.take('', Buffer.from(part)).data);
  expect(Buffer.concat(taken).toString()).toBe('fg');
  expect(reading.mark).toEqual({ key: '', bytes: 7 });
});

test.each([
  ['2026-11-22T06:41:36Z out\n', '001795329696.000000000', 'out\n'],
  ['2026-11-22T06:41:36.1Z x', '001795329696.100000000', 'x'],
  ['2026-11-22T08:41:36.120000001+02:00  y', '001795329696.120000001', ' y'],
  ['2026-11-22T06:41:36Z ', '001795329696.000000000', ''],
  ['no time', '', 'no time'],
])('%j was printed at %s', (entry, key, text) => {
  expect(readStamp(Buffer.from(entry))).toEqual({ key, data: Buffer.from(text) });
});

const frame = (kind: number, text: string): Buffer => {
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(text.length, 4);
  return Buffer.concat([header, Buffer.from(text)]);
};

test('frames are complete however their bytes arrive', () => {
  const bytes = Buffer.concat([frame(1, 'out'), frame(2, 'oops'), frame(1, ''), frame(1, 'x')]);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      const places = [0, ...cuts.sort((left, right) => left - right), bytes.length];
      const reader = new FrameReader();
      const seen = places.flatMap((place, index) => [
        ...reader.push(bytes.subarray(place, places[index + 1] ?? bytes.length)),
      ]);
      expect(seen.map(({ stream, data }) => `${stream} ${data}`)).toEqual([
        'stdout out',
        'stderr oops',
        'stdout x',
      ]);
    }),
  );
});

test('bytes of another form are refused', () => {
  expect(() => [...new FrameReader().push(Buffer.from('HTTP/1.1 200'))]).toThrow('no log stream');
});
