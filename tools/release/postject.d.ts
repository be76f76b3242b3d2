declare module 'postject' {
  /** Puts data into an executable file as a resource. */
  export function inject(
    path: string,
    resourceName: string,
    data: Uint8Array,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
