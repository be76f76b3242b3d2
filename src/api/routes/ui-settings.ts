import { uiSettingsEndpoints as contract } from '../../contract/ui-settings.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { serveRead } from '../serve.ts';

/** How the web interface shows which environment it is of. */
export interface UiLook {
  readonly label?: string | undefined;
  /** `#rrggbb`. */
  readonly color?: string | undefined;
}

interface UiFacts {
  readonly version: string;
  readonly isServed: boolean;
  readonly hasAccessControl: boolean;
  readonly look: () => UiLook;
}

export function uiSettingsRoutes({ context, datacenter }: Server, facts: UiFacts): Route[] {
  return serveRead(contract.settings, () => {
    const { label = '', color = '' } = facts.look();
    return {
      Enabled: facts.isServed,
      Label: label,
      Color: color,
      Version: facts.version,
      Region: context.region,
      Datacenter: datacenter,
      ACLEnabled: facts.hasAccessControl,
    };
  });
}
