import type { ChainOverrides } from './discovery-chain.ts';

/**
 * Eight hexadecimal digits that tell chains with different overrides apart; empty if the overrides had no
 * effect. Not fit for secrets: the hash is FNV-1a.
 */
export function customizationHash(overrides: ChainOverrides, protocol: string): string {
  const { OverrideConnectTimeout, OverrideProtocol, OverrideMeshGateway } = overrides;
  const changed = OverrideProtocol === protocol ? '' : OverrideProtocol;
  const parts = [changed, OverrideConnectTimeout || '', OverrideMeshGateway.Mode];
  if (parts.every((part) => part === '')) return '';
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(parts)) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
