import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { complete } from '../model/complete.ts';
import { NodeRegistrationSchema } from '../model/node/node.ts';
import { eventually } from './eventually.test-helper.ts';
import { identityIn } from './identity.ts';
import { Registration } from './registration.ts';

let dataDirectory: string;

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-registration-'));
});

afterEach(() => rm(dataDirectory, { recursive: true }));

const node = (Name: string) => complete(NodeRegistrationSchema, { ID: 'n1', Name });

test('an older description never overtakes a newer one', async () => {
  const [asked, taken]: [string[], string[]] = [[], []];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const world = new SimulatedWorld(7);
  const registration = new Registration({
    world,
    identities: identityIn(dataDirectory, world),
    introduction: undefined,
    api: {
      async register({ Node: { Name } }) {
        await gates[asked.push(Name) - 1]?.promise;
        taken.push(Name);
        return { HeartbeatTTL: 10e9, Index: 1 };
      },
    },
    contact: { during: (ask) => ask() },
    signal: new AbortController().signal,
    onRegistered: () => {},
    onNotice: (sentence) => expect.fail(sentence),
  });
  await registration.readIdentity();
  registration.describe(node('old'));
  const before = registration.done();
  await eventually(() => expect(asked).toEqual(['old']));
  registration.describe(node('new'));
  const now = registration.done();
  // The request under way arrives late.
  gates[1]!.resolve();
  gates[0]!.resolve();
  await Promise.all([before, now]);
  expect(taken).toEqual(['old', 'new']);
});

test('changes of the description are made one after another', async () => {
  const taken: string[] = [];
  const world = new SimulatedWorld(7);
  const registration = new Registration({
    world,
    identities: identityIn(dataDirectory, world),
    introduction: undefined,
    api: {
      async register({ Node: { Name, NodeClass } }) {
        taken.push(`${Name} ${NodeClass}`);
        return { HeartbeatTTL: 10e9, Index: 1 };
      },
    },
    contact: { during: (ask) => ask() },
    signal: new AbortController().signal,
    onRegistered: () => {},
    onNotice: (sentence) => expect.fail(sentence),
  });
  await registration.readIdentity();
  registration.describe(node('a'));
  await registration.done();
  const gate = Promise.withResolvers<void>();
  const named = registration.change(async (told) => {
    await gate.promise;
    return { ...told, Name: 'b' };
  });
  const classed = registration.change(async (told) => ({ ...told, NodeClass: 'large' }));
  gate.resolve();
  expect(await Promise.all([named, classed])).toEqual([true, true]);
  await registration.done();
  expect(taken.at(-1)).toBe('b large');
  expect(await registration.change(async (told) => told)).toBe(false);
});
