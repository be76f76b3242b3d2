/**
 * No field can name a provider, as there are no entries of the kind jwt-provider.
 * Source: docs/behaviour/gateways.md#token-requirements.
 */
import { describe, expect, test } from 'vitest';
import type { Type } from '../schema.ts';
import { shapeOf, withoutNull } from '../schema-shape.ts';
import { configKinds } from './config-entry.ts';
import { messagesOf, noneExists } from './entry-table.test-helper.ts';
import { kinds } from './kinds.ts';

type Body = Readonly<Record<string, unknown>>;

const listener = (fields: object): Body => ({
  Kind: 'api-gateway',
  Name: 'public',
  Listeners: [{ Name: 'web', Port: 80, Protocol: 'http', ...fields }],
});
const rule = (fields: object): Body => ({ Kind: 'http-route', Name: 'shop', Rules: [fields] });
const intentions = (fields: object): Body => ({
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [{ Name: 'api', Action: 'allow' }],
  ...fields,
});

/** Every place where a provider can be named, with an entry that names one there. */
const places: Readonly<Record<string, (JWT: object) => Body>> = {
  'api-gateway Listeners[0].Default.JWT': (JWT) => listener({ Default: { JWT } }),
  'api-gateway Listeners[0].Override.JWT': (JWT) => listener({ Override: { JWT } }),
  'http-route Rules[0].Filters.JWT': (JWT) => rule({ Filters: { JWT } }),
  'http-route Rules[0].Services[0].Filters.JWT': (JWT) =>
    rule({ Services: [{ Name: 'shop', Filters: { JWT } }] }),
  'service-intentions Sources[0].Permissions[0].JWT': (JWT) =>
    intentions({ Sources: [{ Name: 'api', Permissions: [{ Action: 'allow', JWT }] }] }),
  'service-intentions JWT': (JWT) => intentions({ JWT }),
};

function placesIn(schema: Type.TSchema, path: string): string[] {
  const shape = shapeOf(withoutNull(schema).schema);
  if (shape.kind === 'list') return placesIn(shape.item, `${path}[0]`);
  if (shape.kind === 'map') return placesIn(shape.value, `${path}.x`);
  if (shape.kind !== 'record') return [];
  return Object.entries(shape.properties).flatMap(([name, property]) =>
    name === 'Providers' ? [path] : placesIn(property, path === '' ? name : `${path}.${name}`),
  );
}

test('the table has every place', () => {
  expect(configKinds).not.toContain('jwt-provider');
  const found = kinds.flatMap(({ kind, schema }) =>
    placesIn(schema, '').map((path) => `${kind} ${path}`),
  );
  expect(Object.keys(places).sort()).toEqual(found.sort());
});

describe.each(Object.entries(places))('%s', (place, bodyOf) => {
  const at = `${place.slice(place.indexOf(' ') + 1)}.Providers`;

  test('names a provider that does not exist', () => {
    const claims = { VerifyClaims: [{ Path: ['aud'], Value: 'shop' }] };
    const body = bodyOf({ Providers: [{ Name: 'okta', ...claims }, {}, { Name: 'okta' }] });
    expect(messagesOf(body)).toEqual([
      `${at}[0].Name names the jwt-provider "okta", and ${noneExists}`,
      `${at}[1].Name is required, and ${noneExists}`,
      `${at}[2].Name names the jwt-provider "okta", and ${noneExists}`,
    ]);
  });

  test('needs a provider', () => {
    expect(messagesOf(bodyOf({}))).toEqual([`${at} must name a jwt-provider, and ${noneExists}`]);
  });
});
