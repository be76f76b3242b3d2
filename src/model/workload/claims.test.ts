import { expect, test } from 'vitest';
import { complete } from '../complete.ts';
import { IdentitySchema } from '../task/identity.ts';
import { lifetimeSeconds } from './claims.ts';

const [hour, day] = [3600, 86_400];

test.each<[string, string, object | undefined, number]>([
  ['the default one, of which nothing is said', 'default', undefined, hour],
  ['the default one in a file', 'default', { File: true }, hour],
  ['the default one in the environment', 'default', { Env: true }, 30 * day],
  ['the default one, whatever time is written', 'default', { TTL: 60e9 }, hour],
  ['one without a time', 'cloud', { File: true }, hour],
  ['one in the environment', 'cloud', { Env: true }, 30 * day],
  ['one with a time', 'cloud', { TTL: 7200e9, Env: true }, 2 * hour],
  ['a time that is too short', 'cloud', { TTL: 1e9 }, 30],
  ['a time that is too long', 'cloud', { TTL: 90 * day * 1e9 }, 30 * day],
])('%s', (_, name, given, seconds) => {
  const identity = given && complete(IdentitySchema, given);
  expect(lifetimeSeconds({ name, identity })).toBe(seconds);
});
