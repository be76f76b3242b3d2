import { uiSettingsEndpoints as contract } from '../../contract/ui-settings.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { serveRead } from '../serve.ts';
import type { Ui } from '../ui/ui.ts';

interface UiFacts {
  readonly version: string;
  readonly acl: { readonly enabled: boolean };
}

export function uiSettingsRoutes(
  { context, datacenter }: Server,
  ui: Pick<Ui, 'isServed' | 'look'>,
  { version, acl }: UiFacts,
): Route[] {
  return serveRead(contract.settings, () => {
    const { label = '', color = '' } = ui.look;
    return {
      Enabled: ui.isServed,
      Label: label,
      Color: color,
      Version: version,
      Region: context.region,
      Datacenter: datacenter,
      ACLEnabled: acl.enabled,
    };
  });
}
