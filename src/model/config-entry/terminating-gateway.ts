import { below } from '../path.ts';
import { About, Flag, FullList, type Model, stamps, Text, Type } from '../schema.ts';
import { type ConfigEntry, entryFields, everyService } from './config-entry.ts';
import { faultsOf } from './faults.ts';
import { isHostname } from './hostname.ts';
import type { ConfigKind } from './kind.ts';
import {
  checkDistinct,
  checkServiceName,
  namedServiceFields,
  placedReference,
  serviceNameOf,
} from './named-service.ts';

const TerminatingGatewaySchema = Type.Object({
  ...entryFields,
  Services: About(
    'The services outside of the mesh that the gateway leads to.',
    FullList(
      Type.Object(
        {
          ...namedServiceFields,
          Name: About('Name of the service; `*`: all other services.', Text(), {
            rules: 'required',
          }),
          CAFile: About(
            'Path, on the gateway’s host, of the authority of the service’s certificate. Enables TLS.',
            Text(),
          ),
          CertFile: About('Path of the certificate that the gateway shows.', Text(), {
            rules: 'with `KeyFile`, or neither',
          }),
          KeyFile: About('Path of the key of the gateway’s certificate.', Text(), {
            rules: 'with `CertFile`, or neither',
          }),
          SNI: About('The server name (SNI) in TLS.', Text(), {
            rules: 'a host name',
          }),
          DisableAutoHostRewrite: About('Whether requests keep their host.', Flag()),
        },
        { title: 'LinkedService' },
      ),
    ),
  ),
  ...stamps,
});
export type TerminatingGateway = ConfigEntry & Model<typeof TerminatingGatewaySchema>;

/** Source: docs/behaviour/gateways.md#terminating-gateways. */
export const terminatingGateway: ConfigKind<TerminatingGateway> = {
  kind: 'terminating-gateway',
  summary: 'Lets services in the mesh reach services outside of it, optionally over TLS.',
  deletion: {
    usedBy: 'none',
    outcome: 'allowed',
  },
  schema: TerminatingGatewaySchema,
  access: 'gateway',
  normalize: (gateway) => ({
    ...gateway,
    Services: gateway.Services.map((service) => placedReference(service, gateway)),
  }),
  faults: ({ Services }) =>
    faultsOf((report) => {
      checkDistinct(Services, (index) => below(null, 'Services', index), report);
      Services.forEach((service, index) => {
        const path = below(null, 'Services', index);
        checkServiceName(service, 'every too', path, report);
        const [given, missing] =
          service.CertFile === ''
            ? (['KeyFile', 'CertFile'] as const)
            : (['CertFile', 'KeyFile'] as const);
        if (service[given] !== '' && service[missing] === '') {
          report(below(path, missing), `is required with ${given}`);
        }
        if (service.SNI !== '' && !isHostname(service.SNI)) {
          report(below(path, 'SNI'), `is not a host name: ${JSON.stringify(service.SNI)}`);
        }
      });
    }),
  services: ({ Services }) =>
    Services.filter(({ Name }) => Name !== everyService).map(serviceNameOf),
  example: {
    Kind: 'terminating-gateway',
    Name: 'outward',
    Services: [
      { Name: 'billing', CAFile: '/etc/gateway/billing-ca.pem', SNI: 'billing.example.com' },
      { Name: '*', CAFile: '/etc/gateway/ca.pem' },
    ],
  },
};
