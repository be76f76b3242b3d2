import { below, type Path, type Report } from '../path.ts';
import {
  About,
  Choice,
  CountedNanoseconds,
  Flag,
  List,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { isGiven, refuseFields } from './faults.ts';

const policies = ['', 'random', 'round_robin', 'least_request', 'ring_hash', 'maglev'] as const;
const hashed: ReadonlySet<string> = new Set(['ring_hash', 'maglev']);

const HashPolicySchema = Type.Object({
  Field: About(
    'The part of the request that is hashed.',
    Choice(['', 'header', 'cookie', 'query_parameter'], ''),
    { rules: 'required without `SourceIP`' },
  ),
  FieldValue: About('Name of the header, cookie or parameter.', Text(), {
    rules: 'required with `Field`',
  }),
  CookieConfig: About(
    'The cookie that a client gets with its first answer.',
    Nullable(
      Type.Object({
        Session: About('Whether the cookie ends with the session.', Flag()),
        TTL: About('The lifetime of the cookie.', CountedNanoseconds({ minimum: 0 }), {
          rules: 'read back as nanoseconds',
        }),
        Path: About('The path of the cookie.', Text()),
      }),
    ),
  ),
  SourceIP: About('Hash the source address of the request instead.', Flag()),
  Terminal: About('If this policy gives a hash, later policies are skipped.', Flag()),
});
type HashPolicy = Model<typeof HashPolicySchema>;

/** How an instance is chosen. Source: docs/behaviour/discovery.md#load-balancers. */
export const LoadBalancerSchema = Type.Object({
  Policy: About('How an instance is chosen.', Choice(policies, '')),
  RingHashConfig: About(
    'Size of the ring of `ring_hash`.',
    Nullable(
      Type.Object({
        MinimumRingSize: About(
          'Minimum size of the ring; 0: the default of the proxy.',
          Whole({ minimum: 0 }),
        ),
        MaximumRingSize: About(
          'Maximum size of the ring; 0: the default of the proxy.',
          Whole({ minimum: 0 }),
        ),
      }),
    ),
  ),
  LeastRequestConfig: About(
    'Number of instances that `least_request` compares.',
    Nullable(
      Type.Object({
        ChoiceCount: About(
          'Number of instances to compare; 0: the default of the proxy.',
          Whole({ minimum: 0 }),
        ),
      }),
    ),
  ),
  HashPolicies: About(
    'The hashed parts of the request, with `ring_hash` and `maglev`.',
    List(HashPolicySchema),
  ),
});
export type LoadBalancer = Model<typeof LoadBalancerSchema>;

/** Whether instances are chosen by a hash of the request. */
export const isHashBased = ({ Policy }: LoadBalancer): boolean => hashed.has(Policy);

export function checkLoadBalancer(balancer: LoadBalancer, path: Path, report: Report): void {
  const { Policy, RingHashConfig, LeastRequestConfig } = balancer;
  if (RingHashConfig !== null && Policy !== 'ring_hash') {
    report(below(path, 'RingHashConfig'), 'is only for the policy ring_hash');
  }
  if (RingHashConfig !== null) {
    const { MinimumRingSize, MaximumRingSize } = RingHashConfig;
    if (MaximumRingSize > 0 && MinimumRingSize > MaximumRingSize) {
      const at = below(path, 'RingHashConfig', 'MinimumRingSize');
      report(at, `must be at most the MaximumRingSize of ${MaximumRingSize}`);
    }
  }
  if (LeastRequestConfig !== null && Policy !== 'least_request') {
    report(below(path, 'LeastRequestConfig'), 'is only for the policy least_request');
  }
  const hashPolicies = balancer.HashPolicies ?? [];
  if (hashPolicies.length > 0 && !isHashBased(balancer)) {
    report(below(path, 'HashPolicies'), 'are only for the policies ring_hash and maglev');
  }
  hashPolicies.forEach((policy, index) => {
    checkHashPolicy(policy, below(path, 'HashPolicies', index), report);
  });
}

function checkHashPolicy(policy: HashPolicy, path: Path, report: Report): void {
  const { Field, FieldValue, CookieConfig, SourceIP } = policy;
  if (SourceIP) {
    refuseFields(policy, ['Field', 'FieldValue', 'CookieConfig'], (field) =>
      report(below(path, field), 'must not be given together with SourceIP'),
    );
    return;
  }
  if (Field === '') report(below(path, 'Field'), 'is required without SourceIP');
  if (FieldValue === '') report(below(path, 'FieldValue'), 'is required with Field');
  if (CookieConfig === null) return;
  const at = below(path, 'CookieConfig');
  if (Field !== 'cookie') report(at, 'is only for the field cookie');
  if (CookieConfig.Session && isGiven(CookieConfig.TTL)) {
    report(below(at, 'TTL'), 'must not be given for a cookie of the session');
  }
}
