import {
  workloadIdentityEndpoints as contract,
  RequestSchema,
} from '../../contract/workload-identity.ts';
import { complete } from '../../model/complete.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { describeCaller } from '../../model/permission/caller.ts';
import { describePermission, type Permission } from '../../model/permission/permission.ts';
import { type IdentityIssuer, issueIdentities } from '../../server/identity/issue.ts';
import { keyringKeys } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveRead, serveWrite } from '../serve.ts';
import { requireNode } from './node.ts';

const ownNode = ({ parameters }: BaseInput): Permission => ({
  kind: 'own-node',
  nodeId: parameters.node_id!,
});

/**
 * An identity token stands for the task, also outside this cluster. So only the node itself may
 * request it: neither a management token nor switched-off access control is enough.
 * @throws RosterError `permission-denied`
 */
function requireNodeItself(input: BaseInput): void {
  const { caller } = input;
  if (caller.kind === 'node') return;
  const permission = describePermission(ownNode(input));
  throw refusal('permission-denied', { caller: describeCaller(caller), permission });
}

/** Signed identities of workloads. Source: docs/behaviour/job-specification.md#identities. */
export function workloadIdentityRoutes(issuer: IdentityIssuer): Route[] {
  return [
    ...serveWrite(contract.sign, async (input) => {
      requireNodeItself(input);
      const { Identities } = complete(RequestSchema, input.body);
      const { batchMax } = limits.identity;
      if (Identities.length > batchMax) {
        const message = `Identities must hold at most ${batchMax}, got ${Identities.length}`;
        throw invalid('invalid-body', [{ pointer: '/Identities', message }]);
      }
      const { ID } = requireNode(input);
      return { value: issueIdentities(issuer, input.snapshot, ID, Identities) };
    }),
    ...serveRead(contract.keys, ({ snapshot }) => {
      const keys = [...snapshot.table(keyringKeys).scan()];
      return {
        keys: keys.flatMap(({ Purpose, PublicKey: x, KeyID: kid }) =>
          Purpose === 'signing' && x !== undefined
            ? [{ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }]
            : [],
        ),
      };
    }),
    ...serveRead(contract.configuration, () => {
      if (issuer.issuer === undefined) throw refusal('issuer-not-set');
      return {
        issuer: issuer.issuer,
        jwks_uri: `${issuer.issuer}/.well-known/jwks.json`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['EdDSA'],
      };
    }),
  ];
}
