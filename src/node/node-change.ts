import { isDeepStrictEqual } from 'node:util';
import type { NodeRegistration } from '../model/node/node.ts';
import type { DriverSettings } from './drivers/allowed.ts';
import { type FingerprintInput, withDriversOf } from './fingerprint/fingerprint.ts';

/** Settings that a running node takes. */
export interface NodeChange {
  readonly drivers: DriverSettings;
  readonly meta: Readonly<Record<string, string>>;
  readonly nodeClass: string;
  readonly isRemoteExecDisabled: boolean;
}

/** The description of the node with the change; the same object if the change does not show in it. */
export async function describedWith(
  node: NodeRegistration,
  { meta, nodeClass }: NodeChange,
  found: Pick<FingerprintInput, 'drivers' | 'clock'>,
): Promise<NodeRegistration> {
  const described = await withDriversOf(node, found);
  const isSame = node.NodeClass === nodeClass && isDeepStrictEqual(node.Meta, { ...meta });
  return isSame ? described : { ...described, NodeClass: nodeClass, Meta: { ...meta } };
}
