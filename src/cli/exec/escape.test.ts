import { expect, test } from 'vitest';
import { EscapeFilter } from './escape.ts';

test.each([
  ['typed characters are sent', '~', ['ls -l ~\r', 'x'], 'ls -l ~\rx', false],
  ['at the beginning', '~', ['~.'], '', true],
  ['after a line', '~', ['ls\r~.'], 'ls\r', true],
  ['in two pieces', '~', ['ls\r~', '.'], 'ls\r', true],
  ['within a line it means nothing', '~', ['ls ~.'], 'ls ~.', false],
  ['twice it is sent once', '~', ['~~.'], '~.', false],
  ['before another character it is sent', '~', ['~/bin\r'], '~/bin\r', false],
  ['characters before the escape sequence are sent', '~', ['a\n~.b'], 'a\n', true],
  ['another character', '^', ['~.\r^.'], '~.\r', true],
  ['none', '', ['~.'], '~.', false],
])('%s', (_name, character, typed, sent, leaves) => {
  const filter = new EscapeFilter(character);
  let told = '';
  let left = false;
  for (const piece of typed) {
    const { data, leaves: now } = filter.filter(Buffer.from(piece));
    told += Buffer.from(data).toString();
    left ||= now;
  }
  expect([told, left]).toEqual([sent, leaves]);
});
