import { Instant, type Model, Nanoseconds, Text, Type } from '../schema.ts';

/** A node's request for an identity of a task. */
export const IdentityRequestSchema = Type.Object({
  AllocID: Text(),
  Task: Text(),
  /** `default`, or the name of another identity of the task. */
  Name: Text(),
});
export type IdentityRequest = Model<typeof IdentityRequestSchema>;

export const IssuedIdentitySchema = Type.Object({
  ...IdentityRequestSchema.properties,
  /** A JWT. */
  Token: Text(),
  /** The remaining lifetime, unless the allocation ends before. */
  TTL: Nanoseconds(),
  /** The end of the lifetime, unless the allocation ends before. */
  ExpirationTime: Instant(),
});
export type IssuedIdentity = Model<typeof IssuedIdentitySchema>;

/** An identity that is refused permanently. */
export const RefusedIdentitySchema = Type.Object({
  ...IdentityRequestSchema.properties,
  Reason: Text(),
});

export const IdentityAnswerSchema = Type.Object({
  Identities: Type.Array(IssuedIdentitySchema),
  Refused: Type.Array(RefusedIdentitySchema),
});
export type IdentityAnswer = Model<typeof IdentityAnswerSchema>;
