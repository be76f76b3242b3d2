/**
 * A chain as it is shown, in the published form: durations are text ("5s") unless their schema wants the
 * number, and unset fields are left out, except those that every chain, node and target has.
 */
import { formatDuration } from '../../base/duration.ts';
import { isSame } from '../same.ts';
import type { Type } from '../schema.ts';
import { absentValue, isShownAsNumber, shapeOf, withoutNull } from '../schema-shape.ts';
import { type DiscoveryChain, DiscoveryChainSchema } from './discovery-chain.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Fields that are shown even if they are empty: readers of the form rely on them. */
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

type Presenter = (value: unknown) => unknown;
const itself: Presenter = (value) => value;

export const presentChain = (chain: DiscoveryChain): Shown =>
  presenterOf(DiscoveryChainSchema, true)(chain) as Shown;

/**
 * Compiled once for each schema. A part of an entry (`isOfChain` false) shows only the fields that were
 * written.
 */
const presenters = {
  ofChain: new WeakMap<Type.TSchema, Presenter>(),
  ofEntry: new WeakMap<Type.TSchema, Presenter>(),
};

function presenterOf(schema: Type.TSchema, isOfChain: boolean): Presenter {
  const known = isOfChain ? presenters.ofChain : presenters.ofEntry;
  let presenter = known.get(schema);
  if (presenter === undefined) {
    presenter = compile(withoutNull(schema).schema, isOfChain);
    known.set(schema, presenter);
  }
  return presenter;
}

function compile(schema: Type.TSchema, isOfChain: boolean): Presenter {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'number':
      return shape.duration && !isShownAsNumber(schema)
        ? (value) => formatDuration(value as number)
        : itself;
    case 'list': {
      const item = presenterOf(shape.item, isOfChain);
      return (value) => (value as readonly unknown[]).map(item);
    }
    case 'map': {
      const inner = presenterOf(shape.value, isOfChain);
      if (inner === itself) return itself;
      return (value) => {
        const entries = value instanceof Map ? value : Object.entries(value as Shown);
        return Object.fromEntries([...entries].map(([name, one]) => [name, inner(one)]));
      };
    }
    case 'record':
      return recordPresenter(shape.properties, isOfChain);
    default:
      return itself;
  }
}

function recordPresenter(
  properties: Readonly<Record<string, Type.TSchema>>,
  isOfChain: boolean,
): Presenter {
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    absent: absentValue(property),
    isAlways: isOfChain && always.has(name),
    present: presenterOf(property, isOfChain && name !== 'Definition'),
  }));
  return (value) => {
    const shown: Record<string, unknown> = {};
    for (const { name, absent, isAlways, present } of fields) {
      const one = (value as Shown)[name];
      if (one === null || one === undefined) continue;
      if (isAlways || !isSame(one, absent)) shown[name] = present(one);
    }
    return shown;
  };
}
