import { expect, test } from 'vitest';
import { connectionError } from './errors.ts';

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

test.each<[string, unknown, string]>([
  ['refused', coded('ECONNREFUSED'), 'Nothing listens at http://a:1. Is the agent running?'],
  [
    'refused at several addresses',
    new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]),
    'Nothing listens at http://a:1.',
  ],
  [
    'wrapped',
    new TypeError('fetch failed', { cause: coded('ENOTFOUND') }),
    'The host name in http://a:1 is not known.',
  ],
  ['reset', coded('ECONNRESET'), 'http://a:1 closed the connection before it answered.'],
  ['silent', coded('UND_ERR_HEADERS_TIMEOUT'), 'did not answer in time'],
  [
    'untrusted',
    coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'),
    'The certificate of http://a:1 is not trusted (self-signed certificate). Name the file of its certificate authority in ROSTER_CACERT',
  ],
  ['without TLS', coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'Try the address with http://'],
  ['no HTTP', coded('HPE_INVALID_CONSTANT'), 'does not answer in HTTP'],
  ['unknown', coded('EWEIRD', 'it is weird'), 'could not be reached: it is weird (EWEIRD).'],
  ['without a code', new Error('just so'), 'could not be reached: just so.'],
  ['no error at all', 'what', 'could not be reached: what.'],
])('%s', (_, cause, sentence) => {
  expect(connectionError('http://a:1', cause).message).toContain(sentence);
});
