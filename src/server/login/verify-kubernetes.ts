import type { KubernetesConfig } from '../../model/auth-method/config.ts';
import { type Identity, identityOfServiceAccount } from '../../model/auth-method/identity.ts';
import { looksLikeJwt } from '../../model/auth-method/validate.ts';
import { jsonObject, type Outbound, OutboundError } from './outbound.ts';
import { TokenRefusal } from './token-refusal.ts';

/** An annotation of the service account that replaces its name. */
const nameAnnotation = 'roster/service-name';

const reviewPath = '/apis/authentication.k8s.io/v1/tokenreviews';
const userForm = /^system:serviceaccount:([a-z0-9.-]{1,253}):([a-z0-9.-]{1,253})$/;

export interface KubernetesLogin {
  readonly identity: Identity;
  /** The namespace of the service account, for methods that map namespaces. */
  readonly namespace: string;
}

/**
 * Asks the cluster to review the token (TokenReview), then looks up the service account.
 * @throws TokenRefusal, OutboundError
 */
export async function verifyKubernetes(
  token: string,
  config: KubernetesConfig,
  outbound: Outbound,
): Promise<KubernetesLogin> {
  if (!looksLikeJwt(token)) throw new TokenRefusal('it is no JWT');
  const user = await review(token, config, outbound);
  const match = userForm.exec(user.username);
  if (match === null) throw new TokenRefusal('it is not of a service account');
  const [, namespace, name] = match as unknown as [string, string, string];
  const account = await serviceAccount({ namespace, name }, config, outbound);
  if (account.uid !== user.uid) {
    throw new TokenRefusal('its service account was replaced by another of the same name');
  }
  const shown = account.annotation ?? name;
  return {
    identity: identityOfServiceAccount({ namespace, name: shown, uid: user.uid }),
    namespace,
  };
}

interface User {
  readonly username: string;
  readonly uid: string;
}

async function review(token: string, config: KubernetesConfig, outbound: Outbound): Promise<User> {
  const url = `${config.Host.replace(/\/+$/, '')}${reviewPath}`;
  const answer = await outbound({
    method: 'POST',
    url,
    caCertificate: config.CACert,
    headers: authorized(config, { 'content-type': 'application/json' }),
    body: JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: token.trim() },
    }),
  });
  if (answer.status < 200 || answer.status > 299) {
    throw new OutboundError(`${url} answered the TokenReview with the status ${answer.status}`);
  }
  const status = record(jsonObject(url, answer.body).status);
  const error = status.error;
  if (typeof error === 'string' && error !== '') {
    throw new TokenRefusal(`the cluster says: ${error.replaceAll(token, '…').slice(0, 256)}`);
  }
  const { username, uid } = record(status.user);
  if (status.authenticated !== true) throw new TokenRefusal('the cluster does not know it');
  if (typeof username !== 'string' || typeof uid !== 'string') {
    throw new OutboundError(`${url} answered with a TokenReview without a user`);
  }
  return { username, uid };
}

async function serviceAccount(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  config: KubernetesConfig,
  outbound: Outbound,
): Promise<{ readonly uid: string; readonly annotation: string | undefined }> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
  const url = `${config.Host.replace(/\/+$/, '')}${path}`;
  const request = { method: 'GET', url, caCertificate: config.CACert } as const;
  const answer = await outbound({ ...request, headers: authorized(config) });
  if (answer.status === 404) throw new TokenRefusal('its service account is gone');
  if (answer.status !== 200) throw new OutboundError(`${url} answered with ${answer.status}`);
  const metadata = record(jsonObject(url, answer.body).metadata);
  const annotation = record(metadata.annotations)[nameAnnotation];
  return {
    uid: String(metadata.uid ?? ''),
    annotation: typeof annotation === 'string' && annotation !== '' ? annotation : undefined,
  };
}

const authorized = (config: KubernetesConfig, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${config.ServiceAccountJWT.trim()}`,
  ...more,
});

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
