import type { BlockShape, BodyShape } from '../hcl/expand-blocks.ts';
import {
  type CapabilityTable,
  hostVolumeCapabilities,
  namespaceCapabilities,
  nodePoolCapabilities,
} from './capabilities.ts';
import type { Access, RuleResource } from './rule.ts';

/** The blocks around a rule. */
export type RulePlace = 'top' | 'partition' | 'namespace';

/** A resource without a name: `acl = "read"`, and for some also `operator { policy = "read" }`. */
export interface ScalarForm {
  readonly resource: RuleResource;
  readonly policies: readonly Access[];
  readonly places: readonly RulePlace[];
  readonly written: 'attribute' | 'block' | 'either';
}

/** A resource with a name: `key "a" { policy = "read" }`. */
export interface NamedForm {
  readonly resource: RuleResource;
  readonly match: 'exact' | 'prefix' | 'glob';
  readonly policies: readonly Access[];
  readonly places: readonly RulePlace[];
  /** Whether the name may be omitted, to cover all names: `node { policy = "read" }`. */
  readonly nameOptional: boolean;
  readonly intentions: boolean;
  readonly capabilities: CapabilityTable | undefined;
}

const plain: readonly Access[] = ['deny', 'read', 'write'];
const outside: readonly RulePlace[] = ['top', 'partition'];
const everywhere: readonly RulePlace[] = ['top', 'partition', 'namespace'];

export const scalarForms: ReadonlyMap<string, ScalarForm> = new Map(
  (
    [
      { resource: 'acl', policies: plain, places: everywhere, written: 'attribute' },
      { resource: 'keyring', policies: plain, places: ['top'], written: 'attribute' },
      { resource: 'mesh', policies: plain, places: outside, written: 'attribute' },
      { resource: 'operator', policies: plain, places: ['top'], written: 'either' },
      { resource: 'peering', policies: plain, places: outside, written: 'attribute' },
      {
        resource: 'plugin',
        policies: ['deny', 'list', 'read'],
        places: outside,
        written: 'block',
      },
      { resource: 'quota', policies: plain, places: outside, written: 'block' },
    ] satisfies readonly ScalarForm[]
  ).map((form) => [form.resource, form] as const),
);

const named: readonly (Omit<NamedForm, 'match'> & { readonly match: 'exact' | 'glob' })[] = (
  [
    { resource: 'agent', places: outside, nameOptional: true },
    { resource: 'event', places: everywhere },
    { resource: 'identity', places: everywhere },
    { resource: 'key', places: everywhere, policies: ['deny', 'list', 'read', 'write'] },
    { resource: 'node', places: everywhere, nameOptional: true },
    { resource: 'query', places: everywhere },
    { resource: 'service', places: everywhere, intentions: true },
    { resource: 'session', places: everywhere },
    {
      resource: 'host_volume',
      places: outside,
      match: 'glob',
      capabilities: hostVolumeCapabilities,
    },
    { resource: 'node_pool', places: outside, match: 'glob', capabilities: nodePoolCapabilities },
    {
      resource: 'namespace',
      places: outside,
      match: 'glob',
      policies: ['deny', 'read', 'scale', 'write'],
      capabilities: namespaceCapabilities,
    },
  ] satisfies readonly (Partial<NamedForm> & Pick<NamedForm, 'resource' | 'places'>)[]
).map((form) => ({
  match: 'exact',
  policies: plain,
  nameOptional: false,
  intentions: false,
  capabilities: undefined,
  ...form,
}));

const hasPrefixForm = (form: Pick<NamedForm, 'resource' | 'match'>): boolean =>
  form.match === 'exact' || form.resource === 'namespace';

export const namedForms: ReadonlyMap<string, NamedForm> = new Map(
  named.flatMap((form): readonly (readonly [string, NamedForm])[] => [
    [form.resource, form],
    ...(hasPrefixForm(form)
      ? [[`${form.resource}_prefix`, { ...form, match: 'prefix', nameOptional: false }] as const]
      : []),
  ]),
);

/** Blocks that only limit the reach of the rules in them. */
export const partitionBlocks: ReadonlyMap<string, 'exact' | 'prefix'> = new Map([
  ['partition', 'exact'],
  ['partition_prefix', 'prefix'],
]);

/** The words that are allowed in a place. */
export const wordsIn = (place: RulePlace): readonly string[] => [
  ...[...scalarForms].filter(([, { places }]) => places.includes(place)).map(([word]) => word),
  ...[...namedForms].filter(([, { places }]) => places.includes(place)).map(([word]) => word),
  ...(place === 'top' ? partitionBlocks.keys() : []),
];

/** The shape of a place's blocks in JSON. */
export const shapeOf = (place: RulePlace): BodyShape => shapes[place];

const leaf: BodyShape = { blocks: new Map() };

const namespaceShape: BodyShape = {
  blocks: new Map<string, BlockShape>([
    ...namedShapes('namespace', leaf),
    ['variables', { labels: 0, body: { blocks: new Map([['path', { labels: 1, body: leaf }]]) } }],
  ]),
};

const partitionShape: BodyShape = {
  blocks: new Map([...scalarShapes(), ...namedShapes('partition', namespaceShape)]),
};

const shapes: Readonly<Record<RulePlace, BodyShape>> = {
  top: {
    blocks: new Map([
      ...scalarShapes(),
      ...namedShapes('top', namespaceShape),
      ...[...partitionBlocks.keys()].map(
        (word) => [word, { labels: 1, body: partitionShape }] as const,
      ),
    ]),
  },
  partition: partitionShape,
  namespace: namespaceShape,
};

function scalarShapes(): readonly (readonly [string, BlockShape])[] {
  return [...scalarForms]
    .filter(([, { written }]) => written !== 'attribute')
    .map(([word]) => [word, { labels: 0, body: leaf }] as const);
}

function namedShapes(
  place: RulePlace,
  inner: BodyShape,
): readonly (readonly [string, BlockShape])[] {
  return [...namedForms]
    .filter(([, { places }]) => places.includes(place))
    .map(([word, { resource }]) => {
      const body = resource === 'namespace' ? inner : leaf;
      return [word, { labels: 1, body }] as const;
    });
}
