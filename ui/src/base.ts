/**
 * Addresses of the interface and of the API beside it. Both are found from the `<base>` of the page, which the agent
 * writes, so the interface works below any path of a proxy.
 */

/** The folder of the interface, with the slash at its end: `https://example.com/prefix/ui/`. */
export const uiBase = new URL('.', document.baseURI);

/** The folder of the API: `https://example.com/prefix/v1/`. */
export const apiBase = new URL('../v1/', uiBase);

/** The path of a page below the interface, without the slash at its beginning: `jobs/default/web`. */
export function pagePath(address: URL | Location = location): string {
  return address.pathname.startsWith(uiBase.pathname)
    ? address.pathname.slice(uiBase.pathname.length)
    : '';
}
