import { About, FullList, type Model, stamps, Text, Type } from '../schema.ts';
import { type ConfigEntry, entryFields } from './config-entry.ts';
import type { ConfigKind } from './kind.ts';
import { ResourceReferenceSchema } from './resource-reference.ts';

export const BoundApiGatewaySchema = Type.Object({
  ...entryFields,
  Listeners: About(
    'The listeners of the gateway, in its order.',
    FullList(
      Type.Object(
        {
          Name: About('Name of the listener.', Text()),
          Routes: About('The routes that are bound to it.', FullList(ResourceReferenceSchema)),
          Certificates: About('Its existing certificates.', FullList(ResourceReferenceSchema)),
        },
        { title: 'BoundListener' },
      ),
    ),
  ),
  Services: About(
    'The services that the routes of the gateway lead to.',
    FullList(
      Type.Object(
        {
          Name: About('Name of the service.', Text()),
          Namespace: About('Namespace of the service.', Text()),
          Partition: About('Partition of the service.', Text()),
          Routes: About('The routes that lead to the service.', FullList(ResourceReferenceSchema)),
        },
        { title: 'BoundService' },
      ),
    ),
  ),
  ...stamps,
});
export type BoundApiGateway = ConfigEntry & Model<typeof BoundApiGatewaySchema>;

/** Source: docs/behaviour/gateways.md#api-gateways. `gateways.ts` writes the entry. */
export const boundApiGateway: ConfigKind<BoundApiGateway> = {
  kind: 'bound-api-gateway',
  summary: 'The bound listeners of an API gateway, with their routes.',
  acts:
    'The server makes an entry for each `api-gateway`, and updates it with every related write. ' +
    'A proxy reads it, and Roster runs none.',
  deletion: {
    usedBy: 'none',
    outcome: 'only with its gateway, never by a caller',
  },
  schema: BoundApiGatewaySchema,
  access: 'gateway',
  isDerived: true,
  example: { Kind: 'bound-api-gateway', Name: 'public' },
};
