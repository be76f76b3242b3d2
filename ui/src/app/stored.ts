import { uiBase } from '../base.ts';

/** Two clusters behind one origin keep their settings apart. */
const keyOf = (name: string): string => `roster:${uiBase.pathname}:${name}`;

/** Storage may be forbidden by the browser. The interface then forgets at the end of the page. */
export function stored(storage: () => Storage) {
  return {
    read(name: string): string | undefined {
      try {
        return storage().getItem(keyOf(name)) ?? undefined;
      } catch {
        return undefined;
      }
    },
    write(name: string, value: string | undefined): void {
      try {
        if (value === undefined) storage().removeItem(keyOf(name));
        else storage().setItem(keyOf(name), value);
      } catch {
        // Forgotten at the end of the page.
      }
    },
  };
}

export const lasting = stored(() => localStorage);
export const ofTab = stored(() => sessionStorage);
export const channelName = keyOf('session');
