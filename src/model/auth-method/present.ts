import { formatDuration } from '../../base/duration.ts';
import { type AuthMethod, hiddenSecret } from './auth-method.ts';

/** An auth method in a list: without `Config`. Source: docs/contract/access-control.md#auth-methods. */
export function authMethodStub(method: AuthMethod) {
  const { Name, Type, Description, DisplayName, TokenLocality } = method;
  const { NamespaceRules, Namespace, Partition, CreateIndex, ModifyIndex } = method;
  const MaxTokenTTL = formatDuration(method.MaxTokenTTL);
  return {
    Name,
    Type,
    Description,
    DisplayName,
    MaxTokenTTL,
    TokenLocality,
    NamespaceRules,
    Namespace,
    Partition,
    CreateIndex,
    ModifyIndex,
  };
}

/** The whole method. Without `open`, its secrets are hidden. */
export function presentedAuthMethod(
  method: AuthMethod,
  open: ((sealed: string) => string) | undefined,
) {
  const secrets = Object.entries(method.SealedConfig ?? {}).map(
    ([name, sealed]) => [name, open === undefined ? hiddenSecret : open(sealed)] as const,
  );
  const { CreateIndex, ModifyIndex, ...stub } = authMethodStub(method);
  const Config = { ...method.Config, ...Object.fromEntries(secrets) };
  return { ...stub, Config, CreateIndex, ModifyIndex };
}
