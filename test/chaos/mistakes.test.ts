import { expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { drawn } from '../support/draw.ts';
import { etcdServer } from '../support/etcd.ts';
import { chaos } from './chaos.ts';
import { faultKinds } from './faults.ts';
import { chaosMistakes } from './mistakes.ts';

test.each(chaosMistakes)('$name: its kinds of faults exist', ({ kinds }) => {
  expect(kinds.filter((kind) => faultKinds[kind] === undefined)).toEqual([]);
});

/** Starts and ends take long on a slow machine. */
const timeout = 1_800_000;

test.each(drawn(chaosMistakes))(
  'five minutes find the mistake: $name',
  { ...needing(etcdServer), timeout },
  async (mistake) => {
    const { kinds } = mistake;
    const run = { minutes: 5, seed: 1, kinds, mistake, violationsMost: 1, progress() {} };
    expect((await chaos(run)).violations).not.toEqual([]);
  },
);
