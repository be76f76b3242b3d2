import { FullList, Text, Type } from '../model/schema.ts';
import {
  type IdentityAnswer,
  IdentityAnswerSchema,
  IdentityRequestSchema,
} from '../model/workload/identity-request.ts';
import { endpoints, typed } from './endpoint.ts';
import { nothing } from './needs.ts';

export const RequestSchema = Type.Object({ Identities: FullList(IdentityRequestSchema) });

const KeySetSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Text(),
      crv: Text(),
      x: Text(),
      kid: Text(),
      alg: Text(),
      use: Text(),
    }),
  ),
});

export const workloadIdentityEndpoints = endpoints(
  { group: 'identities', noun: 'identity', family: 'scheduler' },
  {
    sign: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/identities',
      summary: 'Sign identities of tasks on the node',
      body: { schema: RequestSchema, unknown: 'refuse' },
      answer: typed<IdentityAnswer>(IdentityAnswerSchema),
      permission: { kind: 'own-node', nodeId: 'from-path:node_id' },
    },
    keys: {
      kind: 'read',
      path: '/.well-known/jwks.json',
      summary: 'Read the public keys of identity tokens',
      answer: KeySetSchema,
      permission: nothing,
    },
    configuration: {
      kind: 'read',
      path: '/.well-known/openid-configuration',
      summary: 'Read the OpenID configuration of this cluster as an issuer',
      answer: Type.Object({
        issuer: Text(),
        jwks_uri: Text(),
        response_types_supported: Type.Array(Text()),
        subject_types_supported: Type.Array(Text()),
        id_token_signing_alg_values_supported: Type.Array(Text()),
      }),
      permission: nothing,
    },
  },
);
