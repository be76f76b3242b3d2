import { type AgentSettings, type SettingName, secretSettings, withoutUser } from './settings.ts';

/** The settings as in a configuration file, without secrets. */
export function shownSettings(given: AgentSettings): object {
  const shown: Record<string, unknown> = {};
  // In the order of the names, so that a setting comes before those in the block of the same name.
  for (const name of Object.keys(given).sort() as SettingName[]) {
    const value = given[name];
    if (value === undefined) continue;
    const parts = name.split('.');
    const last = parts.pop()!;
    let block = shown;
    for (const part of parts) block = blockIn(block, part);
    block[last] = secretSettings.includes(name) ? '[secret]' : withoutUsers(value);
  }
  return shown;
}

/** The block of a name. `http` is a setting, and the block of others. */
function blockIn(above: Record<string, unknown>, name: string): Record<string, unknown> {
  const known = above[name];
  const isBlock = typeof known === 'object' && known !== null;
  const block = isBlock ? known : known === undefined ? {} : { address: known };
  above[name] = block;
  return block as Record<string, unknown>;
}

function withoutUsers(value: unknown): unknown {
  if (typeof value === 'string') return withoutUser(value);
  if (Array.isArray(value)) return value.map(withoutUsers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutUsers(one)]));
}
