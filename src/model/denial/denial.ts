import { FullList, type Model, Text, Type, Whole } from '../schema.ts';

/** A question for `GET /v1/acl/explain`. */
const AskedPermissionSchema = Type.Object({
  /** `service:write`, `namespace:submit-job`, `management` … */
  Permission: Text(),
  Name: Text(),
  Namespace: Text(),
  Partition: Text(),
});

/** A request that was refused. Source: docs/behaviour/access-control.md#denied-requests. */
export const DenialSchema = Type.Object({
  /** Grows with time on a server. */
  ID: Text(),
  /** RFC 3339. */
  Time: Text(),
  /** The accessor of the token; empty: the caller showed none, or one that is unknown. */
  AccessorID: Text(),
  /** The caller in words. */
  Caller: Text(),
  Remote: Text(),
  Method: Text(),
  Path: Text(),
  /** The path with the names of its parameters. */
  Route: Text(),
  /** The namespace of the request. */
  Namespace: Text(),
  Status: Whole(),
  Code: Text(),
  /** The permission that the request needs, in words; empty: it was not the reason. */
  Permission: Text(),
  /** Its parts, for questions about the token. */
  Questions: FullList(AskedPermissionSchema),
});
export type Denial = Model<typeof DenialSchema>;
