import type {
  NamespaceServices,
  ServiceRegistration,
} from '../model/service-registration/service-registration.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type Requester,
} from './requester.ts';

export interface Services {
  /** The names there are, by namespace. */
  list(options?: ListOptions): Promise<Answer<readonly NamespaceServices[]>>;
  /** Instances of a service; with `choose` (`2|KEY`) so many of them, always the same for a key. */
  instances(
    name: string,
    options?: ListOptions & { readonly choose?: string | undefined },
  ): Promise<Answer<readonly ServiceRegistration[]>>;
  /** Takes an instance that was left behind out of the list. */
  remove(
    name: string,
    id: string,
    options?: CallOptions,
  ): Promise<Answer<{ readonly Index: number }>>;
}

export const servicesOf = (requester: Requester): Services => ({
  list: (options = {}) => requester.read('/v1/services', options, listQuery(options)),
  instances: (name, options = {}) =>
    requester.read(path`/v1/service/${name}`, options, {
      ...listQuery(options),
      choose: options.choose || undefined,
    }),
  remove: (name, id, options) =>
    requester.write('DELETE', path`/v1/service/${name}/${id}`, options),
});
