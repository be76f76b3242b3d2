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

/** Starts and ends take long on a slow machine, which also does less in five minutes. */
const [minutes, timeout] = [15, 1_800_000];

test.each(drawn(chaosMistakes))(
  'it finds the mistake: $name',
  { ...needing(etcdServer), timeout },
  async (mistake) => {
    const { kinds } = mistake;
    const run = { minutes, seed: 1, kinds, mistake, violationsMost: 1, progress() {} };
    expect((await chaos(run)).violations).not.toEqual([]);
  },
);
