import { assert } from '../base/assert.ts';

/**
 * Freezes a row deeply. Asserts that it is plain data that JSON keeps unchanged, so that a restart reads
 * back the same row.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'number') assert(Number.isFinite(value), `a row holds ${value}`);
  else if (typeof value === 'object' && value !== null) freezeObject(value);
  else assert(plain.has(typeof value) || value === null, `a row holds a ${typeof value}`);
  return value;
}

const plain = new Set(['string', 'boolean', 'undefined']);

function freezeObject(value: object): void {
  if (Object.isFrozen(value)) return;
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null || Array.isArray(value);
  assert(isPlain, 'a row holds an object that is not plain data');
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}
