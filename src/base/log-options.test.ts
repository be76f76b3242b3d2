import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logOptions } from './log-options.ts';

const secret = '5ec7e7aa-0000-4000-8000-000000000001';

/** The fields of a line of the log. */
function logged(fields: object): Record<string, unknown> {
  let text = '';
  const into = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  pino(logOptions('info'), into).error(fields, 'it went wrong');
  return JSON.parse(text);
}

test('an error is logged with its message, its stack and its cause', () => {
  const cause = Object.assign(new TypeError('no such thing'), { code: 'ENOENT' });
  expect(logged({ error: new Error('could not', { cause }) })).toMatchObject({
    msg: 'it went wrong',
    error: {
      type: 'Error',
      message: 'could not',
      stack: expect.stringContaining('log-options.test.ts'),
      cause: { type: 'TypeError', message: 'no such thing', code: 'ENOENT' },
    },
  });
});

test.each<[string, object]>([
  ['a field', { token: secret }],
  ['a header', { headers: { 'x-registry-token': secret, authorization: `Bearer ${secret}` } }],
  ['a header of a request', { request: { headers: { 'x-scheduler-token': secret } } }],
  ['a body', { body: { SecretID: secret } }],
  ['a field of an error', { error: Object.assign(new Error('x'), { request: { a: secret } }) }],
])('a secret in %s is not told', (_name, fields) => {
  expect(JSON.stringify(logged(fields))).not.toContain(secret);
});
