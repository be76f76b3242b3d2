import { expect, test } from 'vitest';
import { complete } from '../complete.ts';
import { IdentitySchema } from '../task/identity.ts';
import { lifetimeSeconds } from './claims.ts';

const [hour, day] = [3600, 86_400];

test.each<[string, string, object | undefined, number]>([
  ['the default identity without a block', 'default', undefined, hour],
  ['the default identity in a file', 'default', { File: true }, hour],
  ['the default identity in the environment', 'default', { Env: true }, 30 * day],
  ['the default identity with any TTL', 'default', { TTL: 60e9 }, hour],
  ['an identity without a TTL', 'cloud', { File: true }, hour],
  ['an identity in the environment', 'cloud', { Env: true }, 30 * day],
  ['an identity with a TTL', 'cloud', { TTL: 7200e9, Env: true }, 2 * hour],
  ['a TTL that is too short', 'cloud', { TTL: 1e9 }, 30],
  ['a TTL that is too long', 'cloud', { TTL: 90 * day * 1e9 }, 30 * day],
])('%s', (_, name, given, seconds) => {
  const identity = given && complete(IdentitySchema, given);
  expect(lifetimeSeconds({ name, identity })).toBe(seconds);
});
