import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineReader, longestLineBytes } from './protocol.ts';

test('messages are complete however their bytes arrive', () => {
  const messages = fc.array(fc.record({ text: fc.string({ unit: 'grapheme' }) }), { maxLength: 8 });
  fc.assert(
    fc.property(messages, fc.integer({ min: 1, max: 7 }), (sent, size) => {
      const bytes = Buffer.from(sent.map((message) => `${JSON.stringify(message)}\n`).join(''));
      const received: unknown[] = [];
      const read = lineReader(
        (message) => received.push(message),
        (reason) => expect.fail(reason),
      );
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
      expect(received).toEqual(sent);
    }),
  );
});

test.each([
  ['no JSON', Buffer.from('hello\n{"a":1}\n'), 'a line is not a JSON object'],
  ['no object', Buffer.from('3\n{"a":1}\n'), 'a line is not a JSON object'],
  ['endless', Buffer.alloc(longestLineBytes + 1, 'x'), 'a line is too long'],
])('a line that is %s is refused once, and nothing is read after it', (_name, bytes, reason) => {
  const received: unknown[] = [];
  const refused: string[] = [];
  const read = lineReader(
    (message) => received.push(message),
    (why) => refused.push(why),
  );
  read(bytes);
  read(Buffer.from('{"b":2}\n'));
  expect({ received, refused }).toEqual({ received: [], refused: [reason] });
});
