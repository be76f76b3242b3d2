/** The options that were given, by their names in camelCase. */
export interface Options {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
}
