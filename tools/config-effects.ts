import type { ConfigKindName } from '../src/model/config-entry/config-entry.ts';

const ofRoute =
  'Its `Status` is found out by the server: to which gateways it is bound, and why not to others. To lead ' +
  'requests it takes a gateway that goes by it, which Roster does not run.';

/** What of each kind acts in Roster, and what needs proxies or gateways, for the reference. */
export const effects: Readonly<Record<ConfigKindName, string>> = {
  'api-gateway':
    'Its `Status` and its `bound-api-gateway` are found out by the server: which certificates are right, and ' +
    'which routes are bound to which listener. The gateway itself, which listens and leads requests on, is ' +
    'none of Roster.',
  'bound-api-gateway':
    'The server writes it, in the transaction that writes the gateway, a route or a certificate, and deletes ' +
    'it with its gateway. It is what a gateway would be set up by; Roster runs none.',
  'exported-services':
    'Services are exported to peers: their instances and their health appear there. There need be no ' +
    'proxies for that.',
  'file-system-certificate':
    'Gateways are bound to it. The paths are on the host of the gateway, so the server opens nothing.',
  'http-route': ofRoute,
  'ingress-gateway':
    'Its listeners are held against the protocols of the services behind them. To listen takes a gateway, ' +
    'which Roster does not run.',
  'inline-certificate':
    'It has to be one that the key fits, and gateways are bound to it. The key is sealed where it is kept, ' +
    'and shown to who may write the entry: to others it is `<hidden>`, which means the kept one when it ' +
    'is sent back.',
  mesh:
    '`AllowEnablingPermissiveMutualTLS` decides whether other entries are taken. All other fields are ' +
    'settings of proxies and gateways.',
  'proxy-defaults':
    '`Config.protocol` is the protocol of services that have none of their own, and `MeshGateway` goes ' +
    'into discovery chains. All other fields are settings of proxies.',
  'service-defaults':
    '`Protocol` decides what routers, splitters and intentions may say of the service, and is in its ' +
    'discovery chain, with `ExternalSNI` and `MeshGateway`. All other fields are settings of proxies.',
  'service-intentions':
    'Intentions decide what `roster intention check` and the API answer, and why. To hold back a ' +
    'connection that somebody makes takes a proxy; the tokens that `JWT` asks for are seen by proxies ' +
    'alone, so a check does without.',
  'service-resolver':
    'It is compiled into the discovery chain of its service, and held against the chains of all that lead ' +
    'to it. To choose an instance by a chain takes a proxy or another reader of it: `LoadBalancer`, timeouts ' +
    'and locality are for those.',
  'service-router':
    'It is compiled into the discovery chain of its service, which has to speak HTTP. To lead a request by ' +
    'it takes a proxy or another reader of the chain.',
  'service-splitter':
    'It is compiled into the discovery chain of its service, which has to speak HTTP. To split requests by ' +
    'it takes a proxy or another reader of the chain.',
  'tcp-route': ofRoute,
  'terminating-gateway':
    'All of it is settings of a gateway that lets services of the mesh reach what is outside of it, which ' +
    'Roster does not run.',
};
