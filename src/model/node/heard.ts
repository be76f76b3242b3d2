/**
 * The code with which a server that knows no leader refuses a heartbeat, while no leader misses the node: so
 * the node is in contact with the servers. Source: docs/behaviour/client.md#without-servers.
 */
export const heardCode = 'no-leader-since';
