import { expect, test } from 'vitest';
import type { ExchangeChange } from './imported-rows.ts';
import { Told } from './told.ts';

const web = { namespace: 'default', name: 'web' };
const change = (parts: object): ExchangeChange =>
  ({
    type: 'change',
    id: 1,
    services: [],
    instances: [],
    removedServices: [],
    removedInstances: [],
    ...parts,
  }) as ExchangeChange;
const services = [{ ...web, protocol: 'tcp' }];
const row = (ID: string) => ({ Namespace: 'default', ServiceName: 'web', ID }) as never;

test('removed services and instances are not kept, however often they are told again', () => {
  const told = new Told();
  told.note(change({ services }));
  for (let round = 0; round < 100; round++) {
    const instances = [0, 1, 2].map((at) => ({ ...web, id: `${round}-${at}` }));
    told.note(change({ instances }));
    told.note(change({ removedInstances: instances }));
  }
  expect(told.size).toBe(0);
  for (let round = 0; round < 100; round++) {
    told.note(change({ services, instances: [{ ...web, id: `${round}` }] }));
    told.note(change({ removedServices: [web] }));
  }
  expect(told.size).toBe(0);
  expect(told.hasService(web)).toBe(false);
});

test('told services stay told, and so do services that came back', () => {
  const told = new Told();
  told.note(change({ services, instances: [{ ...web, id: 'a' }] }));
  told.note(change({ removedInstances: [{ ...web, id: 'a' }] }));
  expect(told.hasInstance(row('a'))).toBe(false);
  told.note(change({ instances: [{ ...web, id: 'a' }], services }));
  expect([told.hasService(web), told.hasInstance(row('a')), told.size]).toEqual([true, true, 1]);
  expect(told.hasInstance(row('b'))).toBe(false);
});
