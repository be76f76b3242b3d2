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
 * A rule that chooses the namespace of a login's token. Source: docs/contract/access-control.md#auth-methods.
 */
export const NamespaceRuleSchema = Type.Object({
  /** A filter over the verified identity; empty matches every identity. */
  Selector: Text({ maxLength: limits.list.filterLengthMax }),
  /** The namespace of the token; `${…}` stands for a variable of the identity. */
  BindNamespace: Text({ maxLength: limits.names.lengthMax }),
});

export const authMethodTypes = ['jwt', 'oidc', 'kubernetes'] as const;
export type AuthMethodType = (typeof authMethodTypes)[number];
export const tokenLocalities = ['', 'local', 'global'] as const;

/** An auth method as a caller writes it and as it is stored; `present.ts` makes the shown form. */
export const AuthMethodSchema = Type.Object({
  Name: Text(),
  Type: Choice(['', ...authMethodTypes], ''),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  DisplayName: Text({ maxLength: limits.names.lengthMax }),
  MaxTokenTTL: Nanoseconds(),
  TokenLocality: Choice(tokenLocalities),
  /** The configuration of the type (`config.ts`). Its secrets are in `SealedConfig`. */
  Config: FreeMap(),
  /** The sealed secret fields of `Config`, by field. */
  SealedConfig: Hidden(ResponseOnly(TextMap())),
  NamespaceRules: FullList(NamespaceRuleSchema),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});
export interface AuthMethod extends Model<typeof AuthMethodSchema> {}

/** Shown in place of a secret that the caller may not read. In a request it keeps the stored secret. */
export const hiddenSecret = '<hidden>';

const PresentedSchema = Type.Object({
  Name: Text(),
  Type: Text(),
  Description: Text(),
  DisplayName: Text(),
  /** A duration such as `5m0s`; `0s`: no limit. */
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
