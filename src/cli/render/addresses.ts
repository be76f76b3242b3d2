import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import { oneLine } from './text.ts';

/** The address of each port: `http=127.0.0.1:20123`. */
export function addressesOf(resources: AllocatedResources | undefined): string[] {
  return (resources?.Shared.Ports ?? []).map(({ Label, Value, HostIP }) => {
    const host = HostIP.includes(':') ? `[${HostIP}]` : HostIP || '*';
    return `${oneLine(Label)}=${host}:${Value}`;
  });
}
