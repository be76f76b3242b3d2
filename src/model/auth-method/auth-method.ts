import { limits } from '../limits.ts';
import {
  Choice,
  FreeMap,
  FullList,
  Hidden,
  type Model,
  Nanoseconds,
  ResponseOnly,
  stamps,
  Text,
  TextMap,
  Type,
} from '../schema.ts';

/**
 * Where a login comes from and what its tokens are.
 * Source: docs/contract/access-control.md#auth-methods.
 */
export const NamespaceRuleSchema = Type.Object({
  /** A filter over the verified identity; empty matches every one. */
  Selector: Text({ maxLength: limits.list.filterLengthMax }),
  /** Where the token is made; `${…}` stands for what the identity says. */
  BindNamespace: Text({ maxLength: limits.names.lengthMax }),
});
export type NamespaceRule = Model<typeof NamespaceRuleSchema>;

export const authMethodTypes = ['jwt', 'oidc', 'kubernetes'] as const;
export type AuthMethodType = (typeof authMethodTypes)[number];
export const tokenLocalities = ['', 'local', 'global'] as const;

/** As a caller writes it and as it is stored; `present.ts` makes what is shown. */
export const AuthMethodSchema = Type.Object({
  Name: Text(),
  Type: Choice(['', ...authMethodTypes], ''),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  DisplayName: Text({ maxLength: limits.names.lengthMax }),
  MaxTokenTTL: Nanoseconds(),
  TokenLocality: Choice(tokenLocalities),
  /** The configuration of the type (`config.ts`). Its secrets are in `SealedConfig`. */
  Config: FreeMap(),
  /** Field of `Config` to its value, sealed under the keyring. */
  SealedConfig: Hidden(ResponseOnly(TextMap())),
  NamespaceRules: FullList(NamespaceRuleSchema),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});
export interface AuthMethod extends Model<typeof AuthMethodSchema> {}

/** Stands for a secret that the caller may not read. In a request it keeps the stored secret. */
export const hiddenSecret = '<hidden>';

const PresentedSchema = Type.Object({
  Name: Text(),
  Type: Text(),
  Description: Text(),
  DisplayName: Text(),
  /** Written like `5m0s`; `0s` when there is no limit. */
  MaxTokenTTL: Text(),
  TokenLocality: Text(),
  NamespaceRules: FullList(NamespaceRuleSchema),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});

/** An auth method in a list: without `Config`. */
export const AuthMethodStubSchema = PresentedSchema;
export const AuthMethodAnswerSchema = Type.Object({
  ...PresentedSchema.properties,
  Config: FreeMap(),
});
