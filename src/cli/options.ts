/** The given options, by their names in camelCase. */
export interface Options {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
}

export const camelCase = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
