import { createHash } from 'node:crypto';
import { FunctionFault } from '../../functions/fault.ts';
import { define, type Functions, text } from './define.ts';

/** The hash of the text's UTF-8, in lower-case hexadecimal. */
const hashed = (algorithm: string) =>
  define([text('string')], ([value]) => createHash(algorithm).update(value, 'utf8').digest('hex'));

export const hashFunctions: Functions = {
  md5: hashed('md5'),
  sha1: hashed('sha1'),
  sha256: hashed('sha256'),
  sha512: hashed('sha512'),
  uuidv5: define([text('namespace'), text('name')], ([namespace, name]) => uuid5(namespace, name)),
};

/** RFC 9562 Appendix C. */
const namespaces: ReadonlyMap<string, string> = new Map([
  ['dns', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  ['url', '6ba7b811-9dad-11d1-80b4-00c04fd430c8'],
  ['oid', '6ba7b812-9dad-11d1-80b4-00c04fd430c8'],
  ['x500', '6ba7b814-9dad-11d1-80b4-00c04fd430c8'],
]);
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The UUID of a name within a namespace (RFC 9562 §5.5). */
function uuid5(namespace: string, name: string): string {
  const base = namespaces.get(namespace) ?? namespace;
  if (!uuidForm.test(base)) {
    const known = [...namespaces.keys()].join(', ');
    throw new FunctionFault(`a namespace is a UUID or one of ${known}`, 0);
  }
  const bytes = createHash('sha1')
    .update(Buffer.from(base.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
    .subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [0, 8, 12, 16, 20]
    .map((start, index, starts) => hex.slice(start, starts[index + 1]))
    .join('-');
}
