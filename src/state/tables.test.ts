import { expect, test } from 'vitest';
import { complete } from '../model/complete.ts';
import { NodeSchema } from '../model/node/node.ts';
import { nodes } from './tables.ts';

test('a node of before drains and devices were kept has none', () => {
  const { DrainStrategy: _, LastDrain: __, ...old } = complete(NodeSchema, { ID: 'a' });
  const { Devices: ___, ...NodeResources } = old.NodeResources;
  const upcast = nodes.upcast?.({ ...old, NodeResources }, 1);
  expect(upcast).toEqual(complete(NodeSchema, { ID: 'a' }));
});
