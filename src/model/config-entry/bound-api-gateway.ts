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
          Name: About('Of the listener.', Text()),
          Routes: About('The routes that are bound to it.', FullList(ResourceReferenceSchema)),
          Certificates: About(
            'Those of its certificates that are there.',
            FullList(ResourceReferenceSchema),
          ),
        },
        { title: 'BoundListener' },
      ),
    ),
  ),
  Services: About(
    'The services that its routes lead to.',
    FullList(
      Type.Object(
        {
          Name: About('Of the service.', Text()),
          Namespace: About('Where the service is.', Text()),
          Partition: About('Where the service is.', Text()),
          Routes: About('The routes that lead to it.', FullList(ResourceReferenceSchema)),
        },
        { title: 'BoundService' },
      ),
    ),
  ),
  ...stamps,
});
export type BoundApiGateway = ConfigEntry & Model<typeof BoundApiGatewaySchema>;

/** Source: docs/behaviour/gateways.md#api-gateways. Made in `gateways.ts`. */
export const boundApiGateway: ConfigKind<BoundApiGateway> = {
  kind: 'bound-api-gateway',
  summary: 'What came of an API gateway: its listeners with the routes that are bound to them.',
  acts:
    'The server makes one for each `api-gateway`, and keeps it with every write that it hangs on. It ' +
    'is for a proxy to read, which Roster does not run.',
  deletion: {
    usedBy: 'nobody',
    outcome: 'not for a caller to do: it goes with its gateway',
  },
  schema: BoundApiGatewaySchema,
  access: 'gateway',
  isDerived: true,
  example: { Kind: 'bound-api-gateway', Name: 'public' },
};
