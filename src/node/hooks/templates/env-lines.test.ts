import { expect, test } from 'vitest';
import { parseEnvLines } from './env-lines.ts';

test.each([
  ['A=1', { A: '1' }],
  [' A = 1 \n\n# B=2\nC=3', { A: '1', C: '3' }],
  ['export A=1', { A: '1' }],
  ['A=one two # three', { A: 'one two' }],
  ['A=one#two', { A: 'one#two' }],
  ['A=#one', { A: '' }],
  ['A=', { A: '' }],
  ['A="one # \\"two\\"\\n\\$x \\\\" # three', { A: 'one # "two"\n$x \\' }],
  [`A='$x "\\n' `, { A: '$x "\\n' }],
  ['A=a=b', { A: 'a=b' }],
  ['A=1\nA=2', { A: '2' }],
  ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
])('%j', (text, variables) => expect(parseEnvLines(text)).toEqual(variables));

test.each([
  ['A=1\nsecret', 'line 2 does not have the form NAME=value'],
  ['1A=secret', 'line 1 does not have the form NAME=value'],
  ['A="secret', 'line 1 has no closing quote'],
  [`A='secret`, 'line 1 has no closing quote'],
  ['A="a" secret', 'line 1 goes on behind the closing quote'],
])('%j is refused, without its content', (text, told) => {
  expect(() => parseEnvLines(text)).toThrow(told);
});
