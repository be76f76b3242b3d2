/**
 * A chain as it is shown, in the form that the field publishes: durations as text ("5s"), and without
 * what is not set. What every chain, node and target has is always there.
 */
import { formatDuration } from '../../base/duration.ts';
import { isSame } from '../same.ts';
import type { Type } from '../schema.ts';
import { absentValue, shapeOf, withoutNull } from '../schema-shape.ts';
import { type DiscoveryChain, DiscoveryChainSchema } from './discovery-chain.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Fields that are there even where they are empty: whoever reads the form counts on them. */
const always: ReadonlySet<string> = new Set([
  'ServiceName',
  'Namespace',
  'Partition',
  'Datacenter',
  'Protocol',
  'StartNode',
  'Nodes',
  'Targets',
  'Type',
  'Name',
  'Weight',
  'NextNode',
  'Target',
  'ID',
  'Service',
  'MeshGateway',
  'Subset',
  'SNI',
]);

export const presentChain = (chain: DiscoveryChain): Shown =>
  brief(DiscoveryChainSchema, chain, true) as Shown;

/** `isOfChain`: not a part of an entry, which has only what was written in it. */
function brief(outer: Type.TSchema, value: unknown, isOfChain: boolean): unknown {
  const { schema } = withoutNull(outer);
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'number':
      return shape.duration ? formatDuration(value as number) : value;
    case 'list':
      return (value as readonly unknown[]).map((item) => brief(shape.item, item, isOfChain));
    case 'map':
      return Object.fromEntries(
        Object.entries(value as Shown).map(([name, one]) => [
          name,
          brief(shape.value, one, isOfChain),
        ]),
      );
    case 'record':
      return briefRecord(shape.properties, value as Shown, isOfChain);
    default:
      return value;
  }
}

function briefRecord(
  properties: Readonly<Record<string, Type.TSchema>>,
  value: Shown,
  isOfChain: boolean,
): Shown {
  const shown: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const one = value[name];
    const isAbsent = one === null || one === undefined || isSame(one, absentValue(property));
    const isShown = !isAbsent || (isOfChain && always.has(name) && one !== null);
    if (isShown) shown[name] = brief(property, one, isOfChain && name !== 'Definition');
  }
  return shown;
}
