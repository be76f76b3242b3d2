import { limits } from '../limits.ts';
import { About, type Model, Text, Type } from '../schema.ts';
import type { ConfigKindName, EntryKey } from './config-entry.ts';

/**
 * The fields by which an entry names another entry or a section of it.
 * Source: docs/behaviour/gateways.md#references.
 */
export const resourceReferenceFields = {
  Kind: About('Kind of the entry.', Text()),
  Name: About('Its name.', Text({ maxLength: limits.names.lengthMax }), { rules: 'required' }),
  SectionName: About(
    'The listener of the gateway; empty: all listeners.',
    Text({ maxLength: limits.names.lengthMax }),
  ),
  Namespace: About('Namespace of the entry.', Text(), { absent: 'that of the entry' }),
  Partition: About('Partition of the entry.', Text(), { absent: 'that of the entry' }),
};

export const ResourceReferenceSchema = Type.Object(resourceReferenceFields, {
  title: 'ResourceReference',
});
export type ResourceReference = Model<typeof ResourceReferenceSchema>;

export const keyOfReference = (
  reference: Pick<ResourceReference, 'Kind' | 'Name' | 'Namespace' | 'Partition'>,
): EntryKey => ({
  partition: reference.Partition,
  namespace: reference.Namespace,
  kind: reference.Kind as ConfigKindName,
  name: reference.Name,
});

export const referenceTo = (key: EntryKey, sectionName = ''): ResourceReference => ({
  Kind: key.kind,
  Name: key.name,
  SectionName: sectionName,
  Namespace: key.namespace,
  Partition: key.partition,
});

/** A text that is equal for references to the same thing, and by which they are sorted. */
export const textOfReference = (reference: ResourceReference): string => {
  const { Kind, Name, SectionName, Namespace, Partition } = reference;
  return `${Partition}/${Namespace}/${Kind}/${Name}/${SectionName}`;
};

export const textOfKey = ({ partition, namespace, kind, name }: EntryKey): string =>
  `${partition}/${namespace}/${kind}/${name}`;
