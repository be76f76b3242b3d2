/**
 * The client for pages in a browser: the same nouns as in `client.ts`, over a transport that the page gives. It
 * needs nothing of Node.
 */
import { type Client, clientOver } from './client-over.ts';
import type { Transport } from './transport.ts';

export type BrowserClient = Client;

export interface BrowserClientOptions {
  readonly transport: Transport;
  /** For messages. */
  readonly address: string;
}

/** The connection of the page has the token, the namespace and the partition. */
export const createBrowserClient = ({ transport, address }: BrowserClientOptions): BrowserClient =>
  clientOver({ transport, address, namespace: undefined, token: () => undefined });

export { ApiError } from './errors.ts';
export type { Answer, CallOptions, ListOptions, ReadOptions, Written } from './requester.ts';
export type * from './transport.ts';
