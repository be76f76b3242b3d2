import { complete } from '../../model/complete.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { describeCaller } from '../../model/permission/caller.ts';
import { describePermission, open, type Permission } from '../../model/permission/permission.ts';
import { FullList, Text, Type } from '../../model/schema.ts';
import {
  IdentityAnswerSchema,
  IdentityRequestSchema,
} from '../../model/workload/identity-request.ts';
import { type IdentityIssuer, issueIdentities } from '../../server/identity/issue.ts';
import { keyringKeys } from '../../state/tables.ts';
import { type Input, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { requireNode } from './node.ts';

const RequestSchema = Type.Object({ Identities: FullList(IdentityRequestSchema) });
type RequestBody = Parameters<typeof complete<typeof RequestSchema>>[1];

const KeySetSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      ...{ kty: Text(), crv: Text(), x: Text(), kid: Text(), alg: Text(), use: Text() },
    }),
  ),
});

const ownNode = ({ parameters }: Scope): Permission => ({
  kind: 'own-node',
  nodeId: parameters.node_id!,
});

/**
 * Who holds such a token is taken for the task, by others too: no token that may do everything here
 * is enough, nor that nothing is forbidden.
 * @throws RosterError `permission-denied`
 */
function requireNodeItself(input: Scope): void {
  const { caller } = input;
  if (caller.kind === 'node') return;
  const permission = describePermission(ownNode(input));
  throw refusal('permission-denied', { caller: describeCaller(caller), permission });
}

/** Who workloads are, signed. Source: docs/behaviour/job-specification.md#identities. */
export function workloadIdentityRoutes(issuer: IdentityIssuer): Route[] {
  const noun = 'identity';
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/node/:node_id/identities', noun },
      summary: "Sign who the tasks of the node's allocations are",
      body: { schema: RequestSchema, unknown: 'refuse' },
      answer: IdentityAnswerSchema,
      permission: ownNode,
      handle: async (input: Input<Record<never, never>, RequestBody>) => {
        requireNodeItself(input);
        const { Identities } = complete(RequestSchema, input.body);
        const { batchMax } = limits.identity;
        if (Identities.length > batchMax) {
          const message = `Identities must hold at most ${batchMax}, got ${Identities.length}`;
          throw invalid('invalid-body', [{ pointer: '/Identities', message }]);
        }
        const { ID } = requireNode(input);
        return { value: issueIdentities(issuer, input.snapshot, ID, Identities) };
      },
    }),
    readRoute({
      ...{ method: 'GET', path: '/.well-known/jwks.json', noun },
      summary: 'The keys that tokens of workloads are verified with',
      answer: KeySetSchema,
      permission: () => open,
      handle: ({ snapshot }) => {
        const keys = [...snapshot.table(keyringKeys).scan()];
        return {
          keys: keys.flatMap(({ Purpose, PublicKey: x, KeyID: kid }) =>
            Purpose === 'signing' && x !== undefined
              ? [{ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }]
              : [],
          ),
        };
      },
    }),
    readRoute({
      ...{ method: 'GET', path: '/.well-known/openid-configuration', noun },
      summary: 'Where this cluster, as an issuer of tokens, has its keys',
      answer: Type.Object({
        ...{ issuer: Text(), jwks_uri: Text() },
        response_types_supported: Type.Array(Text()),
        subject_types_supported: Type.Array(Text()),
        id_token_signing_alg_values_supported: Type.Array(Text()),
      }),
      permission: () => open,
      handle: () => {
        if (issuer.issuer === undefined) throw refusal('issuer-not-set');
        return {
          issuer: issuer.issuer,
          jwks_uri: `${issuer.issuer}/.well-known/jwks.json`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['EdDSA'],
        };
      },
    }),
  ];
}
