import { describe, expect, test } from 'vitest';
import { complete } from '../../model/complete.ts';
import { type DeviceAttribute, NodeDeviceSchema } from '../../model/node/device.ts';
import { compileDeviceRule } from './device-values.ts';

const attributes: Record<string, Partial<DeviceAttribute>> = {
  memory: { Int: 4096, Unit: 'MiB' },
  bandwidth: { Float: 1.5, Unit: 'GB/s' },
  clock: { Int: 1800, Unit: 'MHz' },
  power: { Int: 250_000, Unit: 'mW' },
  cores: { Int: 4 },
  odd: { Int: 3, Unit: 'furlong' },
  driver: { String: '535.54.3' },
  tags: { String: 'ecc, mig' },
  level: { String: '10' },
  ecc: { Bool: true },
  nothing: {},
};
const device = complete(NodeDeviceSchema, {
  Vendor: 'acme',
  Type: 'gpu',
  Name: 'a100',
  Attributes: attributes,
  Instances: [
    { ID: 'i1', Healthy: true },
    { ID: 'i2', Healthy: true },
  ],
});
const holds = (LTarget: string, Operand: string, RTarget = '') =>
  compileDeviceRule({ LTarget, Operand, RTarget })(device, ['i1', 'i2']);
const attr = (name: string) => `\${device.attr.${name}}`;

describe('numbers with units', () => {
  test.each([
    ['memory', '=', '4 GiB', true],
    ['memory', '==', '4096MiB', true],
    ['memory', '>=', '3.5 GiB', true],
    ['memory', '>', '4 GiB', false],
    ['memory', '<', '4.3 GB', true],
    ['memory', '!=', '4 GiB', false],
    ['memory', '!=', '5 GiB', true],
    ['bandwidth', '>=', '1500 MB/s', true],
    ['bandwidth', '=', '1.5 GB/s', true],
    ['clock', '<=', '1.8 GHz', true],
    ['clock', '>', '1.9 GHz', false],
    ['power', 'is', '250 W', true],
    ['power', '<', '0.25 kW', false],
    ['cores', '>=', '4', true],
    ['cores', '<', '4.5', true],
    ['cores', '<', '-1', false],
    ['cores', '=', '4.0', true],
  ])('%s %s %s: %s', (name, operand, right, expected) => {
    expect(holds(attr(name), operand, right)).toBe(expected);
  });

  test.each([
    ['another base', 'memory', '4 GHz'],
    ['no unit', 'memory', '4096'],
    ['a unit on one side only', 'cores', '4 MiB'],
    ['a rate', 'memory', '4 GiB/s'],
    ['an unknown unit', 'odd', '3'],
    ['text', 'memory', 'much'],
    ['a flag', 'cores', 'true'],
  ])('%s cannot be compared: neither equal nor in an order', (_title, name, right) => {
    const results = ['=', '<', '<=', '>', '>='].map((operand) => holds(attr(name), operand, right));
    expect(results).toEqual([false, false, false, false, false]);
    expect(holds(attr(name), '!=', right)).toBe(true);
  });
});

describe('text, flags and missing values', () => {
  test.each([
    [attr('ecc'), '=', 'true', true],
    [attr('ecc'), '!=', 'false', true],
    [attr('ecc'), '>', 'false', false],
    [attr('level'), '=', '10', true],
    [attr('driver'), 'version', '>= 535.54, < 536', true],
    [attr('driver'), 'semver', '>= 536.0.0', false],
    [attr('driver'), 'regexp', '^535\\.', true],
    [attr('driver'), '<', 'v6', true],
    [attr('driver'), '<', '6', false],
    [attr('tags'), 'set_contains', 'mig', true],
    [attr('tags'), 'set_contains_all', 'mig,ecc', true],
    [attr('tags'), 'set_contains_any', 'none,ecc', true],
    [attr('cores'), 'regexp', '^4$', true],
    ['${device.vendor}', '=', 'acme', true],
    ['${device.type}', 'is', 'gpu', true],
    ['${ device.model }', 'not', 'a100', false],
    ['${device.ids}', 'set_contains', 'i2', true],
    [attr('memory'), '=', attr('memory'), true],
    [attr('memory'), 'is_set', '', true],
    [attr('none'), 'is_set', '', false],
    [attr('none'), 'is_not_set', '', true],
    [attr('nothing'), 'is_not_set', '', true],
    [attr('none'), '=', '1', false],
    [attr('none'), '!=', '1', true],
    [attr('none'), '<', '1', false],
    [attr('none'), '!=', attr('none too'), false],
    [attr('none'), '=', attr('none too'), false],
    ['${node.class}', 'is_set', '', false],
    ['${device.colour}', 'is_set', '', false],
    [attr('__proto__'), 'is_set', '', false],
    [attr('memory'), 'unheard of', '1', false],
  ])('%s %s %s: %s', (left, operand, right, expected) => {
    expect(holds(left, operand, right)).toBe(expected);
  });
});
