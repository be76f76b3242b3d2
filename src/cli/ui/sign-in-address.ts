/** The page that signs in. A fragment is sent to no server and written into no log. */
export const signInAddress = (address: string, secret: string): string =>
  `${address.replace(/\/+$/, '')}/ui/sign-in#link=${secret}`;
