/**
 * Rendezvous hashing: each instance gets a score from the key and its id, and the highest scores win. So a
 * key finds the same instances as long as they exist, keys spread evenly, and a new or removed instance moves
 * only its own keys. Source: docs/guides/services.md#over-http.
 */
import type { ServiceRegistration } from './service-registration.ts';

export interface Choice {
  readonly count: number;
  readonly key: string;
}

/** `2|client-7` means two instances for that key; `undefined` if the text has another form. */
export function parseChoice(text: string, countMax: number): Choice | undefined {
  const bar = text.indexOf('|');
  const [digits, key] = [text.slice(0, bar), text.slice(bar + 1)];
  if (bar === -1 || key === '' || !/^[1-9]\d{0,8}$/.test(digits)) return undefined;
  const count = Number(digits);
  return count > countMax ? undefined : { count, key };
}

/** The `count` best instances, the best first. */
export function chooseInstances<R extends Pick<ServiceRegistration, 'ID'>>(
  instances: readonly R[],
  { count, key }: Choice,
): R[] {
  const seed = hash(key, 0x811c9dc5);
  return instances
    .map((instance) => ({ instance, score: mixed(hash(instance.ID, seed)) }))
    .sort((left, right) => right.score - left.score || order(left.instance.ID, right.instance.ID))
    .slice(0, count)
    .map(({ instance }) => instance);
}

const order = (left: string, right: string): number => (left < right ? -1 : 1);

/** FNV-1a over UTF-16 units, with a seed. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}

/** Every bit of the hash affects every bit of the score. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
