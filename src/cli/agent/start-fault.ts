import type { AgentOptions } from './options.ts';

/** The reason of a failed start, with advice. */
export function startFault(
  error: NodeJS.ErrnoException,
  { http, etcd }: Pick<AgentOptions, 'http' | 'etcd'>,
): string {
  const where = `${http.host}:${http.port}`;
  if (error.code === 'EADDRINUSE') {
    return `the port ${http.port} is in use on ${http.host}: end what listens on ${where}, or choose another address with --http HOST:PORT`;
  }
  if (error.code === 'EACCES' && error.syscall === 'listen') {
    return `this user may not listen on ${where}: choose a port from 1024 on with --http HOST:PORT`;
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return `this machine has no address ${http.host}: choose one that it has with --http HOST:PORT`;
  }
  if (error.code === 'state-corrupted' && etcd === undefined) {
    return `${error.message}. "roster operator store check" shows what is lost, and "roster operator store repair" goes on with the rest`;
  }
  return error.message;
}
