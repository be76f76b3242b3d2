import { Instant, type Model, Nanoseconds, Text, Type } from '../schema.ts';

/** Which identity a node asks for. */
export const IdentityRequestSchema = Type.Object({
  AllocID: Text(),
  Task: Text(),
  /** `default`, or that of one of the task's identities. */
  Name: Text(),
});
export type IdentityRequest = Model<typeof IdentityRequestSchema>;

export const IssuedIdentitySchema = Type.Object({
  ...IdentityRequestSchema.properties,
  /** A JWT. */
  Token: Text(),
  /** How long it holds from now on, unless its allocation ends before. */
  TTL: Nanoseconds(),
  /** Its end, unless its allocation ends before. */
  ExpirationTime: Instant(),
});
export type IssuedIdentity = Model<typeof IssuedIdentitySchema>;

/** An identity that is refused for good. */
export const RefusedIdentitySchema = Type.Object({
  ...IdentityRequestSchema.properties,
  Reason: Text(),
});
export type RefusedIdentity = Model<typeof RefusedIdentitySchema>;

export const IdentityAnswerSchema = Type.Object({
  Identities: Type.Array(IssuedIdentitySchema),
  Refused: Type.Array(RefusedIdentitySchema),
});
export type IdentityAnswer = Model<typeof IdentityAnswerSchema>;
