import { formatDuration } from '../../base/duration.ts';
import { type AuthMethod, hiddenSecret } from './auth-method.ts';

/** As a list shows it: without `Config`; what is empty is left out. facts/registry.md §2.7. */
export function authMethodStub(method: AuthMethod) {
  const { Name, Type, Description, DisplayName, MaxTokenTTL, TokenLocality } = method;
  const { NamespaceRules, Namespace, Partition, CreateIndex, ModifyIndex } = method;
  return {
    ...{ Name, Type },
    ...(Description !== '' && { Description }),
    ...(DisplayName !== '' && { DisplayName }),
    ...(MaxTokenTTL !== 0 && { MaxTokenTTL: formatDuration(MaxTokenTTL) }),
    ...(TokenLocality !== '' && { TokenLocality }),
    ...(NamespaceRules.length > 0 && { NamespaceRules }),
    ...{ Namespace, Partition, CreateIndex, ModifyIndex },
  };
}

/** The whole method. Without `open` its secrets are hidden. */
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
