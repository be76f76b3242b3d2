import { Flag, Text, Type } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { nothing } from './needs.ts';

/** Everybody may read them, because pages show them before anybody has signed in. */
export const UiSettingsSchema = Type.Object({
  /** Whether this agent serves the web interface. */
  Enabled: Flag(),
  /** The name of the environment, such as "production"; empty: it has none. */
  Label: Text(),
  /** The colour of the label as `#rrggbb`; empty: that of the interface. */
  Color: Text(),
  Version: Text(),
  Region: Text(),
  Datacenter: Text(),
  /** Whether callers have to show a token. */
  ACLEnabled: Flag(),
});

export const uiSettingsEndpoints = endpoints(
  { group: 'ui', noun: 'ui', family: 'scheduler' },
  {
    settings: {
      kind: 'read',
      path: '/v1/ui/settings',
      isOfServer: true,
      summary: 'Read the settings of the web interface',
      answer: UiSettingsSchema,
      permission: nothing,
    },
  },
);
