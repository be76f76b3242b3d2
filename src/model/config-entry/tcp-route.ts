import { below } from '../path.ts';
import { About, FullList, type Model, Nullable, stamps, Type } from '../schema.ts';
import { type ConfigEntry, entryFields } from './config-entry.ts';
import { faultsOf } from './faults.ts';
import { StatusField } from './gateway-status.ts';
import type { ConfigKind } from './kind.ts';
import {
  checkServiceName,
  namedServiceFields,
  placedReference,
  serviceNameOf,
} from './named-service.ts';
import { checkParents, keysOfParents, RouteParents } from './route-parents.ts';
import { anyRoute, checkSecretDiscovery, SecretDiscoveryField } from './secret-discovery.ts';

const TcpRouteSchema = Type.Object({
  ...entryFields,
  Parents: RouteParents(),
  Services: About(
    'The service that gets the connections.',
    FullList(
      Type.Object(
        {
          ...namedServiceFields,
          TLS: About(
            'The certificate for the service.',
            Nullable(Type.Object({ SDS: SecretDiscoveryField() }, { title: 'ServiceTLS' })),
          ),
        },
        { title: 'TCPService' },
      ),
    ),
    { rules: 'at most one' },
  ),
  Status: StatusField(),
  ...stamps,
});
export type TcpRoute = ConfigEntry & Model<typeof TcpRouteSchema>;

/** Source: docs/behaviour/gateways.md#tcp-routes. */
export const tcpRoute: ConfigKind<TcpRoute> = {
  kind: 'tcp-route',
  summary: 'Routes connections of API gateways’ listeners to a service.',
  acts:
    'The route is bound to the listeners that it names and that accept it; its `Status` lists them, or ' +
    'the reason of a refusal. Its rules are for a proxy, which Roster does not run.',
  deletion: {
    usedBy: 'none',
    outcome: 'allowed: it is no longer bound to listeners',
  },
  schema: TcpRouteSchema,
  access: 'mesh',
  normalize: (route) => ({
    ...route,
    Parents: route.Parents.map((parent) => placedReference(parent, route)),
    Services: route.Services.map((service) => placedReference(service, route)),
  }),
  faults: ({ Parents, Services }) =>
    faultsOf((report) => {
      checkParents(Parents, report);
      if (Services.length > 1) {
        report(below(null, 'Services'), `must be at most one service, got ${Services.length}`);
      }
      Services.forEach((service, index) => {
        const path = below(null, 'Services', index);
        checkServiceName(service, 'one', path, report);
        const sds = service.TLS?.SDS ?? null;
        checkSecretDiscovery(sds, anyRoute, below(path, 'TLS', 'SDS'), report);
      });
    }),
  services: ({ Services }) => Services.map(serviceNameOf),
  names: ({ Parents }) => keysOfParents(Parents),
  example: {
    Kind: 'tcp-route',
    Name: 'queue',
    Parents: [{ Name: 'public', SectionName: 'queue' }],
    Services: [{ Name: 'message-queue' }],
  },
  exampleNeeds: [
    {
      Kind: 'api-gateway',
      Name: 'public',
      Listeners: [{ Name: 'queue', Port: 5672, Protocol: 'tcp' }],
    },
  ],
};
