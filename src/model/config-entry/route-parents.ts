import { below, type Report } from '../path.ts';
import { About, Choice, FullList, type Model, Type } from '../schema.ts';
import { keyOfReference, resourceReferenceFields, textOfReference } from './resource-reference.ts';

const RouteParentSchema = Type.Object(
  {
    ...resourceReferenceFields,
    Kind: About('Kind of the entry.', Choice(['api-gateway'], 'api-gateway')),
  },
  { title: 'RouteParent' },
);
export type RouteParent = Model<typeof RouteParentSchema>;

export const RouteParents = () =>
  About('The gateways of the route, or listeners of gateways.', FullList(RouteParentSchema));

export function checkParents(parents: readonly RouteParent[], report: Report): void {
  const seen = new Set<string>();
  parents.forEach((parent, index) => {
    const at = below(null, 'Parents', index);
    const text = textOfReference(parent);
    if (parent.Name === '') report(below(at, 'Name'), 'is required');
    else if (seen.has(text)) report(at, 'is listed already: the same gateway and section');
    seen.add(text);
  });
}

export const keysOfParents = (parents: readonly RouteParent[]) => parents.map(keyOfReference);
