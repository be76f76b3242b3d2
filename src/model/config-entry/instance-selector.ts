import { compileFilter, FilterError } from '../../language/filter/filter.ts';
import { Type } from '../schema.ts';

const text = Type.String();
const labels = Type.Record(Type.String(), text);
const place = Type.Object({ Address: text, Port: Type.Integer() });

/**
 * The fields of an instance that the filter of a subset can use: the published selectors for instances with
 * their health.
 */
const InstanceSchema = Type.Object({
  Service: Type.Object({
    ID: text,
    Service: text,
    Namespace: text,
    Partition: text,
    Tags: Type.Array(text),
    Meta: labels,
    Address: text,
    Port: Type.Integer(),
    TaggedAddresses: Type.Record(Type.String(), place),
    Weights: Type.Object({ Passing: Type.Integer(), Warning: Type.Integer() }),
  }),
  Node: Type.Object({
    ID: text,
    Node: text,
    Address: text,
    Datacenter: text,
    Partition: text,
    Meta: labels,
    TaggedAddresses: labels,
  }),
  Checks: Type.Array(
    Type.Object({
      CheckID: text,
      Name: text,
      Node: text,
      Notes: text,
      Output: text,
      ServiceID: text,
      ServiceName: text,
      ServiceTags: Type.Array(text),
      Status: text,
    }),
  ),
});

/** The fault of the filter, as the end of "is wrong: …". */
export function instanceFilterFault(filter: string): string | undefined {
  try {
    compileFilter(filter, InstanceSchema);
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}
